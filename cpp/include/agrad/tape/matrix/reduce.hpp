// Reductions of matrix<var>, and of Eigen's arrays of var: one closure each.
//
// The reverse pass computes the derivatives of sums, products of sums and norms; for other reductions (prod, log_sum_exp) the
// derivatives are computed with the value and stored. rules/arrays/reduce.hpp documents the functions, once for all scalars.
#pragma once

#include <agrad/rules/arrays/reduce.hpp>
#include <agrad/tape/matrix/elementwise.hpp>

namespace agrad {

namespace detail {

/// Returns the values of a matrix as consecutive numbers: in place, or a copy in the arena.
inline const_array consecutive(const matrix<var>& a) {
  if (a.is_contiguous()) return const_array(a.val().data(), a.size());
  return const_array(stored_copy(a.val()).data(), a.size());
}
inline double* room_for(Eigen::Index n) { return tape::current().memory().allocate_array<double>(static_cast<std::size_t>(n)); }
/// Returns a contiguous matrix as one column, so that loops over columns become one loop.
inline matrix<var> flat(const matrix<var>& a) { return a.is_contiguous() ? a.reshaped() : a; }

/// Calls f(j, sum) for each column j of the adjoint of x; f adds to sum[i].
template <class Adjoint, class F>
void each_column(const Adjoint& adjoint, const matrix<var>& x, const F& f) {
  const adjoint_columns<Adjoint> columns(adjoint, x);
  for (Eigen::Index j = 0; j < x.cols(); ++j) f(j, columns(j));
}
template <class Adjoint>
void add_to_all(const Adjoint& adjoint, const matrix<var>& x, double amount) {
  each_column(adjoint, x, [&](Eigen::Index, const auto& sum) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) sum[i] += amount;
  });
}
/// Adds multiples of numbers, whose zeros were computed.
template <class Adjoint>
void add_multiple(const Adjoint& adjoint, const matrix<var>& x, double factor, const double* values, Eigen::Index outer) {
  if (AGRAD_UNLIKELY(adjoint.is_marking())) return add_to_all(adjoint, x, factor);
  each_column(adjoint, x, [&](Eigen::Index j, const auto& sum) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) sum[i] += passed(values[i + j * outer], factor);
  });
}

template <class Reduction>
var reduce(const matrix<var>& a) {
  double* partial = room_for(a.size());
  const double value = Reduction::value_and_partials(consecutive(a), partial);
  return custom(
      value, [a = flat(a), partial](auto& adjoint, const var& y) { add_multiple(adjoint, a, adjoint[y], partial, a.rows()); });
}

/// Values and indices of variables at any places.
struct scattered {
  const double* values;
  const tape::index_type* indices;
  Eigen::Index size;

  explicit scattered(const vector_of<var>& x) : size(x.size()) {
    double* v = room_for(size);
    auto* k = tape::current().memory().allocate_array<tape::index_type>(static_cast<std::size_t>(size));
    for (Eigen::Index i = 0; i < size; ++i) {
      const leaf entry = operand_of<var>::make(x[i]);
      v[i] = entry.value;
      k[i] = entry.index;
    }
    values = v;
    indices = k;
  }
  explicit scattered(const vector_of<double>& x) : values(stored_copy(x).data()), indices(nullptr), size(x.size()) {}

  template <class Adjoint>
  void add(const Adjoint& adjoint, double factor, const double* partial, bool are_constant = false) const {
    if (indices == nullptr) return;
    const bool is_marking = adjoint.is_marking() && !are_constant;
    for (Eigen::Index i = 0; i < size; ++i) adjoint.at(indices[i]) += is_marking ? factor : passed(partial[i], factor);
  }
};

template <>
struct reduction_engine<var> {
  template <class Reduction>
  static var reduce(const vector_of<var>& x) {
    const scattered entries(x);
    double* partial = room_for(x.size());
    const double value = Reduction::value_and_partials(const_array(entries.values, x.size()), partial);
    return custom(value, [entries, partial](auto& adjoint, const var& y) { entries.add(adjoint, adjoint[y], partial); });
  }
  template <class X, class Y>
  static var dot(const vector_of<X>& x, const vector_of<Y>& y) {
    const scattered a(x), b(y);
    return custom(const_array(a.values, a.size).matrix().dot(const_array(b.values, b.size).matrix()),
                  [a, b](auto& adjoint, const var& result) {
                    const double bar = adjoint[result];
                    a.add(adjoint, bar, b.values, b.indices == nullptr);
                    b.add(adjoint, bar, a.values, a.indices == nullptr);
                  });
  }
  template <class Counts>
  static var log_shares(const Counts& counts, const vector_of<var>& x) {
    const scattered entries(x);
    double* slopes = room_for(x.size());
    const double value =
        log_shares_and_slopes(const_array(counts.data(), counts.size()), const_array(entries.values, x.size()), slopes);
    return custom(value, [entries, slopes](auto& adjoint, const var& y) { entries.add(adjoint, adjoint[y], slopes); });
  }
  static vector_of<var> softmax(const vector_of<var>& x);
  static vector_of<var> log_softmax(const vector_of<var>& x);
};

