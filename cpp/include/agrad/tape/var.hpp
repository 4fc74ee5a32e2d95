// var: the scalar of reverse mode. A value, the index of its adjoint, and the number of its scope.
//
//     agrad::var x1 = 10.3, x2 = 1.1;
//     agrad::var y = x1 * x2 * 2 + 7;
//     y.grad();                         // x1.adj() is 2.2, x2.adj() is 20.6
//
// Accumulation (`a += e`) is an increment: a keeps its index, and the statement has only the leaves of e. That is correct as
// long as nothing refers to the old value of a by the same index. Copying a, or using a in an expression, therefore marks a as
// shared, and a shared variable gets a fresh index instead. A variable that was moved from has no index, and its value is nan,
// so that results computed from that value are recognisable; its adjoint is refused. Read next: tape/scope.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/rules/arithmetic.hpp>
#include <agrad/tape/expression.hpp>

namespace agrad {

class var {
 public:
  /// The constant zero, without an adjoint.
  var() = default;

  /// An independent variable.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  var(T value) : value_(static_cast<double>(value)) {  // NOLINT: a number is a var
    static_assert(detail::fits_double<T>::value);
    tape& t = tape::current();
    set(t.leaf(), t);
  }

  /// The result of an expression: one statement.
  template <int N>
  AGRAD_ALWAYS_INLINE var(const expression<N>& e) {  // NOLINT: an expression is a var
    assign(e);
  }

  var(const var& other) : value_(other.value_), index_(other.index_), tag_(other.share()) {}
  var(var&& other) noexcept : value_(other.value_), index_(other.index_), tag_(other.tag_) { other.mark_moved(); }
  var& operator=(const var& other) {
    tag_ = other.share();
    value_ = other.value_;
    index_ = other.index_;
    return *this;
  }
  var& operator=(var&& other) noexcept {
    value_ = other.value_;
    index_ = other.index_;
    tag_ = other.tag_;
    if (this != &other) other.mark_moved();
    return *this;
  }
  ~var() = default;

  template <class X, class = detail::operand_t<X>>
  AGRAD_ALWAYS_INLINE var& operator+=(const X& x) {
    return accumulate<1>(x);
  }
  template <class X, class = detail::operand_t<X>>
  AGRAD_ALWAYS_INLINE var& operator-=(const X& x) {
    return accumulate<-1>(x);
  }
  template <class X, class = detail::operand_t<X>>
  AGRAD_ALWAYS_INLINE var& operator*=(const X& x) {
    return assign(*this * x);
  }
  template <class X, class = detail::operand_t<X>>
  AGRAD_ALWAYS_INLINE var& operator/=(const X& x) {
    return assign(*this / x);
  }
  var& operator++() { return *this += 1.0; }
  var& operator--() { return *this -= 1.0; }

  double val() const { return value_; }

  /// Returns the adjoint after a reverse pass, zero before. Throws ScopeError if the variable's scope has ended, or if the
  /// variable was moved from.
  double adj() const {
    if (index_ == 0) return adjoint_of_constant();
    return tape::read_adjoint("adj", index_, tag_ >> 1);
  }

  /// Runs a reverse pass from this variable: the adjoints of all variables become derivatives of this variable.
  void grad() const { reached_tape("grad").differentiate(index_); }

  /// Does the same, but adds the derivatives to the present adjoints.
  void accumulate_grad() const {
    tape& t = reached_tape("accumulate_grad");
    const tape::index_type first = t.first_reached();
    std::vector<double> earlier(t.end_index() - first);
    for (std::size_t i = 0; i < earlier.size(); ++i) earlier[i] = t.adjoint(first + static_cast<tape::index_type>(i));
    grad();
    for (std::size_t i = 0; i < earlier.size(); ++i) t.adjoint(first + static_cast<tape::index_type>(i)) += earlier[i];
  }

  /// Runs grad() and copies the derivatives with respect to theta into g. g is resized; a std::array must have the size of
  /// theta. Throws std::invalid_argument if theta is one variable repeated, such as std::vector<var>(5, 2.0).
  void grad(const std::vector<var>& theta, std::vector<double>& g) const { gradient_into(theta, g); }
  /// Does the same for Eigen vectors and std::array.
  template <class Theta, class Gradient>
  void grad(const Theta& theta, Gradient& g) const {
    gradient_into(theta, g);
  }

