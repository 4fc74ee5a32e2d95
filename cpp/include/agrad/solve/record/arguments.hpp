// Arguments: the arguments of a C++ solve as one flat vector, with the places of their variables and tangents.
//
// Arguments may hold doubles, variables and duals. Without its tangents, a dual becomes a variable: its value or, where the
// value is a number, a constant variable. So systems need to support variables only.
// Read first: solve/posed/parts.hpp; solve/system/arguments.hpp, the scalars of any type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/dual/dual.hpp>
#include <agrad/solve/posed/parts.hpp>
#include <agrad/solve/system/arguments.hpp>

namespace agrad::detail {

/// Returns the number of any scalar.
template <class X>
double double_of(const X& x) {
  if constexpr (is_dual<X>)
    return double_of(x.value);
  else
    return detail::value_of(x);
}

/// Returns the numbers of a vector.
template <class Vector>
std::vector<double> doubles_of(const Vector& x) {
  std::vector<double> values;
  for (decltype(x.size()) i = 0; i < x.size(); ++i) values.push_back(double_of(x[i]));
  return values;
}

struct without_tangents {
  const var& operator()(const var& x) const { return x; }
  template <int K>
  const var& operator()(const dual<var, K>& x) const {
    return x.value;
  }
  template <int K>
  var operator()(const dual<double, K>& x) const {
    return constant_var(x.value);
  }
};

/// Returns the argument with duals replaced by variables.
template <class T>
auto primal_argument(const T& x) {
  return active_scalars<T>::template make<var>(x, without_tangents{});
}
template <class T>
using primal_argument_t = std::decay_t<decltype(primal_argument(std::declval<const T&>()))>;

/// The tangents of one number: none where Scalar is no dual.
template <class Scalar>
struct tangents_of {
  using type = std::array<double, 0>;
};
template <class S, int K>
struct tangents_of<dual<S, K>> {
  using type = std::array<S, static_cast<std::size_t>(K)>;
};

/// Scalar: double, var, or the dual that all arguments promote to.
template <class Scalar>
class solve_arguments {
 public:
  using tangents = typename tangents_of<Scalar>::type;
  struct variable {
    std::size_t place;
    tape::index_type index;
  };

  /// The parts must outlive the arguments.
  explicit solve_arguments(const flat_parts& parts) : parts_(&parts), numbers_(parts.size(), 0.0) {
    if constexpr (is_dual<Scalar>) tangents_.resize(parts.size());
  }

  /// Sets a part to all scalars of x: a scalar, an Eigen vector or a std::vector.
  template <class X>
  void give(std::string_view part, const X& x) {
    fill(part, [&] { put_all(x); });
  }
  /// Sets a part to the variables and duals in x, in memory order.
  template <class... X>
  void give_active(std::string_view part, const X&... x) {
    [[maybe_unused]] const auto use = [this](const auto& each) { this->put(each); };
    fill(part, [&] { (active_scalars<X>::each(use, x), ...); });
  }

  /// Sets the numbers from a place on to those of other arguments.
  void give_all(std::size_t place, const solve_arguments& other) {
    std::copy(other.numbers_.begin(), other.numbers_.end(), numbers_.begin() + static_cast<std::ptrdiff_t>(place));
    for (const variable& each : other.variables_) variables_.push_back({place + each.place, each.index});
    std::copy(other.tangents_.begin(), other.tangents_.end(),
              tangents_.begin() + (tangents_.empty() ? 0 : static_cast<std::ptrdiff_t>(place)));
  }

  const std::vector<double>& numbers() const { return numbers_; }
  const std::vector<variable>& variables() const { return variables_; }
  const std::vector<tangents>& all_tangents() const { return tangents_; }

 private:
  template <class Put>
  void fill(std::string_view name, const Put& put_each) {
    const flat_part& part = parts_->at(name);
    at_ = part.begin;
    put_each();
    if (at_ != part.begin + part.size) throw std::logic_error("a solve's part " + std::string(name) + " has another size");
  }

  template <class X>
  void put_all(const X& x) {
    if constexpr (std::is_arithmetic_v<X> || std::is_same_v<X, var> || is_dual<X>)
      put(x);
    else
      for (decltype(x.size()) i = 0; i < x.size(); ++i) put(x[i]);
  }

  template <class X, std::enable_if_t<std::is_arithmetic_v<X>, int> = 0>
  void put(X x) {
    numbers_[at_++] = static_cast<double>(x);
  }
  void put(const var& x) {
    variables_.push_back({at_, tape_access::index_of("solve", x)});
    put(x.val());
  }
  void put(const matrix<var>& x) {
    for (Eigen::Index i = 0; i < x.size(); ++i) put(x[i]);
  }
  template <class S, int K>
  void put(const dual<S, K>& x) {
    std::copy(x.tangent.begin(), x.tangent.end(), tangents_[at_].begin());
    put(x.value);
  }

  const flat_parts* parts_;
  std::size_t at_ = 0;
  std::vector<double> numbers_;
  std::vector<variable> variables_;
  std::vector<tangents> tangents_;
};

}  // namespace agrad::detail
