// ODE arguments: the values, variables and fresh copies of whatever a user hands on to a right-hand side.
//
// An argument may be anything. The variables in it (var, Eigen of var, matrix<var>, std::vector and std::tuple of these, to
// any depth) are its active scalars, counted in the order in which they lie in memory. `argument<T>` knows for each kind of
// type the same four things: its type without variables, its values, where its variables are, and how to make new ones.
// Read next: solve/functor_system.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <agrad/tape/matrix.hpp>
#include <agrad/tape/var.hpp>

namespace agrad::detail {

/// Without variables: handed on as it is.
template <class T, class = void>
struct argument {
  static constexpr bool active = false;
  using value_type = T;
  static const T& values(const T& x) { return x; }
  static void collect(const T&, std::vector<tape::index_type>&) {}
  static void renew(T&, const T&) {}
  static void read_adjoints(const T&, double*&) {}
};

template <class T>
using argument_value_t = typename argument<T>::value_type;

template <>
struct argument<var> {
  static constexpr bool active = true;
  using value_type = double;
  static double values(const var& x) { return x.val(); }
  /// Appends where the variables' adjoints are. The variables are marked as shared: an increment must not reuse the index.
  static void collect(const var& x, std::vector<tape::index_type>& indices) {
    const var shared(x);
    indices.push_back(shared.index());
  }
  /// Puts new independent variables with the given values in the place of the old ones.
  static void renew(var& x, double value) { x = var(value); }
  /// Copies the variables' adjoints to the given place and moves it on.
  static void read_adjoints(const var& x, double*& to) { *to++ = x.adj(); }
};

template <class Active, class Passive>
struct eigen_argument {
  static constexpr bool active = true;
  using value_type = Passive;
  static Passive values(const Active& x) {
    Passive v(x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.size(); ++i) v.data()[i] = x.data()[i].val();
    return v;
  }
  static void collect(const Active& x, std::vector<tape::index_type>& indices) {
    for (Eigen::Index i = 0; i < x.size(); ++i) argument<var>::collect(x.data()[i], indices);
  }
  static void renew(Active& x, const Passive& v) {
    for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = var(v.data()[i]);
  }
  static void read_adjoints(const Active& x, double*& to) {
    for (Eigen::Index i = 0; i < x.size(); ++i) *to++ = x.data()[i].adj();
  }
};
template <int R, int C, int O, int MR, int MC>
struct argument<Eigen::Matrix<var, R, C, O, MR, MC>>
    : eigen_argument<Eigen::Matrix<var, R, C, O, MR, MC>, Eigen::Matrix<double, R, C, O, MR, MC>> {};
template <int R, int C, int O, int MR, int MC>
struct argument<Eigen::Array<var, R, C, O, MR, MC>>
    : eigen_argument<Eigen::Array<var, R, C, O, MR, MC>, Eigen::Array<double, R, C, O, MR, MC>> {};

template <>
struct argument<matrix<var>> {
  static constexpr bool active = true;
  using value_type = Eigen::MatrixXd;
  static Eigen::MatrixXd values(const matrix<var>& x) { return x.val(); }
  static void collect(const matrix<var>& x, std::vector<tape::index_type>& indices) {
    for (Eigen::Index i = 0; i < x.size(); ++i) indices.push_back(x[i].index());
  }
  static void renew(matrix<var>& x, const Eigen::MatrixXd& v) { x = matrix<var>(v); }
  static void read_adjoints(const matrix<var>& x, double*& to) {
    const Eigen::MatrixXd adjoints = x.adj();
    to = std::copy_n(adjoints.data(), adjoints.size(), to);
  }
};

template <class T>
struct argument<std::vector<T>, std::enable_if_t<argument<T>::active>> {
  static constexpr bool active = true;
  using value_type = std::vector<argument_value_t<T>>;
  static value_type values(const std::vector<T>& x) {
    value_type v;
    v.reserve(x.size());
    for (const T& each : x) v.push_back(argument<T>::values(each));
    return v;
  }
  static void collect(const std::vector<T>& x, std::vector<tape::index_type>& indices) {
    for (const T& each : x) argument<T>::collect(each, indices);
  }
  static void renew(std::vector<T>& x, const value_type& v) {
    for (std::size_t i = 0; i < x.size(); ++i) argument<T>::renew(x[i], v[i]);
  }
  static void read_adjoints(const std::vector<T>& x, double*& to) {
    for (const T& each : x) argument<T>::read_adjoints(each, to);
  }
};

template <class... T>
struct argument<std::tuple<T...>, std::enable_if_t<(argument<T>::active || ...)>> {
  static constexpr bool active = true;
  using value_type = std::tuple<argument_value_t<T>...>;
  static value_type values(const std::tuple<T...>& x) {
    return std::apply([](const T&... each) { return value_type(argument<T>::values(each)...); }, x);
  }
  static void collect(const std::tuple<T...>& x, std::vector<tape::index_type>& indices) {
    std::apply([&](const T&... each) { (argument<T>::collect(each, indices), ...); }, x);
  }
  static void renew(std::tuple<T...>& x, const value_type& v) { renew_each(x, v, std::index_sequence_for<T...>{}); }
  static void read_adjoints(const std::tuple<T...>& x, double*& to) {
    std::apply([&](const T&... each) { (argument<T>::read_adjoints(each, to), ...); }, x);
  }

 private:
  template <std::size_t... I>
  static void renew_each(std::tuple<T...>& x, const value_type& v, std::index_sequence<I...>) {
    (argument<T>::renew(std::get<I>(x), std::get<I>(v)), ...);
  }
};

/// An argument as it is kept: expressions of the tape and of Eigen are evaluated, references become copies.
template <class X>
auto kept_argument(const X& x) {
  if constexpr (is_expression<X>)
    return var(x);
  else if constexpr (std::is_base_of_v<Eigen::EigenBase<X>, X>)
    return typename X::PlainObject(x);
  else
    return std::decay_t<const X&>(x);
}
template <class X>
using kept_argument_t = decltype(kept_argument(std::declval<const X&>()));

template <class X>
inline constexpr bool is_active = argument<kept_argument_t<X>>::active;

}  // namespace agrad::detail
