// Joined, measured and rearranged: matrices beside and below each other, arrays one after another, sizes, entries as arrays,
// under Stan's names.
//
// Entries are copied with their derivatives and nothing is recorded; results have the common scalar of both arguments. An
// array is a std::vector, also of vectors and matrices. Of matrix<var> the blocks are joined in tape/matrix/append.hpp.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <agrad/rules/array.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad {

namespace detail {

template <class X>
inline constexpr bool is_lone = std::is_arithmetic_v<X> || (rank_of<X> > 0 && rank_of<X> < array_rank);
template <class A, class B>
using if_appended = std::enable_if_t<(is_eigen<A> || is_lone<A>)&&(is_eigen<B> || is_lone<B>)&&(is_eigen<A> || is_eigen<B>)>;

template <class X>
constexpr int rows_at_compile_time() {
  if constexpr (is_eigen<X>)
    return X::RowsAtCompileTime;
  else
    return rank_of<X> >= array_rank ? Eigen::Dynamic : 1;
}
template <class X>
constexpr int cols_at_compile_time() {
  if constexpr (is_eigen<X>)
    return X::ColsAtCompileTime;
  else
    return rank_of<X> >= array_rank ? Eigen::Dynamic : 1;
}

/// Returns the argument as a matrix of T, 1 x 1 for a scalar.
template <class T, class X>
matrix_of<T> as_block(const X& x) {
  if constexpr (is_eigen<X>)
    return x.derived().matrix().template cast<T>();
  else
    return matrix_of<T>::Constant(1, 1, T(x));
}

[[noreturn]] AGRAD_COLD inline void fail_appended(std::string_view function, Eigen::Index rows, Eigen::Index cols,
                                                  const std::string& condition) {
  throw ShapeError(sentence(function, "b", -1, "of shape (" + std::to_string(rows) + ", " + std::to_string(cols) + ")",
                            "with " + condition + ", as many as a"));
}

/// The type of an entry of a joined array: that of both, or the common scalar of two scalars.
template <class A, class B>
struct joined_entry {
  static_assert(is_lone<A> && is_lone<B>, "append_array: the entries must be of one type, or scalars");
  using type = promoted_t<A, B>;
};
template <class A>
struct joined_entry<A, A> {
  using type = A;
};

template <class X>
void add_dims(const X& x, std::vector<int>& sizes) {
  if constexpr (rank_of<X> >= array_rank) {
    if constexpr (rows_at_compile_time<X>() != 1 && cols_at_compile_time<X>() != 1) {
      sizes.push_back(static_cast<int>(x.rows()));
      sizes.push_back(static_cast<int>(x.cols()));
    } else {
      sizes.push_back(static_cast<int>(x.size()));
    }
  }
}
template <class T>
void add_dims(const std::vector<T>& x, std::vector<int>& sizes) {
  sizes.push_back(static_cast<int>(x.size()));
  if (!x.empty()) add_dims(x[0], sizes);
}

AGRAD_COLD inline std::string text_of_dims(const std::vector<int>& sizes) {
  std::string text = "of dims {";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  return text + "}";
}

template <class T>
struct innermost_entry {
  using type = T;
};
template <class T>
struct innermost_entry<std::vector<T>> : innermost_entry<T> {};

template <class T, class Out>
void add_entries(const T& x, Out& result) {
  result.push_back(x);
}
template <class T, class Out>
void add_entries(const std::vector<T>& x, Out& result) {
  for (const T& each : x) add_entries(each, result);
}

}  // namespace detail

/// Returns a and b beside each other: two row vectors, or a scalar and a row vector, are a row vector, everything else is a
/// matrix.
///
/// a, b: Eigen's matrices, column vectors and row vectors of any scalars; one of both may be a scalar, which is 1 x 1. Throws
/// ShapeError where the numbers of rows differ.
template <class A, class B, class = detail::if_appended<A, B>>
auto append_col(const A& a, const B& b) {
  using T = promoted_t<A, B>;
  constexpr bool is_row = detail::rows_at_compile_time<A>() == 1 && detail::rows_at_compile_time<B>() == 1;
  const matrix_of<T> left = detail::as_block<T>(a), right = detail::as_block<T>(b);
  if (AGRAD_UNLIKELY(left.rows() != right.rows()))
    detail::fail_appended("append_col", right.rows(), right.cols(), std::to_string(left.rows()) + " rows");
  Eigen::Matrix<T, is_row ? 1 : Eigen::Dynamic, Eigen::Dynamic> result(left.rows(), left.cols() + right.cols());
  result.leftCols(left.cols()) = left;
  result.rightCols(right.cols()) = right;
  return result;
}

