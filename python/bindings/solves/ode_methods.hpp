// Methods of differential equations as Python objects, and the functions of other files that ode.cpp uses.
#pragma once

#include <agrad/solve/cvodes/adjoint_options.hpp>
#include <agrad/solve/cvodes/forward_options.hpp>
#include <agrad/solve/one_step/options.hpp>
#include <agrad/solve/record/maker.hpp>
#include <agrad/solve/record/stored_options.hpp>

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace agrad::python {

/// A method with its options, which makes solvers. The derived classes differ in their constructors.
struct configured_method {
  ode_maker make;
  bool same_steps = false;  // whether a solve takes the same steps with and without derivatives
};
/// CVODES with the adjoint method.
struct adjoint_method : configured_method {
  ode_adjoint_options options;
};
/// A one-step method with a discrete adjoint.
struct step_method : configured_method {};
/// CVODES with forward sensitivities, or on request with the cheaper method of forward and adjoint.
struct forward_method : configured_method {};
/// A pair of methods whose gradients are compared.
struct checked_method : configured_method {};

/// Return the relative tolerance of the states.
inline double relative_tolerance(const std::string&, const step_options& o) { return o.states.relative; }
inline double relative_tolerance(const ode_adjoint_options& o) { return o.forward.relative; }
inline double relative_tolerance(const ode_forward_options& o) { return o.states.relative; }
inline double relative_tolerance(const ode_forward_options& o, const ode_adjoint_options&) { return o.states.relative; }

/// A maker that writes its name and its options, which `read_maker` reads.
template <class Make, class... Options>
struct named_maker {
  std::string name;
  Make make;
  std::tuple<Options...> options;

  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    return make(function, system, required);
  }
  double tolerance() const {
    return std::apply([](const auto&... each) { return relative_tolerance(each...); }, options);
  }
  void write(portable_writer& to) const {
    to(name);
    std::apply(to, options);
  }
};
template <class Make, class... Options>
ode_maker make_named(std::string name, Make make, const Options&... options) {
  return named_maker<Make, Options...>{std::move(name), std::move(make), {options...}};
}

ode_maker one_step_maker(const std::string& method, const step_options& options);
ode_maker adjoint_maker(const ode_adjoint_options& options);
ode_maker forward_maker(const ode_forward_options& options);
ode_maker weighed_maker_of(const ode_forward_options& forward, const ode_adjoint_options& adjoint);

/// A kind of operation that can be stored, and its reader (pickle.cpp).
struct portable_kind {
  std::string_view name;
  portable_names::external_reader read;
};
portable_kind ode_kind();
portable_kind event_kind();
portable_kind dae_kind();
portable_kind steady_kind();
/// Reads a stored maker of solvers.
ode_maker read_maker(portable_reader& from);

void register_forward_method(pybind11::module_& m);  // after register_ode, as the next function
void register_checked_method(pybind11::module_& m);
void register_steady(pybind11::module_& m);
void register_dae(pybind11::module_& m);

}  // namespace agrad::python
