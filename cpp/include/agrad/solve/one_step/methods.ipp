// Definitions of solve/one_step/methods.hpp.
#pragma once

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/solve/one_step/explicit_runge_kutta_second.hpp>
#include <agrad/solve/one_step/methods.hpp>
#include <agrad/solve/one_step/rosenbrock_second.hpp>
#include <agrad/solve/one_step/switching.hpp>

namespace agrad {

namespace detail {

template <class Solver>
std::unique_ptr<ode_solver> make_solver(const std::string& function, ode_system& system, const step_options& options,
                                        ode_required required) {
  return std::make_unique<Solver>(function, system, options, required);
}

/// Makes the solver of `automatic`: with a mass matrix, by the stiff method from the start.
inline std::unique_ptr<ode_solver> make_automatic(const std::string& function, ode_system& system, const step_options& options,
                                                  ode_required required) {
  using stiff = rosenbrock_by<rosenbrock_second, rodas5p_tableau>;
  const auto make = options.mass ? make_solver<stiff> : make_solver<switching_solver>;
  return make(function, system, options, required);
}

template <class Tableau>
constexpr one_step_method explicit_method(const char* name, const char* text) {
  return {name, text, Tableau::order, Tableau::real_stability, false, make_solver<explicit_runge_kutta_second<Tableau>>};
}

template <const rosenbrock_tableau& Tableau>
constexpr one_step_method rosenbrock_method(const char* text) {
  return {Tableau.name, text, Tableau.order, 0.0, true, make_solver<rosenbrock_by<rosenbrock_second, Tableau>>};
}

}  // namespace detail

AGRAD_INLINE constexpr one_step_method one_step_methods[] = {
    detail::explicit_method<tsitouras_tableau>("Tsit5",
                                               "Tsitouras' method of order 5, the first choice for systems that are not stiff"),
    detail::explicit_method<dormand_prince_tableau>("RK45", "Dormand and Prince's method of order 5"),
    detail::explicit_method<cash_karp_tableau>("CKRK", "Cash and Karp's method of order 5, for solutions that change abruptly"),
    detail::explicit_method<dormand_prince_8_tableau>("DOP853", "Dormand and Prince's method of order 8, for tight tolerances"),
    detail::rosenbrock_method<rodas4_tableau>("Hairer and Wanner's Rosenbrock method of order 4, for stiff systems"),
    detail::rosenbrock_method<rodas5p_tableau>(
        "Steinebach's Rosenbrock method of order 5, for stiff systems and tight tolerances"),
    {"auto", "Tsit5, and Rodas4 or, for tight tolerances, Rodas5P from where the system turns stiff", 5, 0.0, true,
     detail::make_automatic}};

AGRAD_INLINE const one_step_method& entry_of(ode_one_step_method method, const std::string& function) {
  const auto place = static_cast<std::size_t>(method);
  if (place < std::size(one_step_methods)) return one_step_methods[place];
  throw DomainError(detail::sentence(function, "method", -1, static_cast<int>(method), "one of ode_one_step_method"));
}

AGRAD_INLINE const one_step_method* entry_of(std::string_view name) {
  for (const one_step_method& each : one_step_methods)
    if (each.name == name) return &each;
  return nullptr;
}

AGRAD_INLINE std::unique_ptr<ode_solver> make_one_step_solver(ode_one_step_method method, const std::string& function,
                                                              ode_system& system, const step_options& options,
                                                              ode_required required) {
  return entry_of(method, function).make(function, system, options, required);
}

}  // namespace agrad
