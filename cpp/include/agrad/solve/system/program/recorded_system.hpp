// Recorded system: a recorded C++ callable as an `ode_system`.
//
// Values come from the compiled callable itself, and so do adjoints if the recording shows that few directions suffice: columns
// of df/d(y, p) without a common row share a direction of dual numbers. All else comes from the program.
// Read first: solve/system/program/recorded_function.hpp, which records; solve/system/program/ode.hpp, which runs the program.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <agrad/solve/system/functor/lane_arguments.hpp>
#include <agrad/solve/system/program/recorded_function.hpp>

namespace agrad::detail {

template <class F, class... Args>
class recorded_system final : public program_system {
 public:
  recorded_system(const std::string& function, const recorded_function<F>& f, Eigen::Index states, const Args&... args)
      : recorded_system(function, f, f.template program_for<Args...>(function, states, args...), states, args...) {}

  const std::shared_ptr<const program>& recorded() const { return recorded_; }

  /// Indices of the active parameters on their own tape.
  const std::vector<tape::index_type>& parameter_indices() const { return indices_; }

  void rhs(double t, const double* y, double* dydt) override {
    y_ = Eigen::Map<const Eigen::VectorXd>(y, y_.size());
    set_slope(t, dydt);
    if (is_checked_) return;
    is_checked_ = true;
    check_recording(t, y, dydt);
  }

  void vjp(double t, const double* y, const double* lambda, double* y_adjoint, double* parameter_adjoint) override {
    if constexpr (few_lanes::are_taken && lanes::are_taken) {
      if (few_) return vjp_by_lanes(*few_, t, y, lambda, y_adjoint, parameter_adjoint);
      if (lanes_) return vjp_by_lanes(*lanes_, t, y, lambda, y_adjoint, parameter_adjoint);
    }
    program_system::vjp(t, y, lambda, y_adjoint, parameter_adjoint);
  }

 protected:
  /// Returns whether a linearization is faster. By measurement an operation of a program takes as long as 24 computed entries;
  /// f on duals of four directions takes three times, on duals of eight directions six times as long as the program's entries.
  bool pays(const linearization& all) const override {
    if (!few_ && !lanes_) return true;
    return 24 * all.operations() + all.work() < (few_ ? 3 : 6) * work_ * all.points();
  }

 private:
  using few_lanes = lane_arguments<4, F, Args...>;
  using lanes = lane_arguments<8, F, Args...>;

  recorded_system(const std::string& function, const recorded_function<F>& f, const recorded_program& recording,
                  Eigen::Index states, const Args&... args)
      : program_system(recording.f, states, true, recording.structure),
        recorded_(recording.f),
        function_(function),
        f_(f.callable()),
        y_(states),
        values_(argument<Args>::values(args)...),
        coloured_(recording.structure->coloured(*recording.f)),
        work_(work_of(*recording.f)) {
    (argument<Args>::collect(args, indices_), ...);
    std::vector<double> parameters;
    const auto next = [&](double x) { return parameters.push_back(x), x; };
    with_duals<double, Args...>(values_, next, [](const auto&...) {});
    if (!parameters.empty()) set_parameters(parameters.data());
    if constexpr (few_lanes::are_taken && lanes::are_taken) make_lanes();
  }

  void make_lanes() {
    if (coloured_ == nullptr || coloured_->colours.count > 8) return;
    const auto lane_of = [&](Eigen::Index k) {
      return static_cast<Eigen::Index>(coloured_->colours.colour[static_cast<std::size_t>(k)]);
    };
    if (coloured_->colours.count <= 4)
      few_.emplace(y_.size(), values_, lane_of);
    else
      lanes_.emplace(y_.size(), values_, lane_of);
  }

  void set_slope(double t, double* dydt) {
    const auto slope = std::apply([&](const auto&... p) { return evaluated(t, y_, p...); }, values_);
    for (Eigen::Index i = 0; i < y_.size(); ++i) dydt[i] = slope[i];
  }

  /// Throws if the callable, which gives a solve's values, is no longer the function of the recording, which gives the
  /// derivatives. At rest both may differ by rounding errors alone, so a second point decides.
  void check_recording(double t, const double* y, const double* dydt) {
    using given = Eigen::Map<const Eigen::VectorXd>;
    const Eigen::Index n = y_.size();
    Eigen::VectorXd recorded(n), found = given(dydt, n);
    const auto differ = [&] {
      const double size = found.cwiseAbs().maxCoeff();
      return found.allFinite() && recorded.allFinite() && (found - recorded).cwiseAbs().maxCoeff() > 1e-6 * size;
    };
    program_system::rhs(t, y, recorded.data());
    if (!differ()) return;
    y_ = given(y, n) + 1e-2 * (given(y, n).cwiseAbs().array() + 1).matrix();
    set_slope(t, found.data());
    program_system::rhs(t, y_.data(), recorded.data());
    if (differ())
      throw DomainError(sentence(function_, "f", -1, "another function than when it was recorded", "the same",
                                 "pass what changes as an argument, or call agrad::recorded again"));
  }

  template <class Y, class... P>
  auto evaluated(double t, const Y& y, const P&... p) const {
    const stored_argument_t<std::decay_t<decltype(f_(t, y, p...))>> slope(f_(t, y, p...));
    return slope;
  }

  template <class Lanes>
  void vjp_by_lanes(Lanes& with, double t, const double* y, const double* lambda, double* y_adjoint,
                    double* parameter_adjoint) {
    const auto slope = with(y, [&](const auto&... all) { return evaluated(t, all...); });
    const auto n = static_cast<std::size_t>(y_.size()), m = indices_.size();
    for (std::size_t j = 0; y_adjoint != nullptr && j < n; ++j) y_adjoint[j] = column_product(j, slope, lambda);
    for (std::size_t j = 0; parameter_adjoint != nullptr && j < m; ++j)
      parameter_adjoint[j] = column_product(n + j, slope, lambda);
  }

  template <class Slope>
  double column_product(std::size_t j, const Slope& slope, const double* lambda) const {
    double sum = 0;
    if constexpr (!std::is_arithmetic_v<std::decay_t<decltype(slope[0])>>) {
      const std::size_t lane = coloured_->colours.colour[j];
      for (const auto i : coloured_->columns.row(j))
        if (lambda[i] != 0)
          sum += lambda[i] * slope[static_cast<Eigen::Index>(i)].tangent[lane];  // a zero adjoint cancels infinity
    }
    return sum;
  }

  std::shared_ptr<const program> recorded_;
  std::string function_;
  F f_;
  bool is_checked_ = false;
  Eigen::VectorXd y_;
  std::tuple<argument_value_t<Args>...> values_;
  std::shared_ptr<const coloured_pattern> coloured_;
  std::size_t work_;              // how many entries the program computes
  std::optional<few_lanes> few_;  // if four directions suffice
  std::optional<lanes> lanes_;
  std::vector<tape::index_type> indices_;
};

/// A recorded function becomes this system whatever System is: a program has all derivatives.
template <template <class, class...> class System, class F, class... Args>
struct system_of<System, recorded_function<F>, Args...> {
  using type = recorded_system<F, Args...>;
};

}  // namespace agrad::detail
