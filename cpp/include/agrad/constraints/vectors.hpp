// Vectors: ordered vectors, simplexes, vectors that sum to zero, unit vectors; and matrices of simplexes.
//
// Simplexes are softmax of numbers that sum to zero, so that all entries are treated alike (isometric log ratios, Egozcue et
// al. 2003); Python's agrad.transforms has the same maps. The log Jacobian of a simplex is that of its first entries.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <agrad/constraints/entries.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/power.hpp>

namespace agrad {

namespace detail {

/// Returns n numbers that sum to zero from n - 1 coordinates in the orthonormal vectors (1, ..., 1, -k, 0, ..., 0) / sqrt(k (k
/// + 1)).
template <class T>
free_vector<T> contrasts_to_values(const free_vector<T>& y) {
  free_vector<T> x(y.size() + 1);
  T sum(0.0);
  for (eigen_index k = y.size(); k > 0; --k) {
    const auto ones = static_cast<double>(k);
    const T step = y[k - 1] / std::sqrt(ones * (ones + 1));
    x[k] = sum - ones * step;
    sum += step;
  }
  x[0] = sum;
  return x;
}

/// Returns the coordinates of contrasts_to_values. Differences of neighbours come first: what all entries share cancels
/// exactly.
template <class T>
free_vector<T> values_to_contrasts(const free_vector<T>& x) {
  free_vector<T> y(x.size() - 1);
  T sum(0.0);
  for (eigen_index k = 1; k < x.size(); ++k) {
    const auto ones = static_cast<double>(k);
    sum += ones * (x[k - 1] - x[k]);
    y[k - 1] = sum / std::sqrt(ones * (ones + 1));
  }
  return y;
}

/// Returns the logarithms of the simplex of free numbers.
template <class T>
free_vector<T> log_simplex(const free_vector<T>& y) {
  free_vector<T> x = contrasts_to_values(y);
  double largest = -infinity;
  for (eigen_index i = 0; i < x.size(); ++i) largest = std::max(largest, primal_value(x[i]));
  T sum(0.0);
  for (eigen_index i = 0; i < x.size(); ++i) sum += exp(x[i] - largest);
  const T log_sum = largest + log(sum);
  for (eigen_index i = 0; i < x.size(); ++i) x[i] = x[i] - log_sum;
  return x;
}

/// Returns the simplex of free numbers; adds the log Jacobian to lp.
template <class T, class LP>
free_vector<T> simplex_of(const free_vector<T>& y, LP& lp) {
  free_vector<T> x = log_simplex(y);
  lp += 0.5 * std::log(static_cast<double>(x.size()));
  for (eigen_index i = 0; i < x.size(); ++i) {
    lp += x[i];
    x[i] = exp(x[i]);
  }
  return x;
}

/// Returns the free numbers of a simplex, of which `place` makes the places of entries in messages.
template <class T, class Place>
free_vector<T> free_of_simplex(std::string_view function, const free_vector<T>& x, const Place& place) {
  double sum = 0;
  free_vector<T> logs(x.size());
  for (eigen_index i = 0; i < x.size(); ++i) {
    const double value = primal_value(x[i]);
    require(value > 0, function, place(i), value, "positive");
    sum += value;
    logs[i] = log(x[i]);
  }
  if (AGRAD_UNLIKELY(!(std::abs(sum - 1) <= constraint_tolerance)))
    fail_entry(function, "the sum of x", entry_place(), sum, "1", quiet_nan);
  return values_to_contrasts(logs);
}

/// A sum that nobody reads.
struct no_sum {
  template <class T>
  void operator+=(const T&) const {}
};

/// Returns a vector of stored scalars.
template <class V>
free_vector<promoted_t<V>> evaluated_vector(std::string_view function, std::string_view argument, const V& v,
                                            eigen_index least) {
  require_least(function, argument, v.size(), least);
  return v;
}

template <class V, class LP>
auto ordered_of(std::string_view function, bool is_positive, const V& y, LP& lp) {
  using T = promoted_t<V>;
  const free_vector<T> free = evaluated_vector(function, "y", y, 1);
  free_vector<T> x(free.size());
  for (eigen_index i = 0; i < free.size(); ++i) {
    const bool is_step = i > 0 || is_positive;
    if (is_step) lp += free[i];
    x[i] = !is_step ? free[i] : i == 0 ? T(exp(free[i])) : T(x[i - 1] + exp(free[i]));
  }
  return x;
}
template <class V>
auto free_of_ordered(std::string_view function, bool is_positive, const V& x) {
  using T = promoted_t<V>;
  const free_vector<T> value = evaluated_vector(function, "x", x, 1);
  free_vector<T> y(value.size());
  for (eigen_index i = 0; i < value.size(); ++i) {
    const double at = primal_value(value[i]), before = i > 0 ? primal_value(value[i - 1]) : is_positive ? 0 : -infinity;
    require(at > before, function, {i, -1}, at, i > 0 ? "greater than the entry before it," : "greater than", before);
    y[i] = i == 0 && !is_positive ? value[i] : i == 0 ? T(log(value[i])) : T(log(value[i] - value[i - 1]));
  }
  return y;
}

}  // namespace detail

/// Returns a vector whose entries increase: the first entry is free, each step is exp of a free number.
template <class V>
auto ordered_constrain(const V& y) {
  detail::no_sum none;
  return detail::ordered_of("ordered_constrain", false, y, none);
}
/// Does the same as `ordered_constrain`, and adds the log Jacobian to lp.
template <class V, class LP>
auto ordered_jacobian(const V& y, LP& lp) {
  return detail::ordered_of("ordered_jacobian", false, y, lp);
}
/// Returns the free numbers of an ordered vector. Throws DomainError unless the entries increase.
template <class V>
auto ordered_unconstrain(const V& x) {
  return detail::free_of_ordered("ordered_unconstrain", false, x);
}

/// Returns a vector of positive entries that increase: the first entry and each step are exp of a free number.
template <class V>
auto positive_ordered_constrain(const V& y) {
  detail::no_sum none;
  return detail::ordered_of("positive_ordered_constrain", true, y, none);
}
/// Does the same as `positive_ordered_constrain`, and adds the log Jacobian to lp.
template <class V, class LP>
auto positive_ordered_jacobian(const V& y, LP& lp) {
  return detail::ordered_of("positive_ordered_jacobian", true, y, lp);
}
/// Returns the free numbers of a positive ordered vector. Throws DomainError unless the entries are positive and increase.
template <class V>
auto positive_ordered_unconstrain(const V& x) {
  return detail::free_of_ordered("positive_ordered_unconstrain", true, x);
}

/// Returns a vector of n positive entries that sum to 1, from n - 1 free numbers.
template <class V>
auto simplex_constrain(const V& y) {
  detail::no_sum none;
  return detail::simplex_of(detail::free_vector<promoted_t<V>>(y), none);
}
/// Does the same as `simplex_constrain`, and adds the log Jacobian to lp.
template <class V, class LP>
auto simplex_jacobian(const V& y, LP& lp) {
  return detail::simplex_of(detail::free_vector<promoted_t<V>>(y), lp);
}
/// Returns the free numbers of a simplex. Throws DomainError unless the entries are positive and sum to 1.
template <class V>
auto simplex_unconstrain(const V& x) {
  const auto place = [](Eigen::Index i) { return detail::entry_place{i, -1}; };
  return detail::free_of_simplex("simplex_unconstrain", detail::evaluated_vector("simplex_unconstrain", "x", x, 1), place);
}

/// Returns a vector that sums to zero: orthonormal contrasts of n - 1 free numbers. The log Jacobian, of that map onto the
/// plane, is 0.
/// A matrix of free numbers gives a matrix whose rows and columns sum to zero.
template <class V>
auto sum_to_zero_constrain(const V& y) {
  using T = promoted_t<V>;
  if constexpr (V::ColsAtCompileTime == 1) {
    return detail::contrasts_to_values(detail::free_vector<T>(y));
  } else {
    detail::free_matrix<T> half(y.rows() + 1, y.cols()), x(y.rows() + 1, y.cols() + 1);
    for (Eigen::Index j = 0; j < y.cols(); ++j) half.col(j) = detail::contrasts_to_values(detail::free_vector<T>(y.col(j)));
    for (Eigen::Index i = 0; i < x.rows(); ++i)
      x.row(i) = detail::contrasts_to_values(detail::free_vector<T>(half.row(i))).transpose();
    return x;
  }
}
/// Does the same as `sum_to_zero_constrain`; the log Jacobian is 0.
template <class V, class LP>
auto sum_to_zero_jacobian(const V& y, LP&) {
  return sum_to_zero_constrain(y);
}
/// Returns the free numbers of a vector or matrix that sums to zero. Throws DomainError unless it does.
template <class V>
auto sum_to_zero_unconstrain(const V& x) {
  using T = promoted_t<V>;
  constexpr std::string_view name = "sum_to_zero_unconstrain";
  const auto free_of = [&](const detail::free_vector<T>& line) {
    detail::require_least(name, "x", line.size(), 1);
    double sum = 0, scale = 1;
    for (Eigen::Index i = 0; i < line.size(); ++i) {
      sum += detail::primal_value(line[i]);
      scale = std::max(scale, std::abs(detail::primal_value(line[i])));
    }
    if (!(std::isfinite(sum) && std::abs(sum) <= detail::constraint_tolerance * scale))
      detail::fail_entry(name, "the sum of x", detail::entry_place(), sum, "0", quiet_nan);
    return detail::values_to_contrasts(line);
  };
  if constexpr (V::ColsAtCompileTime == 1) {
    return free_of(detail::free_vector<T>(x));
  } else {
    detail::require_least(name, "x", x.cols(), 1);
    detail::free_matrix<T> half(x.rows(), x.cols() - 1), y(x.rows() - 1, x.cols() - 1);
    for (Eigen::Index i = 0; i < x.rows(); ++i) half.row(i) = free_of(detail::free_vector<T>(x.row(i))).transpose();
    for (Eigen::Index j = 0; j < half.cols(); ++j) y.col(j) = free_of(detail::free_vector<T>(half.col(j)));
    return y;
  }
}

/// Returns a vector of norm 1: n free numbers divided by their norm. Throws DomainError if all are 0 or so small that
/// derivatives overflow.
template <class V>
auto unit_vector_constrain(const V& y) {
  using T = promoted_t<V>;
  const detail::free_vector<T> free = detail::evaluated_vector("unit_vector_constrain", "y", y, 1);
  double largest = 0;
  for (Eigen::Index i = 0; i < free.size(); ++i) largest = std::max(largest, std::abs(detail::primal_value(free[i])));
  constexpr double smallest = std::numeric_limits<double>::min();  // derivatives of smaller numbers overflow
  if (largest < smallest)
    throw DomainError(detail::sentence("unit_vector_constrain", "the largest size of an entry of y", -1, largest,
                                       "at least " + detail::to_text(smallest)));
  T sum(0.0);
  for (Eigen::Index i = 0; i < free.size(); ++i) sum += square(free[i] / largest);
  const T norm = sqrt(sum);
  detail::free_vector<T> x(free.size());
  for (Eigen::Index i = 0; i < free.size(); ++i) x[i] = free[i] / largest / norm;
  return x;
}
/// Does the same as `unit_vector_constrain`, and adds the log density of a normal distribution of y to lp, up to a constant: it
/// gives the norm, which has no effect on the value, a distribution, and the value the uniform one.
template <class V, class LP>
auto unit_vector_jacobian(const V& y, LP& lp) {
  using T = promoted_t<V>;
  for (Eigen::Index i = 0; i < y.size(); ++i) lp += -0.5 * square(T(y[i]));
  return unit_vector_constrain(y);
}
/// Returns the free numbers of a unit vector, which are its entries. Throws DomainError unless the norm is 1.
template <class V>
auto unit_vector_unconstrain(const V& x) {
  double sum = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) sum += std::pow(detail::primal_value(promoted_t<V>(x[i])), 2);
  if (!(std::abs(std::sqrt(sum) - 1) <= detail::constraint_tolerance))
    detail::fail_entry("unit_vector_unconstrain", "the norm of x", detail::entry_place(), std::sqrt(sum), "1", quiet_nan);
  return detail::free_vector<promoted_t<V>>(x);
}

}  // namespace agrad
