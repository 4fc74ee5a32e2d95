// Density rule: one log probability density, stated once for one term.
//
// A density rule derives from density_rule<arity> and has the members
//     name, text, source   as a scalar rule does
//     reference            one term as an expression in mpmath's functions and the arguments' names (tests compare with this)
//     arguments            for each argument the name, the condition, and whether `prepared` reads the argument
//     pairs                conditions on two arguments together, an array of density_pair; none by default
//     sums                 conditions on an argument and the sum of two others, an array of density_sum; none by default
//     prepared<S>          data that depend only on the arguments marked so, computed from (x, parts): once if these are
//                          scalars, and prepared<octet> then from prepared<double>
//     in_support(x)        whether the density is positive at x and around x; everywhere by default
//     term                 the value of a term in the support, and the partial derivatives if wanted
// All functions are templates on the scalar S. `term` may not branch on S, which may be eight numbers at once; a comparison in
// `in_support` is true if true for all eight.
// Read next: rules/density/normal.hpp, a family to imitate; rules/density/loop.hpp, how terms are summed.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include <agrad/rules/density/conditions.hpp>

namespace agrad {

/// The description of an argument of a rule.
struct density_argument {
  std::string_view name;
  condition must;
  bool prepared = false;  // `prepared` reads it
};

/// A condition on two arguments of a term together, as a condition on the first one.
struct density_pair {
  std::size_t first, second;  // indices of the arguments
  relation must;
};

/// A condition on an argument and the sum of two others, as a condition on the first one.
struct density_sum {
  std::size_t first, second, third;  // indices of the arguments
  relation must;
};

/// One argument of a call: one value (stride 0) or one for each term (stride 1).
template <class S>
struct density_input {
  const S* values = nullptr;
  std::size_t stride = 0;
  bool active = false;  // derivatives with respect to it are wanted
  bool whole = false;   // the values come from integers
};

/// The parts of a log density that are computed: all, or with `propto` the parts that depend on an active argument.
template <int Arity>
struct density_parts {
  bool propto = false;
  std::array<bool, std::size_t{Arity}> active{};

  bool constants() const { return !propto; }
  /// Returns whether a part that depends on these arguments is computed.
  bool of(std::initializer_list<int> arguments) const {
    if (!propto) return true;
    for (const int i : arguments)
      if (active[static_cast<std::size_t>(i)]) return true;
    return false;
  }
};

/// The defaults of density rules.
template <int Arity>
struct density_rule {
  static constexpr int arity = Arity;
  static constexpr std::string_view source = {};
  static constexpr std::array<density_pair, 0> pairs{};
  static constexpr std::array<density_sum, 0> sums{};
  using parts = density_parts<Arity>;
  /// One value, or one partial derivative, for each argument.
  template <class S>
  using each = std::array<S, std::size_t{Arity}>;
  template <class S>
  static bool in_support(const each<S>&) {
    return true;
  }
};

template <class Rule, class S>
using density_inputs = std::array<density_input<S>, static_cast<std::size_t>(Rule::arity)>;

}  // namespace agrad
