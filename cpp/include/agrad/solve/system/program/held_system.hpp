// Held system: a recorded right-hand side whose comparisons are held.
//
// A step that is attempted across a threshold evaluates the held branch beyond it, where that branch may have no value:
// sqrt(maximum(y, 0)) below zero. Such points decide nothing but the attempt, because the step is taken again up to the
// threshold, so the right-hand side itself gives the value there. This holds for kinks; at a jump, the branch has no value.
// Read first: solve/system/jumps/held_code.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

class held_system : public program_system {
 public:
  /// f: the right-hand side that `held` is made of.
  held_system(const held_code& held, std::shared_ptr<const program> f, Eigen::Index n, bool differentiated,
              std::shared_ptr<program_structure> structure)
      : program_system(held.f, n, differentiated, std::move(structure), held.entries.size()) {
    if (has_kinks(held)) plain_.emplace(std::move(f), n, differentiated);
  }

  void set_parameters(const double* p) override {
    program_system::set_parameters(p);
    if (plain_) plain_->set_parameters(p);
  }

  void rhs(double t, const double* y, double* dydt) override {
    program_system::rhs(t, y, dydt);
    const auto is_finite = [](double x) { return std::isfinite(x); };
    if (plain_ && !std::all_of(dydt, dydt + states(), is_finite)) plain_->value(t, y, dydt);
  }

 private:
  std::optional<program_function> plain_;
};

}  // namespace agrad