  tape::index_type index() const { return index_; }

 private:
  friend struct detail::operand_of<var>;
  friend struct detail::tape_access;
  static constexpr std::uint32_t shared = 1, moved = 0xffffffff;

  var(double value, tape::index_type index, std::uint32_t tag) : value_(value), index_(index), tag_(tag) {}

  void set(tape::index_type index, const tape& on) {
    index_ = index;
    tag_ = on.scope_id() << 1;
  }

  std::uint32_t share() const { return tag_ |= shared; }

  void mark_moved() {
    value_ = std::numeric_limits<double>::quiet_NaN();
    index_ = 0;
    tag_ = moved;
  }

  template <class Theta, class Gradient>
  void gradient_into(const Theta& theta, Gradient& g) const {
    using size_type = decltype(theta.size());
    tape& t = reached_tape("grad");
    const size_type n = theta.size();
    const std::uint32_t here = t.scope_id(), first = n > 0 ? theta[0].index_ : 0;
    std::uint32_t elsewhere = 0, several = first == 0 || n < 2;
    for (size_type i = 0; i < n; ++i) elsewhere |= (theta[i].tag_ >> 1) ^ here, several |= theta[i].index_ ^ first;
    if (AGRAD_UNLIKELY(several == 0)) fail_same();
    resize(g, n);
    grad();
    if (elsewhere != 0) {
      for (size_type i = 0; i < n; ++i) g[i] = theta[i].adj();
    } else {
      const double* adjoints = &t.adjoint(0);  // grad() has computed all adjoints
      for (size_type i = 0; i < n; ++i) g[i] = theta[i].index_ == 0 ? 0.0 : adjoints[theta[i].index_];
    }
  }
  template <class Gradient, class Size>
  static auto resize(Gradient& g, Size n) -> decltype(g.resize(n)) {
    return g.resize(n);
  }
  template <class T, std::size_t N, class Size>
  static void resize(std::array<T, N>&, Size n) {
    if (AGRAD_UNLIKELY(static_cast<std::size_t>(n) != N))
      throw ShapeError(
          detail::sentence("grad", "the size of g", -1, static_cast<long>(N), "that of theta, " + std::to_string(n)));
  }
  [[noreturn]] AGRAD_COLD static void fail_same() {
    throw std::invalid_argument(
        "grad: theta holds copies of one variable, but must hold different variables; fill a std::vector<var> from a "
        "vector of numbers, because std::vector<var>(n, x) copies x");
  }

  // Always inlined, so that a sum in a loop stays in registers.
  template <class E>
  AGRAD_ALWAYS_INLINE var& assign(const E& e) {
    tape& t = tape::current();
    const tape::index_type index = t.leaf();
    detail::write_statement(t, index, e, 1);
    value_ = e.value;
    set(index, t);
    return *this;
  }

  template <int Sign, class X>
  AGRAD_ALWAYS_INLINE var& accumulate(const X& x) {
    if constexpr (std::is_arithmetic_v<X>) {  // a number changes the value and no derivative
      if (index_ == 0) return *this = var(value_ + Sign * static_cast<double>(x));
      return add<Sign>(detail::constant{static_cast<double>(x)});
    } else {
      return add<Sign>(detail::operand_of<X>::make(x));
    }
  }
  template <int Sign, class E>
  AGRAD_ALWAYS_INLINE var& add(const E& e);

  tape& reached_tape(const char* function) const {
    tape& t = tape::current();
    if (AGRAD_UNLIKELY(tag_ >> 1 != t.scope_id())) {
      if (index_ != 0)
        t.check_reached(function, "variable", tag_ >> 1);
      else
        check_not_moved(function);
    }
    return t;
  }
  void check_usable(const char* function) const {
    if (index_ != 0) return tape::current().check_operand(function, "variable", tag_ >> 1);
    check_not_moved(function);
  }
  void check_not_moved(const char* function) const {
    if (AGRAD_UNLIKELY(tag_ == moved)) fail_moved(function);
  }
  double adjoint_of_constant() const {
    check_not_moved("adj");
    return 0;
  }
  [[noreturn]] AGRAD_COLD static void fail_moved(const char* function) {
    throw ScopeError(std::string(function) + ": the variable was moved from; assign to it before it is used");
  }

