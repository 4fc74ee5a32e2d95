// ODE many: solves the initial value problems of a population in threads, and puts the solutions on the tape as one operation.
//
//     std::vector<agrad::ode_subject<var, double, var>> subjects;
//     for (const patient& each : patients) subjects.push_back({each.y0, 0.0, each.times, {k}, {{0.0, 0, each.dose}}});
//     const auto solutions = agrad::ode_solve_many(options, agrad::ode_one_step_method::tsit5, subjects, std::tuple<>(), f);
//     solutions[3].states[0];   // a column vector of var
//
// Read next: solve/posed/many.hpp, the solve; solve/ode_events.hpp, a single problem.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <agrad/solve/ode_events.hpp>
#include <agrad/solve/posed/many.hpp>

namespace agrad {

/// A problem of `ode_solve_many`: initial state and time, output times, arguments of the right-hand side and of the events,
/// doses, and options. Scalar: of the state and the amounts of doses. Time: of all times.
template <class Scalar = double, class Time = double, class... Args>
struct ode_subject {
  Eigen::Matrix<Scalar, Eigen::Dynamic, 1> y0;
  Time t0;
  std::vector<Time> times;
  std::tuple<Args...> args = {};
  std::vector<ode_dose<Scalar, Time>> doses = {};
  ode_events_options options = {};
};

/// threads: the most threads; 0 means one for each processor. return_partial: whether subjects whose solver fails have the
/// solution before the failure; otherwise the first subject's error is thrown. If a subject fails, all are solved once more.
struct ode_many_options {
  std::size_t threads = 0;
  bool return_partial = false;
};

template <class Scalar>
struct ode_many_solution : ode_events_solution<Scalar> {
  std::shared_ptr<const SolverError> failure = nullptr;  // that ended the solution early; the later outputs are missing
};

namespace detail {

/// The solves of `ode_solve_many`. System: the system for a callable.
template <template <class, class...> class System, class Events, class F, class Scalar, class Time, class... Args>
class population {
 public:
  using subject = ode_subject<Scalar, Time, Args...>;
  using scalar = promoted_t<Scalar, Time, Args...>;

  population(event_solver::maker make, std::vector<subject> subjects, const Events& events, const F& f, std::size_t threads)
      : make_(std::move(make)), subjects_(std::move(subjects)), events_(events), f_(f), threads_(threads) {
    for (std::size_t i = 0; i < subjects_.size(); ++i) posed_.push_back(pose(i));
    failures_.resize(subjects_.size());
  }

  /// Solves all problems, each with the outputs that it has now.
  std::vector<ode_many_solution<scalar>> solve() {
    std::vector<ode_many_solution<scalar>> solutions(subjects_.size());
    std::vector<std::shared_ptr<posed_solve>> parts;
    each_left([&](std::size_t i) { parts.push_back(posed_[i].solve); });
    if (!parts.empty()) {
      const auto result = solve(std::make_shared<posed_many>(std::move(parts), threads_));
      const scalar* from = result.data();
      each_left([&](std::size_t i) {
        static_cast<ode_events_solution<scalar>&>(solutions[i]) = spread(from, *posed_[i].solve, subjects_[i].y0.size());
        from += posed_[i].solve->result().size();
      });
    }
    for (std::size_t i = 0; i < solutions.size(); ++i) solutions[i].failure = failures_[i];
    return solutions;
  }

  /// Leaves out the outputs that solvers do not reach.
  void shorten() {
    std::vector<char> fails(subjects_.size(), 1);  // no bits, which threads would share
    const auto try_one = [&](std::size_t i) {
      if (fails[i] == 0) return;
      try {
        posed_[i].solve->solve(posed_[i].arguments.numbers().data());
        fails[i] = 0;
      } catch (const SolverError& error) {
        if (failures_[i] == nullptr) failures_[i] = std::make_shared<const SolverError>(error);
      }
    };
    while (std::find(fails.begin(), fails.end(), 1) != fails.end()) {
      run_in_threads(subjects_.size(), threads_, try_one, [] { return 0; });
      for (std::size_t i = 0; i < subjects_.size(); ++i)
        if (fails[i] != 0) fails[i] = cut(i) ? 1 : 0;
    }
  }

