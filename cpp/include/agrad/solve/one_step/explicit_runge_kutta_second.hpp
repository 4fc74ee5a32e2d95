// Runge-Kutta: the explicit methods with second derivatives.
//
// The forward pass propagates tangents through the accepted steps; the reverse pass propagates adjoints with tangents, which
// are the derivatives of the gradient (forward over discrete adjoint). Read first: solve/one_step/explicit_runge_kutta.hpp.
#pragma once

#include <vector>

#include <agrad/program/machine/operation.hpp>
#include <agrad/solve/one_step/explicit_runge_kutta.hpp>

namespace agrad {

template <class Tableau>
class explicit_runge_kutta_second final : public explicit_runge_kutta<Tableau> {
  using base = explicit_runge_kutta<Tableau>;

 public:
  using base::base;

  bool has_tangents() const override { return this->system_.has_tangents(); }
  bool has_first_tangents() const override { return this->system_.has_first_tangents(); }

  void tangent(const ode_directions& along, double* states) override {
    along_ = along;
    if (along.width == 1)
      propagate<1>(states);
    else
      propagate<lane_count>(states);
  }

  ode_gradient second(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                      ode_directions& gradient_tangents) override {
    this->check_integrated(adjoints);
    return along_.width == 1 ? reverse_with_tangents<1>(adjoints, tangents, gradient_tangents)
                             : reverse_with_tangents<lane_count>(adjoints, tangents, gradient_tangents);
  }

 private:
  static constexpr int stages = base::stages, inner = base::inner, all = base::all;
  using combinations = detail::tableau_combinations<Tableau>;
  using base::n_;
  using base::outputs_;
  using base::pace_;
  using base::store_;

  /// Returns a stage as a point with directions; record and directions are the step's.
  template <int Width>
  ode_point point(int s, std::size_t step, const double* record, const double* directions) {
    const double h = store_.size(step);
    y_.resize(n_);
    dy_.resize(n_ * Width);
    this->template stage<1>(s, h, record, y_.data());
    this->template stage<Width>(s, h, directions, dy_.data());
    return {Width, base::stage_time(s, this->place(step)), y_.data(), dy_.data(), along_.parameters.data()};
  }

  /// Returns the record of a step, if `is_within` with all slopes that states within the step depend on.
  const double* vectors_of(std::size_t step, bool is_within) {
    const double* record = this->record_of(step);
    return is_within ? this->vectors_within(this->place(step), record) : record;
  }

  /// Propagates tangents to the states at all output times and stores the tangents of all stages.
  template <int Width>
  void propagate(double* states) {
    const std::size_t count = n_ * Width, size = (1 + all) * count;
    step_tangents_.resize(store_.steps() * size);
    std::vector<double> now = along_.initial_state;
    for (std::size_t step = 0, k = 0; step < store_.steps(); ++step) {
      double* directions = step_tangents_.data() + step * size;
      std::copy(now.begin(), now.end(), directions);
      const bool is_within = outputs_.is_within(k, step);
      const double* vectors = vectors_of(step, is_within);
      for (int s = 0; s < (is_within ? all : inner); ++s) {
        double* slope = directions + (1 + static_cast<std::size_t>(s)) * count;
        const ode_point at = point<Width>(s, step, vectors, directions);
        this->system_.tangent(Width, at.t, at.y, at.y_tangents, at.parameter_tangents, slope);
        const double factor = s < inner ? store_.size(step) * Tableau::b[s] : 0;
        for (std::size_t i = 0; i < count; ++i) now[i] += factor * slope[i];
      }
      if (detail::are_finite(directions, count)) this->check_finite("the tangent", "y", step, now.data(), count, Width);
      outputs_.write(step, k, directions, now.data(), count, states);
      pace_.step();
    }
  }

  /// Adjoints with tangents: of a state, of the stages of a step, or of the parameters.
  struct pair {
    std::vector<double> value, tangents;
    void resize(std::size_t n, int width) {
      value.assign(n, 0.0);
      tangents.assign(n * static_cast<std::size_t>(width), 0.0);
    }
    /// Adds vector s of n numbers, with `count` tangents.
    void add(std::size_t n, std::size_t count, const pair& from, int s) {
      const auto at = static_cast<std::size_t>(s);
      for (std::size_t i = 0; i < n; ++i) value[i] += from.value[at * n + i];
      for (std::size_t i = 0; i < count; ++i) tangents[i] += from.tangents[at * count + i];
    }
  };

