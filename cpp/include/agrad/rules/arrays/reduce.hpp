// Reductions: functions of a whole array, for Eigen's arrays, vectors and matrices of any scalar.
//
//     template <class T> T f(const Eigen::Matrix<T, -1, 1>& x) { return log_sum_exp(x) - prod(x); }
//
// A reduction is a struct with the value for any scalar, and for doubles the value together with the partial derivatives.
// `reduction_engine<T>` evaluates reductions: by the formula of the value for numbers and duals, by one closure on the tape
// (tape/matrix/reduce.hpp). Write agrad::sum(x) if x may be an array of doubles.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/rules/array.hpp>
#include <agrad/rules/arrays/log_shares.hpp>
#include <agrad/rules/exponential.hpp>
#include <agrad/rules/power.hpp>
#include <agrad/rules/values.hpp>

namespace agrad {

namespace detail {

template <class X>
using if_eigen = std::enable_if_t<is_eigen<X>>;

inline constexpr Eigen::Index chunk = 256;  // doubles that fit into the nearest cache

/// Returns the index of the largest entry (Sign 1) or the smallest (Sign -1), the first of equal entries; of the first nan if
/// there is one.
template <int Sign, class X>
Eigen::Index extreme_index(const X& x) {
  Eigen::Index best = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (x.coeff(i) != x.coeff(i)) return i;
    if (Sign > 0 ? x.coeff(best) < x.coeff(i) : x.coeff(i) < x.coeff(best)) best = i;
  }
  return best;
}

struct sum_reduction {
  template <class X>
  static auto value(const X& x) {
    return x.sum();
  }
  static double value_and_partials(const const_array& x, double* partial) {
    std::fill_n(partial, x.size(), 1.0);
    return x.sum();
  }
};

struct prod_reduction {
  template <class X>
  static typename X::Scalar value(const X& x) {
    typename X::Scalar product = 1.0;
    for (Eigen::Index i = 0; i < x.size(); ++i) product *= x.coeff(i);
    return product;
  }
  /// Quotients if the product is a normal number; else products from both ends, which are right beside zeros.
  static double value_and_partials(const const_array& x, double* partial) {
    const double fast = x.prod(), size = std::abs(fast);
    if (size > 1e-290 && size < 1e290) {
      array_map(partial, x.size()) = fast / x;
      if (array_map(partial, x.size()).allFinite()) return fast;
    }
    double before = 1, after = 1;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      partial[i] = before;
      before *= x[i];
    }
    for (Eigen::Index i = x.size(); i-- > 0;) {
      partial[i] *= after;
      after *= x[i];
    }
    return before;
  }
};

struct norm_reduction {
  template <class X>
  static typename X::Scalar value(const X& x) {
    using T = typename X::Scalar;
    T squares = x.matrix().squaredNorm();
    if (squares > 1e-280 && squares < 1e290) return sqrt(squares);
    T largest = 0.0;  // for scaling if squares overflow or lose digits
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const T size = abs(x.coeff(i));
      if (size > largest || size != size) largest = size;
    }
    if (!(largest > 0 && largest < infinity)) return largest;
    squares = 0.0;
    for (Eigen::Index i = 0; i < x.size(); ++i) squares += square(x.coeff(i) / largest);
    return largest * sqrt(squares);
  }
  static double value_and_partials(const const_array& x, double* partial) {
    const double norm = value(x);
    if (norm == 0)
      std::fill_n(partial, x.size(), 0.0);
    else
      array_map(partial, x.size()) = x / norm;
    return norm;
  }
};

struct log_sum_exp_reduction {
  /// log_sum_exp(x) as two summands; their sum would lose digits of the smaller summand, which log_softmax needs.
  template <class T>
  struct parts {
    T largest, rest;
    T sum() const { return largest + rest; }
    /// Returns log_softmax of an entry.
    T logarithm(const T& x) const {
      if (x == largest && !(abs(largest) < infinity)) return -rest;
      return (x - largest) - rest;
    }
  };