 private:
  /// Calls use(i) for each subject with outputs.
  template <class Use>
  void each_left(const Use& use) const {
    for (std::size_t i = 0; i < subjects_.size(); ++i)
      if (!subjects_[i].times.empty()) use(i);
  }

  posed_with_events<scalar> pose(std::size_t i) const {
    const subject& of = subjects_[i];
    const std::string name = "ode_solve_many(subjects[" + std::to_string(i) + "])";
    const auto posed = [&](const auto&... args) {
      return pose_events<System>(name, make_, of.doses, events_, of.options, f_, of.y0, of.t0, of.times,
                                 stored_argument(args)...);
    };
    return std::apply(posed, of.args);
  }

  std::vector<scalar> solve(const std::shared_ptr<posed_many>& many) {
    solve_arguments<scalar> arguments(many->argument());
    std::size_t place = 0;
    each_left([&](std::size_t i) {
      arguments.give_all(place, posed_[i].arguments);
      place += posed_[i].arguments.numbers().size();
    });
    return recorded_result<scalar>::of("ode_solve_many", many, std::move(arguments), posed_.front().side_by_side);
  }

  /// Removes the last output of a subject, and all from its failure on. Returns whether any are left.
  bool cut(std::size_t i) {
    subject& of = subjects_[i];
    of.times.pop_back();
    while (!of.times.empty() && double_of(of.times.back()) >= failures_[i]->t) of.times.pop_back();
    std::vector<std::size_t>& before = of.options.before;
    before.erase(std::lower_bound(before.begin(), before.end(), of.times.size()), before.end());
    if (!of.times.empty()) posed_[i] = pose(i);
    return !of.times.empty();
  }

  event_solver::maker make_;
  std::vector<subject> subjects_;
  const Events& events_;
  const F& f_;
  std::size_t threads_;
  std::vector<posed_with_events<scalar>> posed_;
  std::vector<std::shared_ptr<const SolverError>> failures_;
};

template <template <class, class...> class System, class Events, class F, class Scalar, class Time, class... Args>
auto solve_many(event_solver::maker make, const std::vector<ode_subject<Scalar, Time, Args...>>& subjects, const Events& events,
                const F& f, const ode_many_options& options) {
  population<System, Events, F, Scalar, Time, Args...> all(std::move(make), subjects, events, f, options.threads);
  try {
    return all.solve();
  } catch (const SolverError&) {
    if (!options.return_partial) throw;
  }
  all.shorten();
  return all.solve();
}

}  // namespace detail

/// Solves y' = f(t, y, args...), y(t0) = y0, for each subject, with the subject's doses and with events, by a one-step method,
/// in threads.
///
/// subjects: the problems; the tape has one operation for all, whose reverse pass runs in threads, too.
/// events, f: as for ode_solve_events, for all subjects, with each subject's args. Each problem calls a copy of its own, at the
///   same time as others: functions must not write to data that copies share.
///
/// Returns a solution for each subject, with the same bits for every number of threads.
/// Raises the same as ode_solve_events, with the subject's number; of several errors the first subject's.
template <class Scalar, class Time, class... Args, class... Events, class F>
auto ode_solve_many(const step_options& options, ode_one_step_method method,
                    const std::vector<ode_subject<Scalar, Time, Args...>>& subjects, const std::tuple<Events...>& events,
                    const F& f, const ode_many_options& many = {}) {
  const auto make = [options, method](const std::string& function, ode_system& system, ode_required required) {
    return make_one_step_solver(method, function, system, options, required);
  };
  if constexpr (detail::hold_duals<Scalar, Time, Args...>)
    return detail::solve_many<detail::functor_jacobians>(make, subjects, events, f, many);
  else
    return detail::solve_many<detail::functor_tangents>(make, subjects, events, f, many);
}

/// Does the same by CVODES and its adjoint method.
template <class Scalar, class Time, class... Args, class... Events, class F>
auto ode_solve_many(const ode_adjoint_options& options, const std::vector<ode_subject<Scalar, Time, Args...>>& subjects,
                    const std::tuple<Events...>& events, const F& f, const ode_many_options& many = {}) {
  static_assert(!detail::hold_second_duals<Scalar, Time, Args...>,
                "ode_solve_many with ode_adjoint_options has first derivatives only; one-step methods have second ones");
  return detail::solve_many<detail::functor_tangents>(detail::cvodes_maker(options), subjects, events, f, many);
}

}  // namespace agrad
