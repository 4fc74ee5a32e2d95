// DAE problem: a recorded residual with output times, stops and options.
// Read next: solve/posed/dae.hpp, the solve.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/solve/dae/options.hpp>
#include <agrad/solve/record/recorded_problem.hpp>
#include <agrad/solve/record/stored_options.hpp>

namespace agrad {

class dae_problem final : public recorded_problem {
 public:
  struct fields {
    std::string function = {};
    std::shared_ptr<const program> f = nullptr;  // the residual of (t, n states, n derivatives, parameters)
    Eigen::Index states = 0;
    std::size_t times = 0, stops = 0;
    dae_options options = {};
    dae_required required = {};
  };

  explicit dae_problem(fields of);

  const std::string& function() const override { return of_.function; }
  AGRAD_INLINE std::unique_ptr<posed_solve> pose(bool differentiated) const override;

  static constexpr std::string_view stored_kind = "dae";
  std::string_view kind() const override { return stored_kind; }
  AGRAD_INLINE void write(portable_writer& to) const override;
  static std::shared_ptr<const recorded_problem> read(portable_reader& from);

 private:
  fields of_;
};

template <class Archive>
void serialize(Archive& archive, dae_problem::fields& k) {
  archive(k.function, k.f, k.states, k.times, k.stops, k.options, k.required);
  archive.expect(is_right_hand_side(*k.f, k.states, 2) && k.times > 0 && std::max(k.times, k.stops) <= most_times, "a solve");
}

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/record/dae_problem.ipp>
#endif
