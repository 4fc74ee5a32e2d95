// Runge-Kutta: the explicit methods with second derivatives.
//
// Tangents travel along the accepted steps; backwards the adjoints carry tangents of their own, which are the gradient's
// derivatives (forward over discrete adjoint). Read first: solve/explicit_runge_kutta.hpp.
#pragma once

#include <vector>

#include <agrad/program/operation.hpp>
#include <agrad/solve/explicit_runge_kutta.hpp>

namespace agrad {

template <class Tableau>
class runge_kutta final : public explicit_runge_kutta<Tableau> {
  using base = explicit_runge_kutta<Tableau>;

 public:
  using base::base;

  bool has_tangents() const override {
    return this->system_.has_tangents() && !this->wanted_.initial_time && !this->wanted_.times;
  }

  void tangent(const ode_directions& along, double* states) override {
    along_ = along;
    if (along.width == 1)
      carry<1>(states);
    else
      carry<lane_count>(states);
  }

  ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                      ode_directions& gradient_tangents) override {
    this->check_integrated(adjoints);
    return along_.width == 1 ? send<1>(adjoints, tangents, gradient_tangents)
                             : send<lane_count>(adjoints, tangents, gradient_tangents);
  }

 private:
  static constexpr int inner = base::inner;
  using base::end_of_;
  using base::n_;
  using base::store_;

  /// Where a stage is, as a point with directions: record and directions are those of the step.
  template <int Width>
  ode_point point(int s, std::size_t step, const double* record, const double* directions) {
    const double h = store_.size(step);
    y_.resize(n_);
    dy_.resize(n_ * Width);
    this->template stage<1>(s, h, record, y_.data());
    this->template stage<Width>(s, h, directions, dy_.data());
    return {Width, base::stage_time(s, this->place(step)), y_.data(), dy_.data(), along_.parameters.data()};
  }

  /// Tangents of the states at all times, and of the stages of all steps.
  template <int Width>
  void carry(double* states) {
    const std::size_t count = n_ * Width, size = (1 + inner) * count;
    carried_.resize(store_.steps() * size);
    std::vector<double> now = along_.initial_state;
    for (std::size_t k = 0; k < end_of_.size(); ++k) {
      for (std::size_t step = this->first_step_of(k); step < end_of_[k]; ++step) {
        double* directions = carried_.data() + step * size;
        std::copy(now.begin(), now.end(), directions);
        const double* record = this->taken(step);
        for (int s = 0; s < inner; ++s) {
          double* slope = directions + (1 + static_cast<std::size_t>(s)) * count;
          const ode_point at = point<Width>(s, step, record, directions);
          this->system_.tangent(Width, at.t, at.y, at.y_tangents, at.parameter_tangents, slope);
          const double factor = store_.size(step) * Tableau::b[s];
          for (std::size_t i = 0; i < count; ++i) now[i] += factor * slope[i];
        }
        if (step % 64 == 0) poll_interrupt();
      }
      std::copy(now.begin(), now.end(), states + k * count);
    }
  }

  /// Adjoints with tangents: those of a state, of the stages of a step, and of the parameters.
  struct pair {
    std::vector<double> value, tangents;
    void resize(std::size_t n, int width) {
      value.assign(n, 0.0);
      tangents.assign(n * static_cast<std::size_t>(width), 0.0);
    }
  };

  template <int Width>
  ode_gradient send(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents, ode_directions& back) {
    l_.resize(n_, Width);
    total_.resize(this->m_, Width);
    for (std::size_t k = end_of_.size(); k-- > 0;) {
      for (std::size_t i = 0; i < n_; ++i) l_.value[i] += adjoints(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
      for (std::size_t i = 0; i < n_ * Width; ++i) l_.tangents[i] += tangents[k * n_ * Width + i];
      for (std::size_t step = end_of_[k]; step-- > this->first_step_of(k);) step_back<Width>(step);
    }
    back = {Width, l_.tangents, total_.tangents};
    return {Eigen::Map<const Eigen::VectorXd>(l_.value.data(), static_cast<Eigen::Index>(n_)), 0.0,
            Eigen::VectorXd::Zero(adjoints.cols()),
            Eigen::Map<const Eigen::VectorXd>(total_.value.data(), static_cast<Eigen::Index>(this->m_))};
  }

  template <int Width>
  void step_back(std::size_t step) {
    const std::size_t count = n_ * Width;
    const double h = store_.size(step);
    const double *record = this->taken(step), *directions = carried_.data() + step * (1 + inner) * count;
    w_.resize(inner * n_, Width);
    part_.resize(this->m_, Width);
    for (int s = inner; s-- > 0;) {
      u_.resize(n_, Width);
      this->seed(s, h, l_.value.data(), w_.value.data(), n_, u_.value.data());
      this->seed(s, h, l_.tangents.data(), w_.tangents.data(), count, u_.tangents.data());
      const ode_adjoints to{w_.value.data() + static_cast<std::size_t>(s) * n_, part_.value.data(),
                            w_.tangents.data() + static_cast<std::size_t>(s) * count, part_.tangents.data()};
      this->system_.second(point<Width>(s, step, record, directions), u_.value.data(), u_.tangents.data(), to);
      for (std::size_t j = 0; j < this->m_; ++j) total_.value[j] += part_.value[j];
      for (std::size_t j = 0; j < this->m_ * Width; ++j) total_.tangents[j] += part_.tangents[j];
    }
    for (std::size_t at = 0; at < inner * n_; ++at) l_.value[at % n_] += w_.value[at];
    for (std::size_t at = 0; at < inner * count; ++at) l_.tangents[at % count] += w_.tangents[at];
    if (step % 64 == 0) poll_interrupt();
  }

  ode_directions along_;
  std::vector<double> carried_;  // of each step: the tangents of its first state and of its slopes
  std::vector<double> y_, dy_;
  pair l_, w_, u_, part_, total_;
};

}  // namespace agrad
