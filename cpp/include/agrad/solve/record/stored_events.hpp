// Stored events: the stored members of an `event_operation`, except the maker.
// Read next: solve/record/event_operation.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <agrad/program/store/portable.hpp>
#include <agrad/solve/record/stored_options.hpp>
#include <agrad/solve/system/program/event.hpp>

namespace agrad {

/// The sizes of a solution that depend on values.
struct event_counts {
  std::vector<std::size_t> hits;  // of each event
  Eigen::Index reached = -1;      // output times until the end; -1: any number; later output times have the state at the end
  Eigen::Index counted = 0;       // number of leading output times that `reached` counts
};

template <class Archive>
void serialize(Archive& archive, event_counts& counts) {
  archive(counts.hits, counts.reached, counts.counted);
}

/// The arguments of an `event_operation`, and its settings.
struct stored_events {
  std::string function = {};
  std::shared_ptr<const program> f = nullptr;
  std::size_t states = 0, times = 0;
  event_plan plan = {};
  std::vector<event_programs> events = {};
  event_counts counts = {};
  std::vector<bool> active = {};
  bool same_steps = false, reads_hits = false;
};

template <class Archive>
void serialize(Archive& archive, stored_events& k) {
  archive(k.function, k.f, k.states, k.times, k.plan, k.events, k.counts, k.active, k.same_steps, k.reads_hits);
  archive.expect(is_right_hand_side(*k.f, static_cast<Eigen::Index>(k.states), 1) && k.times > 0 &&
                     std::max(k.times, k.plan.stops) <= most_times &&
                     (k.active.empty() || k.active.size() == k.f->input_size() - 1 - k.states),
                 "a solve");
  bool fit = k.events.size() == k.plan.events.size() && k.events.size() == k.counts.hits.size();
  for (const event_programs& each : k.events) fit = fit && each.fit(k.states);
  for (const std::size_t each : k.counts.hits) fit = fit && each <= most_times;
  archive.expect(fit, "an event");
}

}  // namespace agrad
