// Apply density: passes the arguments of a call (numbers, vectors, Eigen arrays) to an engine.
//
// The engine is that of the arguments' common scalar: double here, var in tape/density.hpp, dual in dual/density.hpp. Sizes and
// values are checked here, once for all engines.
#pragma once

#include <array>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/rules/array.hpp>
#include <agrad/rules/density/density.hpp>

namespace agrad {

namespace detail {

/// The scalar of an argument: its type, or the type of its entries; double for all numbers. Engines specialise this for their
/// types.
template <class X, class = void>
struct scalar_of {
  using type = std::conditional_t<std::is_arithmetic_v<X>, double, X>;
};
template <class X>
struct scalar_of<X, std::enable_if_t<is_eigen<X>>> : scalar_of<typename X::Scalar> {};
template <class X, class A>
struct scalar_of<std::vector<X, A>> : scalar_of<X> {};
template <class X>
using scalar_of_t = typename scalar_of<X>::type;

/// The scalar to which all the others convert.
template <class... S>
struct common_scalar;
template <class S>
struct common_scalar<S> {
  using type = S;
};
template <class S, class R, class... Rest>
struct common_scalar<S, R, Rest...> : common_scalar<std::conditional_t<std::is_convertible_v<S, R>, R, S>, Rest...> {};

/// How an argument is read: a number here, sequences below. `data` returns a pointer to consecutive entries, or null. Engines
/// specialise this for their sequence types.
template <class X, class = void>
struct sequence {
  static constexpr bool is_scalar = true;
  static std::size_t size(const X&) { return 1; }
  static const X& at(const X& x, std::size_t) { return x; }
};
template <class X, class A>
struct sequence<std::vector<X, A>> {
  static constexpr bool is_scalar = false;
  static std::size_t size(const std::vector<X, A>& x) { return x.size(); }
  static decltype(auto) at(const std::vector<X, A>& x, std::size_t i) { return x[i]; }
  static const X* data(const std::vector<X, A>& x) { return x.data(); }
};
template <class X>
struct sequence<X, std::enable_if_t<is_eigen<X>>> {  // a plain matrix or array, in column-major order
  static constexpr bool is_scalar = false;
  static std::size_t size(const X& x) { return static_cast<std::size_t>(x.size()); }
  static decltype(auto) at(const X& x, std::size_t i) {
    const Eigen::Index place = static_cast<Eigen::Index>(i);
    return x.coeff(place % x.rows(), place / x.rows());
  }
  static const typename X::Scalar* data(const X& x) { return X::IsVectorAtCompileTime || !X::IsRowMajor ? x.data() : nullptr; }
};

/// An argument as an array of S: in place for a sequence of S with consecutive entries, else a copy.
template <class S, class X, class = void>
class density_operand {
 public:
  static constexpr bool is_array = true;
  explicit density_operand(const X& x) {
    if constexpr (std::is_same_v<entry, S>) values_ = sequence<X>::data(x);
    if (values_ != nullptr) return;
    const std::size_t size = sequence<X>::size(x);
    if (size > few_.size()) many_.reset(new S[size]);  // not set to zero first, as a vector's entries would be
    S* copy = size > few_.size() ? many_.get() : few_.data();
    for (std::size_t i = 0; i < size; ++i) copy[i] = S(sequence<X>::at(x, i));
    values_ = copy;
  }
  density_operand(const density_operand&) = delete;
  density_operand& operator=(const density_operand&) = delete;
  density_input<S> input(bool active) const { return {values_, 1, active, std::is_integral_v<entry>}; }

 private:
  using entry = std::decay_t<decltype(sequence<X>::at(std::declval<const X&>(), 0))>;
  const S* values_ = nullptr;
  std::array<S, std::is_arithmetic_v<S> ? 8 : 0> few_;
  std::unique_ptr<S[]> many_;
};
template <class S, class X>
class density_operand<S, X, std::enable_if_t<sequence<X>::is_scalar>> {
 public:
  static constexpr bool is_array = false;
  explicit density_operand(const X& x) : value_(x) {}
  density_operand(const density_operand&) = delete;
  density_operand& operator=(const density_operand&) = delete;
  density_input<S> input(bool active) const { return {&value_, 0, active}; }

 private:
  S value_;
};

/// The engine of the densities on scalar S: `apply<Rule, propto>(n, x...)`, specialised by each engine.
template <class S>
struct density_engine;

/// The engine of scalars that record nothing: sums the terms on the scalar itself.
template <class S>
struct direct_density_engine {
  template <class Rule, bool propto, class... X>
  static S apply(std::size_t n, const X&... x) {
    return sum<Rule, propto>(n, density_operand<S, X>(x)...);
  }

 private:
  template <class Rule, bool propto, class... X>
  static S sum(std::size_t n, const density_operand<S, X>&... x) {
    const density_inputs<Rule, S> in{x.input(!std::is_same_v<scalar_of_t<X>, double>)...};
    density_check<Rule>(n, in);
    return density_value<Rule>(n, in, parts_of<Rule>(in, propto));
  }
};
template <>
struct density_engine<double> : direct_density_engine<double> {};

/// Returns the common length of the sequences among the arguments, 1 if all are scalars. Throws ShapeError if the lengths
/// differ.
template <class Rule, class... X>
std::size_t density_size(const X&... x) {
  constexpr bool is_scalar[] = {sequence<X>::is_scalar...};
  const std::size_t sizes[] = {sequence<X>::size(x)...};
  std::size_t first = 0;
  while (first < sizeof...(X) && is_scalar[first]) ++first;
  if (first == sizeof...(X)) return 1;
  for (std::size_t k = first + 1; k < sizeof...(X); ++k)
    if (!is_scalar[k])
      check_size(Rule::name, Rule::arguments[k].name, sizes[k], sizes[first],
                 "all sequences have one length, numbers broadcast");
  return sizes[first];
}

/// Whether an Eigen expression is a vector with consecutive entries.
template <class X, class = void>
inline constexpr bool is_contiguous_vector = false;
template <class X>
inline constexpr bool is_contiguous_vector<X, std::enable_if_t<is_eigen<X>>> =
    X::IsVectorAtCompileTime && (X::Flags & Eigen::DirectAccessBit) != 0 && X::InnerStrideAtCompileTime == 1;

/// Evaluates Eigen's expressions once. Maps and segments of vectors remain in place.
template <class X>
decltype(auto) evaluated_argument(const X& x) {
  if constexpr (is_eigen<X> && !is_contiguous_vector<X>)
    return x.eval();
  else
    return (x);
}

template <class Rule, bool propto, class... X>
auto apply_density_evaluated(const X&... x) {
  using S = typename common_scalar<scalar_of_t<X>...>::type;
  const std::size_t n = density_size<Rule>(x...);
  return density_engine<S>::template apply<Rule, propto>(n, x...);
}

}  // namespace detail

/// Returns the sum of a density's terms over its arguments, computed by their engine.
template <class Rule, bool propto, class... X>
auto apply_density(const X&... x) {
  static_assert(sizeof...(X) == Rule::arity, "the density takes another number of arguments");
  return detail::apply_density_evaluated<Rule, propto>(detail::evaluated_argument(x)...);
}

}  // namespace agrad
