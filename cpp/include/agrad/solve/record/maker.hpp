// ODE maker: makes the solvers of an operation, by a method with options.
//
// Any callable is a maker. Operations can be stored if their maker has a function `write`, whose output `read_maker` turns into
// a maker.
// Read next: solve/record/ode_problem.hpp; solve/record/stored_options.hpp, the fields of the options.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <agrad/program/store/portable.hpp>
#include <agrad/solve/solver/solver.hpp>
#include <agrad/solve/system/ode.hpp>

namespace agrad {

class ode_maker {
 public:
  /// make(function, system, required): returns a solver of the system for the required derivatives; `function` begins messages.
  /// An optional member `write(portable_writer&)` stores the maker, and `tolerance()` is its relative tolerance.
  template <class Make, std::enable_if_t<!std::is_same_v<std::decay_t<Make>, ode_maker>, int> = 0>
  ode_maker(Make make) : make_(make) {  // NOLINT: any callable is a maker
    if constexpr (has_tolerance<Make>) tolerance_ = make.tolerance();
    if constexpr (is_written<Make>) write_ = [make](portable_writer& to) { make.write(to); };
  }

  std::unique_ptr<ode_solver> operator()(const std::string& function, ode_system& system, ode_required required) const {
    return make_(function, system, required);
  }
  /// Returns the relative tolerance of the states; that of a maker without `tolerance()` is taken as 1e-6.
  double tolerance() const { return tolerance_; }
  bool is_portable() const { return write_ != nullptr; }
  void write(portable_writer& to) const { write_(to); }

 private:
  template <class Make>
  struct writes {
    template <class M>
    static auto found(int) -> decltype(std::declval<const M&>().write(std::declval<portable_writer&>()), std::true_type{});
    template <class M>
    static std::false_type found(...);
    static constexpr bool value = decltype(found<Make>(0))::value;
  };
  template <class Make>
  struct tells {
    template <class M>
    static auto found(int) -> decltype(std::declval<const M&>().tolerance(), std::true_type{});
    template <class M>
    static std::false_type found(...);
    static constexpr bool value = decltype(found<Make>(0))::value;
  };
  template <class Make>
  static constexpr bool has_tolerance = tells<Make>::value;
  template <class Make>
  static constexpr bool is_written = writes<Make>::value;

  std::function<std::unique_ptr<ode_solver>(const std::string&, ode_system&, ode_required)> make_;
  std::function<void(portable_writer&)> write_;
  double tolerance_ = 1e-6;
};

}  // namespace agrad
