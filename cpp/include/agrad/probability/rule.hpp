// Probability rule: a log density, log mass or distribution function, stated once for one term, by other rules.
//
// A probability rule derives from probability_rule<arity> and has the members
//     name, text, source   as every rule has
//     reference            one term as an expression in mpmath's functions and the arguments' names (tests compare with this)
//     arguments            for each argument the name, the condition, and whether `prepare` reads the argument
//     pairs                conditions on two arguments together, an array of density_pair (optional)
//     sums                 conditions on an argument and the sum of two others, an array of density_sum (optional)
//     term                 the value of one term, from (included, prepared, x...)
//     prepare              what depends on the arguments marked so alone (optional): computed once if these are single numbers
//     in_support           whether the term is given by `term` at x...; elsewhere it is `outside` (optional: everywhere)
//     is_product           whether terms are multiplied, as those of distribution functions are, instead of added (optional)
//     scipy                how the family is called in scipy.stats, at one rule of the family (optional): "gamma(a): x - loc;
//                          a, 1 / scale" means the distribution gamma with the shape a, and the rule's arguments for SciPy's.
//                          Two distributions are separated by "|"; a shape with a condition of its own is "p {between 0 and
//                          1}"
//     octets               formulas for eight terms at once, and for one, with partial derivatives by hand, for rules whose
//                          time counts (optional; see probability/octets.hpp)
// The functions are templates on the scalars of the arguments, which are numbers, duals, or whole arrays of a recording
// (`traced`). They branch by `either`. Arguments that must be whole numbers are data: they have no derivative, whatever their
// scalar is. Derivatives to any order follow from the rules that `term` consists of; where their sum would cancel, `term` uses
// a rule that has the sum as a whole (`betaln`, `kl_div`).
//
// rules/density has rules that are formulas for octets alone, which recorded programs use, too.
// Read next: families/positive/exponential.hpp, a family to imitate; probability/apply.hpp, the engines.
#pragma once

#include <type_traits>

#include <agrad/rules/density/conditions.hpp>
#include <agrad/rules/density/rule.hpp>
#include <agrad/rules/promote.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad {

/// The defaults of probability rules.
template <int Arity>
struct probability_rule {
  static constexpr int arity = Arity;
  static constexpr std::string_view source = {};
  static constexpr std::array<density_pair, 0> pairs{};
  static constexpr std::array<density_sum, 0> sums{};
  static constexpr std::string_view scipy = {};
  static constexpr bool is_product = false;
  static constexpr double outside = -infinity;
  using parts = density_parts<Arity>;

  struct nothing {};
  template <class... X>
  static nothing prepare(const parts&, const X&...) {
    return {};
  }
  template <class... X>
  static std::true_type in_support(const X&...) {
    return {};
  }
};

}  // namespace agrad
