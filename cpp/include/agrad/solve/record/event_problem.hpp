// Event problem: a recorded right-hand side with doses, stops, recorded events and a method.
// Read next: solve/posed/events.hpp, the solve; solve/system/event.hpp, events.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/solve/posed/events.hpp>
#include <agrad/solve/record/maker.hpp>
#include <agrad/solve/record/recorded_problem.hpp>
#include <agrad/solve/record/second_code.hpp>
#include <agrad/solve/record/stored_options.hpp>
#include <agrad/solve/system/event.hpp>
#include <agrad/solve/system/jumps/held_code.hpp>
#include <agrad/solve/system/program/structure.hpp>

namespace agrad {

/// The recorded functions of an event, programs of (t, n states, own parameters); reset and delay may be null.
struct event_programs {
  std::shared_ptr<const program> root, reset = nullptr, delay = nullptr;

  /// Returns whether these can be the functions of an event of `states` states.
  bool fit(std::size_t states) const;

  /// Makes the event.
  std::unique_ptr<event_function> event(Eigen::Index states) const;
};

template <class Archive>
void serialize(Archive& archive, event_programs& event) {
  bool resets = event.reset != nullptr, delays = event.delay != nullptr;
  archive(event.root, resets, delays);
  if (resets) archive(event.reset);
  if (delays) archive(event.delay);
}

class event_problem final : public recorded_problem {
 public:
  struct fields : recorded_right_hand_side {
    event_plan plan = {};
    std::vector<event_programs> events = {};  // one for each rule of the plan
    event_counts counts = {};
    bool holds = true;  // whether switches of states are found and held
  };

  event_problem(fields of, ode_maker make);

  const std::string& function() const override { return of_.function; }
  AGRAD_INLINE std::unique_ptr<posed_solve> pose(bool differentiated) const override;
  AGRAD_INLINE std::unique_ptr<posed_solve> pose_second() const override;
  AGRAD_INLINE bool tangents_match() const override;
  void expect_hits() const override { *reads_hits_ = true; }

  static constexpr std::string_view stored_kind = "events";
  std::string_view kind() const override { return make_.is_portable() ? stored_kind : std::string_view(); }
  AGRAD_INLINE void write(portable_writer& to) const override;
  /// read_maker: reads the maker from the bytes.
  template <class ReadMaker>
  static std::shared_ptr<const recorded_problem> read(portable_reader& from, const ReadMaker& read_maker) {
    fields of;
    bool reads_hits = false;
    from(of, reads_hits);
    auto result = std::make_shared<const event_problem>(std::move(of), read_maker(from));
    *result->reads_hits_ = reads_hits;
    return result;
  }

 private:
  /// Returns the setup of a solve; held: null without switches of states.
  event_setup setup_of(bool differentiated, const std::shared_ptr<const program>& f,
                       const std::shared_ptr<const held_code>& held, const time_switches& switches,
                       const std::shared_ptr<program_structure>& structure) const;

  fields of_;
  ode_maker make_;
  std::shared_ptr<const held_code> held_;  // null without switches
  second_code second_;
  time_switches switches_;
  std::shared_ptr<program_structure> structure_ = std::make_shared<program_structure>();
  std::shared_ptr<std::atomic<bool>> reads_hits_ = std::make_shared<std::atomic<bool>>(false);
};

template <class Archive>
void serialize(Archive& archive, event_counts& counts) {
  archive(counts.hits, counts.reached, counts.counted);
}

template <class Archive>
void serialize(Archive& archive, event_problem::fields& k) {
  serialize_problem(archive, k, k.plan, k.events, k.counts, k.holds);
  archive.expect(k.plan.stops <= most_times, "a solve");
  for (const std::size_t each : k.plan.before) archive.expect(each < k.times, "an output time");
  const auto states = static_cast<std::size_t>(k.states);
  bool fit = k.events.size() == k.plan.events.size() && k.events.size() == k.counts.hits.size();
  for (const event_programs& each : k.events) fit = fit && each.fit(states);
  for (const std::size_t each : k.counts.hits) fit = fit && each <= most_times;
  archive.expect(fit, "an event");
}

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/record/event_problem.ipp>
#endif
