// Functions from vectors to vectors: softmax and its logarithm, cumulative sums, sums of rows and columns.
//
// Each is one closure. The functions of vectors read a matrix as the column of its entries; the result has the shape of the
// matrix.
#pragma once

#include <agrad/tape/matrix/reduce.hpp>

namespace agrad {

/// Returns exp(a) / sum(exp(a)) over all entries, without overflow. Adjoint: s (ybar - <ybar, s>) where s is the result.
inline matrix<var> softmax(const matrix<var>& a) {
  const matrix<var> y = detail::matrix_access::room(a.rows(), a.cols());
  const matrix<var> s = y.reshaped();
  detail::log_sum_exp_reduction::value_and_partials(detail::consecutive(a), detail::matrix_access::writable(s).data());
  push([a = detail::flat(a), y, s](auto& adjoint) {
    const auto bar = adjoint[s];
    double mean = 0;
    for (Eigen::Index i = 0; i < s.rows(); ++i)
      if (bar(i, 0) != 0) mean += bar(i, 0) * s.val()(i, 0);
    if (AGRAD_UNLIKELY(adjoint.is_marking())) return detail::add_to_all(adjoint, a, bar.sum());
    const auto bars = adjoint[a.is_contiguous() ? s : y];
    const auto values = (a.is_contiguous() ? s : y).val();
    detail::each_column(adjoint, a, [&](Eigen::Index j, const auto& sum) {
      for (Eigen::Index i = 0; i < a.rows(); ++i) {
        sum[i] += detail::passed(values(i, j), bars(i, j) - mean);
      }
    });
  });
  return y;
}

/// Returns log(softmax(a)) = a - log_sum_exp(a). Adjoint: ybar - softmax(a) sum(ybar), where 1 - softmax(a) of the largest
/// entry keeps the digits that this share lacks.
inline matrix<var> log_softmax(const matrix<var>& a) {
  const matrix<var> y = detail::matrix_access::room(a.rows(), a.cols());
  double* weight = detail::room_for(a.size());
  const auto normalizer = detail::log_sum_exp_reduction::split_with_partials(detail::consecutive(a), weight);
  detail::matrix_access::writable(y) = a.val().unaryExpr([&](double x) { return normalizer.logarithm(x); });
  Eigen::Index top = std::isfinite(normalizer.largest) ? 0 : a.size();  // the largest entry, if it is finite
  while (top < a.size() && a.val()(top % a.rows(), top / a.rows()) != normalizer.largest) ++top;
  push([a, y, weight, top, lack = -std::expm1(-normalizer.rest)](auto& adjoint) {
    const auto bar = adjoint[y];
    double others = 0, of_top = 0;
    for (Eigen::Index j = 0; j < a.cols(); ++j)
      for (Eigen::Index i = 0; i < a.rows(); ++i) (i + j * a.rows() == top ? of_top : others) += bar(i, j);
    const double total = others + of_top;
    if (AGRAD_UNLIKELY(adjoint.is_marking())) return detail::add_to_all(adjoint, a, total);
    detail::each_column(adjoint, a, [&](Eigen::Index j, const auto& sum) {
      for (Eigen::Index i = 0; i < a.rows(); ++i) {
        const Eigen::Index k = i + j * a.rows();
        const double shared = weight[k] * (k == top ? others : total);
        sum[i] += (k == top ? lack * bar(i, j) : bar(i, j)) - (total != 0 || k == top ? shared : 0.0);
      }
    });
  });
  return y;
}

/// Returns a_0, a_0 + a_1, ... over all entries, column after column. Adjoint: cumulative sums from the end.
inline matrix<var> cumulative_sum(const matrix<var>& a) {
  const matrix<var> y = detail::matrix_access::room(a.rows(), a.cols());
  const detail::const_array x = detail::consecutive(a);
  double* to = detail::matrix_access::writable(y).data();
  double total = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) to[i] = total += x[i];
  push([a, y](auto& adjoint) {
    const auto bar = adjoint[y];
    auto sum = adjoint[a];
    double rest = 0;
    for (Eigen::Index j = a.cols(); j-- > 0;)
      for (Eigen::Index i = a.rows(); i-- > 0;) sum(i, j) += rest += bar(i, j);
  });
  return y;
}

/// Returns the sum of each row, as a column.
inline matrix<var> row_sums(const matrix<var>& a) {
  const matrix<var> y = detail::matrix_access::room(a.rows(), 1);
  detail::matrix_access::writable(y) = a.val().rowwise().sum();
  push([a, y](auto& adjoint) {
    const auto bar = adjoint[y];
    detail::each_column(adjoint, a, [&](Eigen::Index, const auto& sum) {
      for (Eigen::Index i = 0; i < a.rows(); ++i) sum[i] += bar(i, 0);
    });
  });
  return y;
}

/// Returns the sum of each column, as a row.
inline matrix<var> column_sums(const matrix<var>& a) {
  const matrix<var> y = detail::matrix_access::room(1, a.cols());
  detail::matrix_access::writable(y) = a.val().colwise().sum();
  push([a, y](auto& adjoint) {
    const auto bar = adjoint[y];
    detail::each_column(adjoint, a, [&](Eigen::Index j, const auto& sum) {
      for (Eigen::Index i = 0; i < a.rows(); ++i) sum[i] += bar(0, j);
    });
  });
  return y;
}

namespace detail {
inline vector_of<var> reduction_engine<var>::softmax(const vector_of<var>& x) {
  return agrad::softmax(matrix<var>(x)).variables();
}
inline vector_of<var> reduction_engine<var>::log_softmax(const vector_of<var>& x) {
  return agrad::log_softmax(matrix<var>(x)).variables();
}
}  // namespace detail

}  // namespace agrad