template <class X, class Y>
void check_same_shape(const char* function, const X& a, const Y& b) {
  if (AGRAD_UNLIKELY(a.rows() != b.rows() || a.cols() != b.cols()))
    fail_matrix_shape(function, "of the shape of", a.rows(), a.cols(), b.rows(), b.cols());
}

/// The loops of an inner product: n entries of each column, or one loop if both sides are contiguous.
struct paired_columns {
  Eigen::Index n, cols;

  template <class A, class B>
  double dot(const A& a, const B& b) const {
    double sum = 0;
    for (Eigen::Index j = 0; j < cols; ++j) sum += packed(a.column(j), n).matrix().dot(packed(b.column(j), n).matrix());
    return sum;
  }
  template <class Adjoint, class A, class B>
  void propagate(const Adjoint& adjoint, double bar, const A& a, const B& b) const {
    if constexpr (A::is_active) {
      const adjoint_columns<Adjoint> columns(adjoint, a.x);
      for (Eigen::Index j = 0; j < cols; ++j) {
        const auto sum = columns(j);
        const double* other = b.column(j);
        const bool is_marking = B::is_active && adjoint.is_marking();
        for (Eigen::Index i = 0; i < n; ++i) sum[i] += is_marking ? bar : passed(other[i], bar);
      }
    }
  }
};

template <class A, class B>
var inner_product(const A& a, const B& b) {
  const bool is_flat = a.is_contiguous() && b.is_contiguous();
  const paired_columns pairs{is_flat ? a.rows() * a.cols() : a.rows(), is_flat ? 1 : a.cols()};
  return custom(pairs.dot(a, b), [pairs, a = a.stored_copy(true), b = b.stored_copy(true)](auto& adjoint, const var& y) {
    const double bar = adjoint[y];
    pairs.propagate(adjoint, bar, a, b);
    pairs.propagate(adjoint, bar, b, a);
  });
}
}  // namespace detail

inline var sum(const matrix<var>& a) {
  const matrix<var> x = detail::flat(a);
  return custom(x.val().sum(), [x](auto& adjoint, const var& y) { detail::add_to_all(adjoint, x, adjoint[y]); });
}
inline var mean(const matrix<var>& a) { return sum(a) / static_cast<double>(a.size()); }

/// Returns the sum of the products of corresponding entries; one argument may be an Eigen matrix of numbers or variables.
template <class X, class Y, class = detail::if_matrix_operands<X, Y>>
var dot(const X& x, const Y& y) {
  detail::check_same_shape("dot", x, y);
  return detail::inner_product(detail::make_operand(x), detail::make_operand(y));
}
inline var squared_norm(const matrix<var>& a) {
  const matrix<var> x = detail::flat(a);
  return custom(x.val().squaredNorm(), [x](auto& adjoint, const var& y) {
    detail::add_multiple(adjoint, x, 2 * adjoint[y], x.val().data(), x.outer());
  });
}
inline var norm(const matrix<var>& a) {
  const matrix<var> x = detail::flat(a);
  const double value = detail::norm_reduction::value(detail::consecutive(a));
  return custom(value, [x, value](auto& adjoint, const var& y) {
    if (value != 0 || adjoint.is_marking()) detail::add_multiple(adjoint, x, adjoint[y] / value, x.val().data(), x.outer());
  });
}
inline var prod(const matrix<var>& a) { return detail::reduce<detail::prod_reduction>(a); }
inline var log_sum_exp(const matrix<var>& a) { return detail::reduce<detail::log_sum_exp_reduction>(a); }

inline var trace(const matrix<var>& a) {
  const Eigen::Index n = std::min(a.rows(), a.cols());
  return custom(a.val().diagonal().sum(), [a, n](auto& adjoint, const var& y) {
    const double bar = adjoint[y];
    detail::each_column(adjoint, a.leftCols(n), [&](Eigen::Index j, const auto& sum) { sum[j] += bar; });
  });
}

inline var matrix<var>::sum() const { return agrad::sum(*this); }
inline var matrix<var>::mean() const { return agrad::mean(*this); }
inline var matrix<var>::prod() const { return agrad::prod(*this); }
inline var matrix<var>::norm() const { return agrad::norm(*this); }
inline var matrix<var>::squaredNorm() const { return squared_norm(*this); }
inline var matrix<var>::trace() const { return agrad::trace(*this); }

/// Returns the largest entry itself, without a statement.
inline var max_coefficient(const matrix<var>& a) {
  if (AGRAD_UNLIKELY(a.size() == 0)) detail::fail_empty("max_coefficient");
  return a[detail::extreme_index<1>(detail::consecutive(a))];
}
inline var min_coefficient(const matrix<var>& a) {
  if (AGRAD_UNLIKELY(a.size() == 0)) detail::fail_empty("min_coefficient");
  return a[detail::extreme_index<-1>(detail::consecutive(a))];
}

}  // namespace agrad
