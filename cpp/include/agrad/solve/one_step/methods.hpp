// Methods: the table of one-step methods, one entry for each.
//
// An entry holds all that differs between the methods for a caller: the name in Python, a description, the order, how far the
// method is stable, and how a solver is made. The methods of `solve_ivp`, their documentation, the advice that solves give, and
// `ode_one_step_method` come from the table, so a new method is a tableau and one line here, and one line for its functions in
// solve/ode_one_step.hpp.
// Read next: solve/one_step/tableaus.hpp and solve/one_step/rosenbrock_tableau.hpp, the coefficients.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <agrad/base/error.hpp>
#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/one_step/rosenbrock_second.hpp>
#include <agrad/solve/one_step/switching.hpp>

namespace agrad {

/// Methods whose gradient is the exact one of their steps, in the order of `one_step_methods`. `automatic` starts with tsit5 and
/// goes on with rodas5p, or with rodas4 where the relative tolerance is 1e-5 or more, where the system turns stiff.
enum class ode_one_step_method { tsit5, rk45, ckrk, dop853, rodas4, rodas5p, automatic };

struct one_step_method {
  const char* name;  // of solve_ivp's argument `method`, and in pickles
  const char* text;  // what the method is, and for what
  int order;
  double real_stability;  // how far an explicit method is stable along the negative real axis, in units of the step size
  bool has_factors;       // whether the method solves linear equations with the Jacobian
  std::unique_ptr<ode_solver> (*make)(const std::string& function, ode_system& system, const step_options& options,
                                      ode_wanted wanted);
};

namespace detail {

template <class Solver>
std::unique_ptr<ode_solver> make_solver(const std::string& function, ode_system& system, const step_options& options,
                                        ode_wanted wanted) {
  return std::make_unique<Solver>(function, system, options, wanted);
}

template <class Tableau>
constexpr one_step_method explicit_method(const char* name, const char* text) {
  return {name, text, Tableau::order, Tableau::real_stability, false, make_solver<runge_kutta<Tableau>>};
}

template <const rosenbrock_tableau& Tableau>
constexpr one_step_method rosenbrock_method(const char* text) {
  return {Tableau.name, text, Tableau.order, 0.0, true, make_solver<rosenbrock_by<rosenbrock_second, Tableau>>};
}

}  // namespace detail

inline constexpr one_step_method one_step_methods[] = {
    detail::explicit_method<tsitouras_tableau>("Tsit5",
                                               "Tsitouras' method of order 5, the first choice for systems that are not stiff"),
    detail::explicit_method<dormand_prince_tableau>("RK45", "Dormand and Prince's method of order 5"),
    detail::explicit_method<cash_karp_tableau>("CKRK", "Cash and Karp's method of order 5, for solutions that change abruptly"),
    detail::explicit_method<dormand_prince_8_tableau>("DOP853", "Dormand and Prince's method of order 8, for tight tolerances"),
    detail::rosenbrock_method<rodas4_tableau>("Hairer and Wanner's Rosenbrock method of order 4, for stiff systems"),
    detail::rosenbrock_method<rodas5p_tableau>(
        "Steinebach's Rosenbrock method of order 5, for stiff systems and tight tolerances"),
    {"auto", "Tsit5, and Rodas4 or, for tight tolerances, Rodas5P from where the system turns stiff", 5, 0.0, true,
     detail::make_solver<switching_solver>}};

/// The entry of a method.
inline const one_step_method& entry_of(ode_one_step_method method, const std::string& function) {
  const auto place = static_cast<std::size_t>(method);
  if (place < std::size(one_step_methods)) return one_step_methods[place];
  throw DomainError(detail::sentence(function, "method", -1, static_cast<int>(method), "one of ode_one_step_method"));
}

/// The entry of a method by its name; null where no method has the name.
inline const one_step_method* entry_of(std::string_view name) {
  for (const one_step_method& each : one_step_methods)
    if (each.name == name) return &each;
  return nullptr;
}

/// A new solver by one of the methods.
inline std::unique_ptr<ode_solver> make_one_step_solver(ode_one_step_method method, const std::string& function,
                                                        ode_system& system, const step_options& options, ode_wanted wanted) {
  return entry_of(method, function).make(function, system, options, wanted);
}

}  // namespace agrad
