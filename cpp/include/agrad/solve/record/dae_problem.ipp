// Definitions of solve/record/dae_problem.hpp.
#pragma once

#include <agrad/base/inline.hpp>
#include <agrad/solve/posed/dae.hpp>
#include <agrad/solve/record/dae_problem.hpp>
#include <agrad/solve/system/program/dae.hpp>

namespace agrad {

AGRAD_INLINE dae_problem::dae_problem(fields of) : of_(std::move(of)) {
  check_solver_options(of_.function, of_.options, of_.states);
}

AGRAD_INLINE std::unique_ptr<posed_solve> dae_problem::pose(bool differentiated) const {
  const auto n = static_cast<std::size_t>(of_.states);
  time_switches switches(*of_.f, 2 * n);
  switches.find_features(of_.options.forward.relative);
  return std::make_unique<posed_dae>(of_.function, std::make_unique<program_dae>(of_.f, of_.states, differentiated),
                                     of_.options, differentiated ? of_.required : dae_required{},
                                     of_.f->input_size() - 1 - 2 * n, of_.times, of_.stops, std::move(switches));
}

AGRAD_INLINE void dae_problem::write(portable_writer& to) const { to(of_); }

AGRAD_INLINE std::shared_ptr<const recorded_problem> dae_problem::read(portable_reader& from) {
  fields of;
  from(of);
  return std::make_shared<const dae_problem>(std::move(of));
}

}  // namespace agrad
