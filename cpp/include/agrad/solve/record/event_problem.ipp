// Definitions of solve/record/event_problem.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/record/event_problem.hpp>
#include <agrad/solve/system/program/ode.hpp>
#include <agrad/solve/system/program/program_switches.hpp>

namespace agrad {

AGRAD_INLINE bool event_programs::fit(std::size_t states) const {
  const auto fits = [&](const std::shared_ptr<const program>& f, std::size_t results) {
    return f == nullptr || (f->input_size() > states && f->output_size() == results);
  };
  return fits(root, 1) && fits(reset, states) && fits(delay, 1);
}

AGRAD_INLINE std::unique_ptr<event_function> event_programs::event(Eigen::Index states) const {
  const auto function = [&](const std::shared_ptr<const program>& from) {
    return from == nullptr ? nullptr : std::make_unique<program_function>(from, states);
  };
  return std::make_unique<event_function>(function(root), function(reset), states, false, function(delay));
}

AGRAD_INLINE event_problem::event_problem(fields of, ode_maker make)
    : of_(std::move(of)), make_(std::move(make)), switches_(*of_.f, static_cast<std::size_t>(of_.states)) {
  switches_.find_features(make_.tolerance());
  if (!of_.holds) return;
  held_code found = held_code_of(*of_.f, static_cast<std::size_t>(of_.states));
  if (!found.entries.empty()) held_ = std::make_shared<const held_code>(std::move(found));
}

AGRAD_INLINE std::unique_ptr<posed_solve> event_problem::pose(bool differentiated) const {
  const std::size_t held = held_ == nullptr ? 0 : held_->entries.size();
  auto system = std::make_unique<program_system>(held > 0 ? held_->f : of_.f, of_.states, differentiated, structure_, held);
  system->set_active(of_.active);
  event_setup setup;
  if (held > 0) setup.held = std::make_unique<program_switches>(held_, *system, of_.states);
  setup.function = of_.function;
  setup.system = std::move(system);
  for (const event_programs& each : of_.events) setup.events.push_back(each.event(of_.states));
  setup.make = make_;
  setup.plan = of_.plan;
  setup.parameters = of_.parameters(), setup.times = of_.times;
  setup.switches.emplace(switches_);
  setup.counts = of_.counts;
  setup.reads_hits = reads_hits_;
  return std::make_unique<posed_events>(std::move(setup), differentiated);
}

AGRAD_INLINE bool event_problem::tangents_match() const {
  const auto matches = [](const event_programs& each) {  // both modes use the gradient of the root function
    return each.reset == nullptr || each.reset->first_without_tangents(0) == nullptr;
  };
  return of_.f->first_without_tangents(0) == nullptr && std::all_of(of_.events.begin(), of_.events.end(), matches);
}

AGRAD_INLINE void event_problem::write(portable_writer& to) const {
  to(of_, reads_hits_->load());
  make_.write(to);
}

}  // namespace agrad