  template <int Width>
  ode_gradient reverse_with_tangents(const Eigen::Ref<const Eigen::MatrixXd>& adjoints, const double* tangents,
                                     ode_directions& gradient_tangents) {
    l_.resize(n_, Width);
    total_.resize(this->m_, Width);
    const auto value = [&](std::size_t k) { return adjoints.col(static_cast<Eigen::Index>(k)).data(); };
    const auto tangent = [&](std::size_t k) { return tangents + k * n_ * Width; };
    std::size_t k = outputs_.size();
    for (std::size_t step = store_.steps(); step-- > 0;) {
      const bool is_within = outputs_.collect(step, k, value, n_, l_.value.data(), of_record_.value) != nullptr;
      outputs_.collect(step, k, tangent, n_ * Width, l_.tangents.data(), of_record_.tangents);
      k = outputs_.before(step, k);
      reverse_step<Width>(step, is_within);
    }
    gradient_tangents = {Width, l_.tangents, total_.tangents};
    return {Eigen::Map<const Eigen::VectorXd>(l_.value.data(), static_cast<Eigen::Index>(n_)), 0.0,
            Eigen::VectorXd::Zero(adjoints.cols()),
            Eigen::Map<const Eigen::VectorXd>(total_.value.data(), static_cast<Eigen::Index>(this->m_))};
  }

  /// Propagates the adjoint of a step's end to the adjoint of its start, with tangents. is_within: whether outputs lie within
  /// the step.
  template <int Width>
  void reverse_step(std::size_t step, bool is_within) {
    const std::size_t count = n_ * Width;
    const double h = store_.size(step);
    const double *of_value = is_within ? of_record_.value.data() : nullptr,
                 *of_tangents = is_within ? of_record_.tangents.data() : nullptr;
    const double* vectors = vectors_of(step, is_within);
    w_.resize(all * n_, Width);
    part_.resize(this->m_, Width);
    for (int s = is_within ? all : inner; s-- > inner;) {
      u_.value.assign(base::slope_of(of_value, s, n_), base::slope_of(of_value, s + 1, n_));
      u_.tangents.assign(base::slope_of(of_tangents, s, count), base::slope_of(of_tangents, s + 1, count));
      reverse_stage<Width>(s, step, vectors);
      if (s < stages) {
        l_.add(n_, count, w_, s);
      } else {
        const auto at = static_cast<std::size_t>(s);
        combinations::spread(s, h, w_.value.data() + at * n_, n_, of_record_.value.data());
        combinations::spread(s, h, w_.tangents.data() + at * count, count, of_record_.tangents.data());
      }
    }
    for (int s = inner; s-- > 0;) {
      u_.resize(n_, Width);
      this->seed(s, h, l_.value.data(), w_.value.data(), of_value, n_, u_.value.data());
      this->seed(s, h, l_.tangents.data(), w_.tangents.data(), of_tangents, count, u_.tangents.data());
      reverse_stage<Width>(s, step, vectors);
    }
    for (int s = 0; s < inner; ++s) l_.add(n_, count, w_, s);
    if (is_within) l_.add(n_, count, of_record_, 0);
    pace_.step();
  }

  /// Propagates the adjoint of slope s to the adjoint of stage s.
  template <int Width>
  void reverse_stage(int s, std::size_t step, const double* vectors) {
    const auto at = static_cast<std::size_t>(s);
    const double* directions = step_tangents_.data() + step * (1 + all) * n_ * Width;
    const ode_adjoints to{w_.value.data() + at * n_, part_.value.data(), w_.tangents.data() + at * n_ * Width,
                          part_.tangents.data()};
    this->system_.second(point<Width>(s, step, vectors, directions), u_.value.data(), u_.tangents.data(), to);
    for (std::size_t j = 0; j < this->m_; ++j) total_.value[j] += part_.value[j];
    for (std::size_t j = 0; j < this->m_ * Width; ++j) total_.tangents[j] += part_.tangents[j];
  }

  ode_directions along_;
  std::vector<double> step_tangents_;  // of each step: the tangents of its first state and of its slopes
  std::vector<double> y_, dy_;
  pair l_, w_, u_, part_, total_, of_record_;
};

}  // namespace agrad
