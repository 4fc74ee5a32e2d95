// ODE problem: a recorded right-hand side with output times and a method.
// Read next: solve/posed/ode.hpp, the solve; solve/record/maker.hpp, the method.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <agrad/base/inline.hpp>
#include <agrad/solve/record/maker.hpp>
#include <agrad/solve/record/recorded_problem.hpp>
#include <agrad/solve/record/second_code.hpp>
#include <agrad/solve/record/stored_options.hpp>
#include <agrad/solve/system/program/structure.hpp>

namespace agrad {

class ode_problem final : public recorded_problem {
 public:
  struct fields : recorded_right_hand_side {
    ode_required required = {};
    bool holds = true;  // whether solves for second derivatives hold kinks of states
  };

  /// make: creates the solver and checks its options.
  ode_problem(fields of, ode_maker make)
      : of_(std::move(of)), make_(std::move(make)), second_(of_.f, static_cast<std::size_t>(of_.states), make_.tolerance()) {}

  const std::string& function() const override { return of_.function; }
  AGRAD_INLINE std::unique_ptr<posed_solve> pose(bool differentiated) const override;
  AGRAD_INLINE std::unique_ptr<posed_solve> pose_second() const override;
  bool tangents_match() const override { return of_.f->first_without_tangents(0) == nullptr; }

  static constexpr std::string_view stored_kind = "ode";
  std::string_view kind() const override { return make_.is_portable() ? stored_kind : std::string_view(); }
  AGRAD_INLINE void write(portable_writer& to) const override;
  /// read_maker: reads the maker from the bytes.
  template <class ReadMaker>
  static std::shared_ptr<const recorded_problem> read(portable_reader& from, const ReadMaker& read_maker) {
    fields of;
    from(of);
    return std::make_shared<const ode_problem>(std::move(of), read_maker(from));
  }

 private:
  fields of_;
  ode_maker make_;
  second_code second_;
  std::shared_ptr<program_structure> structure_ = std::make_shared<program_structure>();  // computed once for all solves
};

template <class Archive>
void serialize(Archive& archive, ode_problem::fields& k) {
  serialize_problem(archive, k, k.required, k.holds);
}

}  // namespace agrad

#ifndef AGRAD_COMPILED
#include <agrad/solve/record/ode_problem.ipp>
#endif
