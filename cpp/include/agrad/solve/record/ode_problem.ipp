// Definitions of solve/record/ode_problem.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/posed/ode.hpp>
#include <agrad/solve/posed/states_of_events.hpp>
#include <agrad/solve/record/ode_problem.hpp>
#include <agrad/solve/record/recorded_setup.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

AGRAD_INLINE std::unique_ptr<posed_solve> ode_problem::pose(bool differentiated) const {
  const ode_required required = differentiated ? of_.required : ode_required{};
  auto system = std::make_unique<program_system>(of_.f, of_.states, differentiated, structure_);
  std::unique_ptr<ode_solver> solver = make_(of_.function, *system, required);
  system->set_active(of_.active);
  return std::make_unique<posed_ode>(std::move(system), std::move(solver), required, of_.parameters(), of_.times);
}

AGRAD_INLINE std::unique_ptr<posed_solve> ode_problem::pose_second() const {
  const second_code::found* found = of_.holds ? second_.get() : nullptr;
  if (found == nullptr) return nullptr;
  event_setup setup;
  set_system(setup, found->f, of_.states, true, found->held, found->structure, of_.active);
  setup.function = of_.function;
  setup.make = make_;
  setup.plan.times_move = of_.required.initial_time || of_.required.times;
  setup.plan.state_moves = of_.required.initial_state;
  setup.parameters = of_.parameters(), setup.times = of_.times;
  setup.switches.emplace(found->switches);
  return std::make_unique<states_of_events>(std::move(setup), true);
}

AGRAD_INLINE void ode_problem::write(portable_writer& to) const {
  to(of_);
  make_.write(to);
}

}  // namespace agrad
