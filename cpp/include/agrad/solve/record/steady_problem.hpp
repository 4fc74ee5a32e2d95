// Steady problem: a recorded right-hand side whose steady state is sought, and options.
// Read next: solve/posed/steady.hpp, the solve.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agrad/program/sparse/reach.hpp>
#include <agrad/solve/posed/steady.hpp>
#include <agrad/solve/record/recorded_problem.hpp>
#include <agrad/solve/record/stored_options.hpp>
#include <agrad/solve/system/program/ode.hpp>

namespace agrad {

/// A template, so that only its users compile the factorisations.
template <class Real = double>
class steady_problem final : public recorded_problem {
 public:
  struct fields {
    std::string function = {};
    std::shared_ptr<const program> f = nullptr;  // of (t, n states, parameters)
    Eigen::Index states = 0;
    steady_options options = {};
    std::vector<bool> active = {};  // which parameters have derivatives; empty for all
  };

  /// Throws DomainError where f depends on t and the options have no time, and for options that do not fit.
  explicit steady_problem(fields of, steady_listener report_to = nullptr)
      : of_(std::move(of)), report_to_(std::move(report_to)) {
    check_solver_options(of_.function, of_.options, of_.states);
    if (!of_.options.time && depends_on(*of_.f, 0)) throw DomainError(detail::needs_no_time(of_.function));
  }

  const std::string& function() const override { return of_.function; }
  std::unique_ptr<posed_solve> pose(bool) const override {
    const std::size_t parameters = of_.f->input_size() - 1 - static_cast<std::size_t>(of_.states);
    return std::make_unique<posed_steady<Real>>(of_.function, std::make_unique<program_system>(of_.f, of_.states, true),
                                                of_.options, parameters, report_to_, of_.active);
  }
  std::shared_ptr<const recorded_problem> for_entries(const std::vector<bool>& wanted) const override {
    const auto parameters = wanted.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(of_.states, wanted.size()));
    if (std::find(parameters, wanted.end(), false) == wanted.end()) return nullptr;
    fields own = of_;
    own.active.assign(parameters, wanted.end());
    return std::make_shared<const steady_problem>(std::move(own), report_to_);
  }
  bool tangents_match() const override { return of_.f->first_without_tangents(0) == nullptr; }

  static constexpr std::string_view stored_kind = "steady";
  std::string_view kind() const override { return stored_kind; }
  void write(portable_writer& to) const override { to(of_.function, of_.f, of_.states, of_.options, of_.active); }
  /// listener_of: creates the listener from the function's name.
  template <class ListenerOf>
  static std::shared_ptr<const recorded_problem> read(portable_reader& from, const ListenerOf& listener_of) {
    fields of;
    from(of.function, of.f, of.states, of.options, of.active);
    from.expect(is_right_hand_side(*of.f, of.states, 1), "a steady state");
    const std::size_t parameters = of.f->input_size() - 1 - static_cast<std::size_t>(of.states);
    from.expect(of.active.empty() || of.active.size() == parameters, "a parameter of a steady state");
    steady_listener report_to = listener_of(of.function);
    return std::make_shared<const steady_problem>(std::move(of), std::move(report_to));
  }

 private:
  fields of_;
  steady_listener report_to_;
};

}  // namespace agrad
