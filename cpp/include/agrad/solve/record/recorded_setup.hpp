// Recorded setup: the system of a recorded right-hand side and its held comparisons, for solves with events.
// Read next: solve/record/event_problem.hpp, solve/record/ode_problem.hpp, the users.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <agrad/solve/posed/events.hpp>
#include <agrad/solve/system/program/held_system.hpp>
#include <agrad/solve/system/program/program_switches.hpp>

namespace agrad {

/// Sets the system and its switches. held: null for none. active: of the parameters; empty if all are.
inline void set_system(event_setup& setup, const std::shared_ptr<const program>& f, Eigen::Index states, bool differentiated,
                       const std::shared_ptr<const held_code>& held, std::shared_ptr<program_structure> structure,
                       const std::vector<bool>& active) {
  std::unique_ptr<program_system> system;
  if (held == nullptr)
    system = std::make_unique<program_system>(f, states, differentiated, std::move(structure));
  else
    system = std::make_unique<held_system>(*held, f, states, differentiated, std::move(structure));
  system->set_active(active);
  if (held != nullptr) setup.held = std::make_unique<program_switches>(held, *system, states);
  setup.system = std::move(system);
}

}  // namespace agrad
