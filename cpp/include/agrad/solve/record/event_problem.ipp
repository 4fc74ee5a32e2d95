// Definitions of solve/record/event_problem.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/record/event_problem.hpp>
#include <agrad/solve/record/recorded_setup.hpp>

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
    : of_(std::move(of)),
      make_(std::move(make)),
      second_(of_.f, static_cast<std::size_t>(of_.states), make_.tolerance()),
      switches_(*of_.f, static_cast<std::size_t>(of_.states)) {
  switches_.find_features(make_.tolerance());
  if (!of_.holds) return;
  held_code found = held_code_of(*of_.f, static_cast<std::size_t>(of_.states));
  if (!found.entries.empty()) held_ = std::make_shared<const held_code>(std::move(found));
}

AGRAD_INLINE std::unique_ptr<posed_solve> event_problem::pose(bool differentiated) const {
  return std::make_unique<posed_events>(setup_of(differentiated, of_.f, held_, switches_, structure_), differentiated);
}

AGRAD_INLINE std::unique_ptr<posed_solve> event_problem::pose_second() const {
  const second_code::found* found = of_.holds ? second_.get() : nullptr;
  if (found == nullptr) return nullptr;
  return std::make_unique<posed_events>(setup_of(true, found->f, found->held, found->switches, found->structure), true);
}

AGRAD_INLINE event_setup event_problem::setup_of(bool differentiated, const std::shared_ptr<const program>& f,
                                                 const std::shared_ptr<const held_code>& held, const time_switches& switches,
                                                 const std::shared_ptr<program_structure>& structure) const {
  event_setup setup;
  set_system(setup, f, of_.states, differentiated, held, structure, of_.active);
  setup.function = of_.function;
  for (const event_programs& each : of_.events) setup.events.push_back(each.event(of_.states));
  setup.make = make_;
  setup.plan = of_.plan;
  setup.parameters = of_.parameters(), setup.times = of_.times;
  setup.switches.emplace(switches);
  setup.counts = of_.counts;
  setup.reads_hits = reads_hits_;
  return setup;
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