  template <class X>
  static parts<typename X::Scalar> split(const X& x) {
    using T = typename X::Scalar;
    if (x.size() == 0) return {T(-infinity), T(0.0)};
    const Eigen::Index top = extreme_index<1>(x);
    const T largest = x.coeff(top);
    const bool is_finite = abs(largest) < infinity;
    T others = 0.0;  // but for the largest, whose power is 1
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      if (i == top) continue;
      if (is_finite)
        others += exp(x.coeff(i) - largest);
      else if (!(x.coeff(i) != largest))  // infinite entries share, as in log_sum_exp_rule
        others += 1.0;
    }
    return {largest, log1p(others)};
  }
  template <class X>
  static typename X::Scalar value(const X& x) {
    return split(x).sum();
  }
  static double value_and_partials(const const_array& x, double* partial) { return split_with_partials(x, partial).sum(); }

  /// The partial derivatives are softmax(x).
  static parts<double> split_with_partials(const const_array& x, double* partial) {
    if (x.size() == 0) return {-infinity, 0};
    const double largest = x.maxCoeff();  // may miss a nan, which then makes the sum nan, and so all weights
    if (!std::isfinite(largest)) return split_infinite(x, largest, partial);
    Eigen::Index top = 0;
    while (x[top] != largest) ++top;
    array_map weight(partial, x.size());
    alignas(64) double difference[chunk];
    double others = 0;
    for (Eigen::Index start = 0; start < x.size(); start += chunk) {
      const Eigen::Index n = std::min(chunk, x.size() - start);
      array_map(difference, n) = x.segment(start, n) - largest;
      values_into<exp_rule>(partial + start, n, static_cast<const double*>(difference));
      if (top >= start && top < start + n) partial[top] = 0;
      others += weight.segment(start, n).sum();
    }
    partial[top] = 1;
    weight *= 1 / (1 + others);
    return {largest, std::log1p(others)};
  }

 private:
  static parts<double> split_infinite(const const_array& x, double largest, double* partial) {
    const double count = static_cast<double>((x == largest).count());
    for (Eigen::Index i = 0; i < x.size(); ++i)
      partial[i] = std::isnan(largest) ? quiet_nan : x[i] == largest ? 1 / count : 0.0;
    return {largest, std::log(count)};
  }
};

/// Returns the sum of counts times log_softmax(x), and its derivatives with respect to x; see rules/arrays/log_shares.hpp.
template <class X>
double log_shares_and_slopes(const X& counts, const X& x, double* slopes) {
  if (x.size() == 0) return 0;
  const Eigen::Index top = extreme_index<1>(x);
  array_map slope(slopes, x.size());
  alignas(64) double below[chunk];
  double rest = 0, sum = 0;
  for (Eigen::Index start = 0; start < x.size(); start += chunk) {
    const Eigen::Index n = std::min(chunk, x.size() - start);
    array_map(below, n) = x.segment(start, n) - x[top];
    values_into<exp_rule>(slopes + start, n, static_cast<const double*>(below));
    if (top >= start && top < start + n) slopes[top] = 0;
    rest += slope.segment(start, n).sum();
    for (Eigen::Index i = 0; i < n; ++i)
      if (counts[start + i] != 0) sum += counts[start + i] * below[i];
  }
  const double total = counts.sum(), share = 1 / (1 + rest);
  slope = counts - total * share * slope;
  slopes[top] = (counts[top] * rest - (total - counts[top])) * share;
  return sum - total * std::log1p(rest);
}

/// Evaluates reductions of arrays of T; the tape specialises this for variables.
template <class T>
struct reduction_engine {
  template <class Reduction, class X>
  static T reduce(const X& x) {
    if constexpr (std::is_same_v<T, double> && std::is_same_v<Reduction, log_sum_exp_reduction>) {
      vector_of<double> weights(x.size());
      return Reduction::value_and_partials(const_array(x.data(), x.size()), weights.data());
    } else {
      return Reduction::value(x);
    }
  }
  template <class X, class Y>
  static T dot(const X& x, const Y& y) {
    T sum = 0.0;
    for (Eigen::Index i = 0; i < x.size(); ++i) sum += x.coeff(i) * y.coeff(i);
    return sum;
  }
  /// Returns the sum of counts times log_softmax(x).
  template <class X>
  static T log_shares(const vector_of<double>& counts, const X& x) {
    if constexpr (std::is_same_v<T, double>) {
      vector_of<double> slopes(x.size());
      return log_shares_and_slopes(const_array(counts.data(), counts.size()), const_array(x.data(), x.size()), slopes.data());
    } else {
      const auto number = [&](std::size_t j) { return counts[static_cast<Eigen::Index>(j)]; };
      return sum_of_log_shares<T>(static_cast<std::size_t>(x.size()), number,
                                  [&](std::size_t j) -> const T& { return x.coeffRef(static_cast<Eigen::Index>(j)); });
    }
  }
  template <class X>
  static vector_of<T> log_softmax(const X& x) {
    const auto normalizer = log_sum_exp_reduction::split(x);
    vector_of<T> result(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) result[i] = normalizer.logarithm(x.coeff(i));
    return result;
  }
  template <class X>
  static vector_of<T> softmax(const X& x) {
    vector_of<T> result(x.size());
    if constexpr (std::is_same_v<T, double>) {
      log_sum_exp_reduction::value_and_partials(const_array(x.data(), x.size()), result.data());
    } else {
      const vector_of<T> logarithms = log_softmax(x);
      for (Eigen::Index i = 0; i < x.size(); ++i) result[i] = exp(logarithms[i]);
    }
    return result;
  }
};