  double value_ = 0;
  tape::index_type index_ = 0;
  mutable std::uint32_t tag_ = 0;  // scope number, and in the lowest bit whether the index is shared
};

/// Returns whether a variable is the constant zero, which has no adjoint; for the tangents of dual<var>.
inline bool is_constant_zero(const var& x) { return x.index() == 0 && x.val() == 0; }

namespace detail {
/// Access to variables for operations and functionals, not for users.
struct tape_access {
  /// Returns a variable of the innermost scope whose index belongs to a closure; a constant if the index is 0.
  static var variable(double value, tape::index_type index, const tape& on) { return var(value, index, on.scope_id() << 1); }
  /// Returns a further variable with an existing index of a scope; shared from the start.
  static var name(double value, tape::index_type index, std::uint32_t scope) {
    return var(value, index, scope << 1 | var::shared);
  }
  /// Throws ScopeError unless a variable may be used on the current tape.
  static void check_operand(const char* function, const var& x) { x.check_usable(function); }
  /// Returns the index of a variable for a closure. The variable is marked, because an increment must not reuse the index.
  static tape::index_type index_of(const char* function, const var& x) {
    x.share();
    check_operand(function, x);
    return x.index_;
  }
  /// Runs a reverse pass from a variable, which is a constant if the variable lies outside of the pass.
  static void reverse_from(const var& y) {
    tape& t = tape::current();
    y.check_usable("grad");
    t.differentiate(y.index());
  }
};

template <>
struct operand_of<var> {
  using type = leaf;
  AGRAD_ALWAYS_INLINE static leaf make(const var& x) {
    x.share();
#ifdef AGRAD_CHECKS_OPERANDS
    tape_access::check_operand("expression", x);
    return {x.value_, x.index_, x.index_ == 0 ? 0 : x.tag_ >> 1};
#else
    return {x.value_, x.index_};
#endif
  }
};
}  // namespace detail

template <int Sign, class E>
var& var::add(const E& e) {
  // The value is read before and written after every possible call, so that a loop keeps the value in a register: the access to
  // memory takes three times as long as all the rest.
  const double value = value_ + Sign * e.value;
  tape& t = tape::current();
  if (AGRAD_UNLIKELY(tag_ != t.scope_id() << 1 || index_ == 0)) {
    if constexpr (Sign > 0)
      return assign(*this + e);
    else
      return assign(*this - e);
  }
  detail::write_statement(t, index_, e, Sign);
  value_ = value;
  return *this;
}

// ---- comparison and streaming: by value --------------------------------------------------------------------------------

namespace detail {
template <class X>
double value_of(const X& x) {
  if constexpr (std::is_arithmetic_v<X>)
    return static_cast<double>(x);
  else
    return x.val();
}
template <class X>
inline constexpr bool on_tape = std::is_same_v<X, var> || is_expression<X>;
template <class X, class Y>
using if_compared =
    std::enable_if_t<(on_tape<X> && (on_tape<Y> || std::is_arithmetic_v<Y>)) || (on_tape<Y> && std::is_arithmetic_v<X>), bool>;
}  // namespace detail

template <class X, class Y>
detail::if_compared<X, Y> operator<(const X& x, const Y& y) {
  return detail::value_of(x) < detail::value_of(y);
}
template <class X, class Y>
detail::if_compared<X, Y> operator>(const X& x, const Y& y) {
  return detail::value_of(x) > detail::value_of(y);
}
template <class X, class Y>
detail::if_compared<X, Y> operator<=(const X& x, const Y& y) {
  return detail::value_of(x) <= detail::value_of(y);
}
template <class X, class Y>
detail::if_compared<X, Y> operator>=(const X& x, const Y& y) {
  return detail::value_of(x) >= detail::value_of(y);
}
template <class X, class Y>
detail::if_compared<X, Y> operator==(const X& x, const Y& y) {
  return detail::value_of(x) == detail::value_of(y);
}
template <class X, class Y>
detail::if_compared<X, Y> operator!=(const X& x, const Y& y) {
  return detail::value_of(x) != detail::value_of(y);
}

template <class C, class Traits, class X, class = std::enable_if_t<detail::on_tape<X>>>
std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out, const X& x) {
  out << x.val();
  return out;
}

}  // namespace agrad

namespace std {
template <>
class numeric_limits<agrad::var> : public numeric_limits<double> {};
}  // namespace std