/// Returns a above b: two column vectors, or a scalar and a column vector, are a column vector, everything else is a matrix.
///
/// a, b: as for `append_col`. Throws ShapeError where the numbers of columns differ.
template <class A, class B, class = detail::if_appended<A, B>>
auto append_row(const A& a, const B& b) {
  using T = promoted_t<A, B>;
  constexpr bool is_column = detail::cols_at_compile_time<A>() == 1 && detail::cols_at_compile_time<B>() == 1;
  const matrix_of<T> above = detail::as_block<T>(a), below = detail::as_block<T>(b);
  if (AGRAD_UNLIKELY(above.cols() != below.cols()))
    detail::fail_appended("append_row", below.rows(), below.cols(), std::to_string(above.cols()) + " columns");
  Eigen::Matrix<T, Eigen::Dynamic, is_column ? 1 : Eigen::Dynamic> result(above.rows() + below.rows(), above.cols());
  result.topRows(above.rows()) = above;
  result.bottomRows(below.rows()) = below;
  return result;
}

/// Returns the sizes of an argument: none of a scalar, one of a vector, rows and columns of a matrix; of an array its length
/// and then the sizes of its first entry, if it has one.
template <class X>
std::vector<int> dims(const X& x) {
  std::vector<int> sizes;
  detail::add_dims(x, sizes);
  return sizes;
}

/// Returns the entries of a and then those of b. Entries are of one type, or scalars, which are converted to their common
/// scalar. Throws ShapeError where the first entries have other sizes.
template <class A, class B>
std::vector<typename detail::joined_entry<A, B>::type> append_array(const std::vector<A>& a, const std::vector<B>& b) {
  if (!a.empty() && !b.empty()) {
    const std::vector<int> of_a = dims(a[0]), of_b = dims(b[0]);
    if (AGRAD_UNLIKELY(of_a != of_b))
      throw ShapeError(detail::sentence("append_array", "b", 0, detail::text_of_dims(of_b), detail::text_of_dims(of_a),
                                        "as the entries of a"));
  }
  std::vector<typename detail::joined_entry<A, B>::type> result;
  result.reserve(a.size() + b.size());
  result.insert(result.end(), a.begin(), a.end());
  result.insert(result.end(), b.begin(), b.end());
  return result;
}

/// Returns the entries of a matrix, column after column, as an array.
template <class X, class = std::enable_if_t<detail::is_eigen<X>>>
std::vector<typename X::Scalar> to_array_1d(const X& x) {
  const auto& entries = x.derived().eval();
  std::vector<typename X::Scalar> result;
  result.reserve(static_cast<std::size_t>(entries.size()));
  for (Eigen::Index j = 0; j < entries.cols(); ++j)
    for (Eigen::Index i = 0; i < entries.rows(); ++i) result.push_back(entries(i, j));
  return result;
}

/// Returns the innermost_entry entries of an array of arrays, one array after another.
template <class T>
std::vector<typename detail::innermost_entry<T>::type> to_array_1d(const std::vector<T>& x) {
  std::vector<typename detail::innermost_entry<T>::type> result;
  detail::add_entries(x, result);
  return result;
}

/// Returns the rows of a matrix as an array of arrays.
template <class X, class = std::enable_if_t<detail::is_eigen<X>>>
std::vector<std::vector<typename X::Scalar>> to_array_2d(const X& x) {
  const auto& entries = x.derived().eval();
  std::vector<std::vector<typename X::Scalar>> result(static_cast<std::size_t>(entries.rows()));
  for (Eigen::Index i = 0; i < entries.rows(); ++i)
    for (Eigen::Index j = 0; j < entries.cols(); ++j) result[static_cast<std::size_t>(i)].push_back(entries(i, j));
  return result;
}

}  // namespace agrad
