// Rule of linear algebra: one differentiable operation on whole matrices, stated once.
//
// A rule is a small object (it may hold options, a constant mask, a sparsity pattern) that derives from
// rule<arguments, results> and has the members
//     name, text, source   as an elementwise rule does (rules/rule.hpp)
//     results_of           the results' shapes from the arguments' shapes, after checking them
//     prepare              data that value and derivatives share, above all a factorisation; computed from doubles in a `room`
//                          that outlives all users of the data. Rejects singular and indefinite arguments. Optional.
//     value                the results, written into blocks of doubles
//     adjoint              from the results' adjoints to the arguments', in doubles with Eigen's kernels. The adjoints of
//                          unused results and of constant arguments are null; contributions are added
//     tangent(wrt<I>)      the results' tangents from the I-th argument's, in the vocabulary of rules/linalg/algebra.hpp. The
//                          formula is computed on doubles, on the tape and on duals, which gives second derivatives
//     linearize            data that the tangents of all directions share. Optional.
//     reversed, add, propagate, propagate_reversed
//                          for one argument and one result: `adjoint` in two steps, where `reversed` returns a matrix computed
//                          from the result's adjoint and `add` adds that matrix to the argument's; `propagate` replaces the
//                          argument's tangent by the result's, `propagate_reversed` the tangent of the result's adjoint by
//                          that of this matrix. In doubles, if cheaper than `tangent`. Optional.
//     transposed           for two arguments, linear in the second: the second argument's adjoint from the first argument and
//                          the result's adjoint, in the vocabulary. Needed where `tangent` applies the rule itself.
//     numpy                NumPy's or SciPy's name, for messages in Python, if different. Optional.
//     transposed_arguments, transposed_results
//                          bits of arguments and results that may be passed transposed, if stored row after row. Optional.
//     options              distinguishes rules of the same name. Optional.
// Every matrix is column-major and dynamic; a scalar is 1 x 1, a vector n x 1. Methods are templates, so that only
// sources that call an operation compile Eigen's kernels. Read next: rules/linalg/apply.hpp; a family to imitate: general.hpp.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <agrad/base/error.hpp>
#include <agrad/rules/rule.hpp>

namespace agrad::linalg {

using Eigen::Index;
using Eigen::MatrixXd;
/// A matrix to read; a matrix to write or to add to. Columns are contiguous.
using const_block = Eigen::Ref<const MatrixXd>;
using block = Eigen::Ref<MatrixXd>;
/// A matrix in a room.
using matrix_map = Eigen::Map<MatrixXd>;

struct shape {
  Index rows, cols;
  friend bool operator==(const shape& a, const shape& b) { return a.rows == b.rows && a.cols == b.cols; }
  friend bool operator!=(const shape& a, const shape& b) { return !(a == b); }
};

struct nothing {};

/// Returns whether no result has entries. Eigen's kernels are not called for empty results.
template <std::size_t N>
bool all_empty(const std::array<shape, N>& shapes) {
  for (const shape& s : shapes)
    if (s.rows != 0 && s.cols != 0) return false;
  return true;
}

template <int Arguments, int Results = 1>
struct rule {
  static constexpr int arguments = Arguments, results = Results;
  static constexpr std::string_view source = {}, numpy = {};
  static constexpr unsigned transposed_arguments = 0, transposed_results = 0, options = 0;
  using shapes = std::array<shape, std::size_t{Results}>;
  /// Another rule, of whose results the tangents of this rule consist and whose result number `through_result` is the value of
  /// this rule. Duals apply the other rule instead, so that all adjoints of a decomposition arrive at one place.
  using through = nothing;

  template <class Room, class... X>
  nothing prepare(Room&, const X&...) const {
    return {};
  }
  template <class... X>
  nothing linearize(const X&...) const {
    return {};
  }
};

// ---- checks --------------------------------------------------------------------------------------------------------------

AGRAD_COLD inline std::string to_text(const shape& s) {
  return "of shape (" + std::to_string(s.rows) + ", " + std::to_string(s.cols) + ")";
}
[[noreturn]] AGRAD_COLD inline void fail_shape(std::string_view function, std::string_view argument, const shape& is,
                                               std::string_view condition) {
  throw ShapeError(agrad::detail::sentence(function, argument, -1, to_text(is), condition));
}
inline void check_square(std::string_view function, std::string_view argument, const shape& a) {
  if (AGRAD_UNLIKELY(a.rows != a.cols)) fail_shape(function, argument, a, "square");
}
inline void check_rows(std::string_view function, const shape& a, const shape& b, Index required) {
  if (AGRAD_UNLIKELY(b.rows != required))
    fail_shape(function, "b", b, "with " + std::to_string(required) + " rows, because a is " + to_text(a));
}
inline void check_same(std::string_view function, const shape& a, const shape& b) {
  if (AGRAD_UNLIKELY(a != b)) fail_shape(function, "b", b, "of the shape of a, which is " + to_text(a));
}

/// function: <argument> is <is>, but must be <condition>; the pivot of row <row> is <pivot>
[[noreturn]] AGRAD_COLD inline void fail_pivot(std::string_view function, std::string_view is, std::string_view condition,
                                               Index row, double pivot, std::string_view argument = "a") {
  throw LinAlgError(
      agrad::detail::sentence(function, argument, -1, is, condition,
                              "the pivot of row " + std::to_string(row) + " is " + agrad::detail::to_text(pivot)));
}

/// Throws the error of a factorisation again, as one about `matrix` in a function.
[[noreturn]] AGRAD_COLD inline void fail_factor(std::string_view function, std::string_view matrix, const LinAlgError& error) {
  const std::string_view text = error.what();
  const std::size_t verb = text.find(" is ");  // after the name of the factorisation and of its argument
  throw LinAlgError(std::string(function) + ": " + std::string(matrix) +
                    std::string(text.substr(verb == text.npos ? 0 : verb)));
}

}  // namespace agrad::linalg
