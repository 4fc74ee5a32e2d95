// append_col and append_row of matrix<var>: joined blocks, see rules/arrays/joining.hpp for other matrices.
#pragma once

#include <agrad/tape/matrix/join.hpp>

namespace agrad {

namespace detail {
template <class A, class B>
using if_appended_blocks =
    std::enable_if_t<(is_var_matrix<A> || is_var_matrix<B>)&&is_matrix_argument<A> && is_matrix_argument<B>>;
}  // namespace detail

/// Returns a and b beside each other, of which one is a matrix<var>, as `concatenate_columns` does.
template <class A, class B, class = detail::if_appended_blocks<A, B>>
matrix<var> append_col(const A& a, const B& b) {
  return concatenate_columns(a, b);
}

/// Returns a above b, of which one is a matrix<var>, as `concatenate_rows` does.
template <class A, class B, class = detail::if_appended_blocks<A, B>>
matrix<var> append_row(const A& a, const B& b) {
  return concatenate_rows(a, b);
}

}  // namespace agrad
