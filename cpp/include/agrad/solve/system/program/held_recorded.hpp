// Held recorded: a recorded C++ callable whose jumps are held, as an `ode_system`.
//
// Values come from the program with held sides, because the callable itself chooses its own sides.
// Read first: solve/system/program/recorded_system.hpp; solve/system/jumps/held_code.hpp.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad::detail {

/// Recorded: a recorded_system.
template <class Recorded>
class held_recorded final : public program_system {
 public:
  held_recorded(std::unique_ptr<Recorded> of, const held_code& held)
      : program_system(held.f, of->states(), true, std::make_shared<program_structure>(), held.entries.size()),
        of_(std::move(of)) {
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
    program_system::rhs(t, y, dydt);
  }

 private:
  std::unique_ptr<Recorded> of_;
  bool is_checked_ = false;
};

}  // namespace agrad::detail
