// Density rule: one log probability density, stated once for one term.
//
// A density rule derives from density_rule<arity> and gives
//     name, text, source   as a scalar rule does
//     arguments            for each its name, the condition on it, and whether `prepared` reads it
//     prepared<S>          what depends on the arguments marked so alone, made from (x, parts); it is made once when these are
//                          scalars, and prepared<octet> is then made from prepared<double>
//     in_support(x)        whether the density is not zero at x and all around it, where that is not everywhere
//     term                 value of one term in the support, and its partial derivatives when they are wanted
// all templated on their scalar S. `term` may not branch on S, which may be eight numbers at once; a comparison in
// `in_support` is true where it is true of all eight.
// Read next: rules/density/normal.hpp, a family to imitate; rules/density/loop.hpp, how terms are summed.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include <agrad/base/check.hpp>

namespace agrad {

/// What a rule says of one of its arguments.
struct density_argument {
  std::string_view name;
  condition must;
  bool prepared = false;  // `prepared` reads it
};

/// One argument of a call: one value (stride 0) or one for each term (stride 1).
template <class S>
struct density_input {
  const S* values = nullptr;
  std::size_t stride = 0;
  bool active = false;  // derivatives with respect to it are wanted
};

/// Which parts of a log density are kept: all, or with `propto` those that depend on an active argument.
template <int Arity>
struct density_parts {
  bool propto = false;
  std::array<bool, std::size_t{Arity}> active{};

  bool constants() const { return !propto; }
  /// Whether a part that depends on these arguments is kept.
  bool of(std::initializer_list<int> arguments) const {
    if (!propto) return true;
    for (const int i : arguments)
      if (active[static_cast<std::size_t>(i)]) return true;
    return false;
  }
};

/// What all density rules have.
template <int Arity>
struct density_rule {
  static constexpr int arity = Arity;
  static constexpr std::string_view source = {};
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
