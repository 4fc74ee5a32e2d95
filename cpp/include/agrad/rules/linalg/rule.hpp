// Rule of linear algebra: one differentiable operation on whole matrices, stated once.
//
// A rule is a small object (it may hold options, a constant mask, a sparsity pattern) that derives from
// rule<arguments, results> and gives
//     name, text, source   as an elementwise rule does (rules/rule.hpp)
//     results_of           the results' shapes from the arguments' shapes, after checking them
//     prepare              what the value and the derivatives share, a factorisation above all; made from doubles in a `room`
//                          that outlives its users. Singular and indefinite arguments are refused here. Optional.
//     value                the results, written into blocks of doubles
//     adjoint              from the results' adjoints to the arguments', in doubles with Eigen's kernels. A result nobody used
//                          has no adjoint (null), neither has a constant argument; contributions are added
//     tangent(wrt<I>)      the results' tangents from the I-th argument's, in the vocabulary of rules/linalg/algebra.hpp, so that
//                          it runs on doubles, on the tape and on duals: that is where second derivatives come from
//     linearize            what the tangents of all directions share. Optional.
//     swept, add, carry, carry_swept
//                          of one argument and one result: `adjoint` in two steps, from the result's adjoint to what is added
//                          from it; the result's tangent from the argument's in place; the tangent of what was swept in place of
//                          that of the result's adjoint. In doubles, where it costs less than what `tangent` says. Optional.
//     numpy                NumPy's or SciPy's name, for messages in Python, where it differs. Optional.
//     transposed_arguments, transposed_results
//                          bits of what may as well be handed over transposed, where a matrix is stored row after row. Optional.
//     options              tells rules of the same name apart. Optional.
// Every matrix is column-major and dynamic; a scalar is 1 x 1, a vector n x 1. Methods are templates, for compile time: only
// who calls an operation pays for Eigen's kernels. Read next: rules/linalg/apply.hpp; a family to imitate: general.hpp.
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
/// A matrix to read; to write or to add to. Columns are contiguous.
using const_block = Eigen::Ref<const MatrixXd>;
using block = Eigen::Ref<MatrixXd>;
/// A matrix in a room.
using kept_matrix = Eigen::Map<MatrixXd>;

struct shape {
  Index rows, cols;
  friend bool operator==(const shape& a, const shape& b) { return a.rows == b.rows && a.cols == b.cols; }
  friend bool operator!=(const shape& a, const shape& b) { return !(a == b); }
};

struct nothing {};

/// Whether there is nothing to compute: Eigen's kernels are not asked for results without entries.
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
  /// A rule whose results this one's tangents are made of and whose result number `through_result` is this one's value:
  /// duals apply it in place of this one, so that all that depends on the decomposition arrives at one place.
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
inline void check_rows(std::string_view function, const shape& a, const shape& b, Index wanted) {
  if (AGRAD_UNLIKELY(b.rows != wanted))
    fail_shape(function, "b", b, "with " + std::to_string(wanted) + " rows, to go with a " + to_text(a));
}
inline void check_same(std::string_view function, const shape& a, const shape& b) {
  if (AGRAD_UNLIKELY(a != b)) fail_shape(function, "b", b, "of the shape of a, which is " + to_text(a));
}

/// function: a is <is>, but must be <condition>; the pivot of row <row> is <pivot>
[[noreturn]] AGRAD_COLD inline void fail_pivot(std::string_view function, std::string_view is, std::string_view condition,
                                               Index row, double pivot) {
  throw DomainError(agrad::detail::sentence(
      function, "a", -1, is, condition, "the pivot of row " + std::to_string(row) + " is " + agrad::detail::to_text(pivot)));
}

}  // namespace agrad::linalg