/// The entries of an Eigen object in one column: a vector itself, a copy of other objects.
template <class X>
decltype(auto) entries(const X& x) {
  using vector = vector_of<typename X::Scalar>;
  if constexpr (std::is_same_v<X, vector>)
    return (x);
  else if constexpr (X::ColsAtCompileTime == 1)
    return vector(x.derived().matrix());
  else
    return vector(x.derived().matrix().eval().reshaped());
}
template <class Reduction, class X>
typename X::Scalar reduce(const X& x) {
  return reduction_engine<typename X::Scalar>::template reduce<Reduction>(entries(x));
}

[[noreturn]] AGRAD_COLD inline void fail_empty(const char* function) {
  throw ShapeError(std::string(function) + ": x is of size 0, but must be of at least one entry");
}
}  // namespace detail

/// Returns the sum of all entries.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar sum(const X& x) {
  return detail::reduce<detail::sum_reduction>(x);
}

/// Returns the mean of all entries; nan for an empty array.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar mean(const X& x) {
  return detail::reduce<detail::sum_reduction>(x) / static_cast<double>(x.size());
}

/// Returns the product of all entries. The derivatives are right beside zeros, too.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar prod(const X& x) {
  return detail::reduce<detail::prod_reduction>(x);
}

/// Returns the Euclidean (Frobenius) norm, without overflow; the gradient at zero is defined as zero.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar norm(const X& x) {
  return detail::reduce<detail::norm_reduction>(x);
}

/// Returns log(sum(exp(x))), without overflow; -inf for an empty array. If the largest entry is infinite, so is the result, and
/// all entries of that value share the derivative equally.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar log_sum_exp(const X& x) {
  return detail::reduce<detail::log_sum_exp_reduction>(x);
}

/// Returns the sum of the products of corresponding entries. Throws ShapeError where the shapes differ.
template <class X, class Y, class = detail::if_eigen<X>, class = detail::if_eigen<Y>>
auto dot(const X& x, const Y& y) {
  using T = detail::entry_result_t<multiply_rule, X, Y>;
  if (AGRAD_UNLIKELY(x.rows() != y.rows() || x.cols() != y.cols()))
    detail::fail_array_shape("dot", y.rows(), y.cols(), x.rows(), x.cols());
  return detail::reduction_engine<T>::dot(detail::entries(x), detail::entries(y));
}

/// Returns the sum of squares of all entries.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar squared_norm(const X& x) {
  const auto& entries = detail::entries(x);
  return detail::reduction_engine<typename X::Scalar>::dot(entries, entries);
}

/// Returns exp(x) / sum(exp(x)) as a vector, without overflow.
template <class X, class = detail::if_eigen<X>>
vector_of<typename X::Scalar> softmax(const X& x) {
  return detail::reduction_engine<typename X::Scalar>::softmax(detail::entries(x));
}

/// Returns log(softmax(x)) = x - log_sum_exp(x) as a vector.
template <class X, class = detail::if_eigen<X>>
vector_of<typename X::Scalar> log_softmax(const X& x) {
  return detail::reduction_engine<typename X::Scalar>::log_softmax(detail::entries(x));
}

/// Returns the sums x_0, x_0 + x_1, ... as a vector.
template <class X, class = detail::if_eigen<X>>
vector_of<typename X::Scalar> cumulative_sum(const X& x) {
  vector_of<typename X::Scalar> result = detail::entries(x);
  for (Eigen::Index i = 1; i < result.size(); ++i) result[i] = result[i - 1] + result[i];
  return result;
}

/// Returns the sum of the main diagonal; the matrix may be rectangular.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar trace(const X& x) {
  return detail::reduce<detail::sum_reduction>(x.derived().matrix().diagonal());
}

/// Returns the largest entry, the first of equal entries, and nan if any entry is nan. Throws ShapeError for an empty array.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar max_coefficient(const X& x) {
  if (AGRAD_UNLIKELY(x.size() == 0)) detail::fail_empty("max_coefficient");
  const auto& entries = detail::entries(x);
  return entries[detail::extreme_index<1>(entries)];
}

/// Returns the smallest entry, with the same conventions.
template <class X, class = detail::if_eigen<X>>
typename X::Scalar min_coefficient(const X& x) {
  if (AGRAD_UNLIKELY(x.size() == 0)) detail::fail_empty("min_coefficient");
  const auto& entries = detail::entries(x);
  return entries[detail::extreme_index<-1>(entries)];
}

/// Products of corresponding entries, for Eigen's objects of any scalars and for matrix<var>; scalars broadcast.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<multiply_rule, X, Y> elementwise_product(const X& x, const Y& y) {
  return apply<multiply_rule>(x, y);
}

/// Quotients of corresponding entries, for the same types.
template <class X, class Y>
AGRAD_ALWAYS_INLINE applied<divide_rule, X, Y> elementwise_quotient(const X& x, const Y& y) {
  return apply<divide_rule>(x, y);
}

}  // namespace agrad
