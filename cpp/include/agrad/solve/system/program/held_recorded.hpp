// Held recorded: a recorded C++ callable whose comparisons are held, as an `ode_system`.
//
// Values come from the program with held sides, because the callable itself chooses its own sides.
// Read first: solve/system/program/recorded_system.hpp; solve/system/program/held_system.hpp.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/system/program/held_system.hpp>

namespace agrad::detail {

/// Recorded: a recorded_system.
template <class Recorded>
class held_recorded final : public held_system {
 public:
  /// f: the right-hand side that `held` is made of.
  held_recorded(std::unique_ptr<Recorded> of, std::shared_ptr<const program> f, const held_code& held)
      : held_system(held, std::move(f), of->states(), true, std::make_shared<program_structure>()), of_(std::move(of)) {
    std::vector<double> p(static_cast<std::size_t>(parameters()));
    of_->parameter_values(p.data());
    if (!p.empty()) set_parameters(p.data());
  }

  void rhs(double t, const double* y, double* dydt) override {
    if (!is_checked_) {
      is_checked_ = true;
      Eigen::VectorXd slope(states());
      of_->rhs(t, y, slope.data());  // throws where the callable is no longer the one of the recording
    }
    held_system::rhs(t, y, dydt);
  }

 private:
  std::unique_ptr<Recorded> of_;
  bool is_checked_ = false;
};

}  // namespace agrad::detail
