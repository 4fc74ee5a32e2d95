// Entries: what the constraining transforms have in common, checks of shapes and conditions, and maps of numbers or arrays.
//
// A transform has three functions under Stan's names: X_constrain maps free numbers y to a value, X_jacobian does the same and
// adds the log Jacobian to lp, and X_unconstrain maps a value back. All are templates of the scalar, which is double, var or a
// dual; results have the common scalar of the arguments. Conditions are checked by value in every engine.
// Read next: constraints/bounds.hpp, where every number is a value; constraints/vectors.hpp and matrices.hpp.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>

#include <agrad/base/check.hpp>
#include <agrad/rules/density/density.hpp>
#include <agrad/rules/promote.hpp>

namespace agrad::detail {

using eigen_index = Eigen::Index;

template <class T>
using free_vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using free_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// How far sums, norms and diagonals may be from what they must be.
inline constexpr double constraint_tolerance = 1e-8;

/// The place of an entry in a message; none for a number by itself.
struct entry_place {
  eigen_index i = -1, j = -1;
  AGRAD_COLD std::string text() const {
    if (i < 0) return {};
    return "[" + std::to_string(i) + (j < 0 ? "" : ", " + std::to_string(j)) + "]";
  }
};

[[noreturn]] AGRAD_COLD inline void fail_entry(std::string_view function, std::string_view argument, const entry_place& place,
                                               double value, std::string_view condition, double limit) {
  throw DomainError(sentence(function, std::string(argument) + place.text(), -1, value,
                             std::string(condition) + (std::isnan(limit) ? "" : " " + to_text(limit))));
}
/// Throws DomainError unless `holds`: the entry of x is the value, but must be what the condition and the limit say.
inline void require(bool holds, std::string_view function, const entry_place& place, double value, std::string_view condition,
                    double limit = quiet_nan) {
  if (AGRAD_UNLIKELY(!holds)) fail_entry(function, "x", place, value, condition, limit);
}

/// Throws ShapeError unless the size is `required`.
inline void require_size(std::string_view function, std::string_view argument, eigen_index size, eigen_index required) {
  check_size(function, argument, static_cast<std::size_t>(size), static_cast<std::size_t>(required), {});
}

/// Throws ShapeError if the size is less than `least`.
inline void require_least(std::string_view function, std::string_view argument, eigen_index size, eigen_index least) {
  if (AGRAD_UNLIKELY(size < least))
    throw ShapeError(
        sentence(function, argument, -1, "of length " + std::to_string(size), std::to_string(least) + " or longer"));
}

template <class X>
inline constexpr bool is_dense = has_storage_kind<X>;

/// Returns entry (i, j) of an array, or the number that stands for all entries.
template <class X>
const auto& entry_of(const X& x, eigen_index i, eigen_index j) {
  if constexpr (is_dense<X>)
    return x(i, j);
  else
    return x;
}

template <class Y, class X>
void require_shape_of(std::string_view function, const Y& y, const X& x) {
  if constexpr (is_dense<X>) {
    require_size(function, "the other argument", x.rows(), y.rows());
    require_size(function, "the other argument", x.cols(), y.cols());
  }
}

/// Returns an expression of Eigen as the array that it computes, any other argument as its stored scalar.
template <class X>
auto evaluated_entries(const X& x) {
  if constexpr (is_dense<X>)
    return typename X::PlainObject(x);
  else
    return promoted_t<X>(x);
}

/// Computes f(place, entry of y, entries of others) for each entry of y, where others are arrays of y's shape or numbers.
template <class F, class Y, class... Others>
auto map_entries(std::string_view function, const F& f, const Y& y, const Others&... others) {
  using T = promoted_t<Y, Others...>;
  if constexpr (is_dense<Y>) {
    (require_shape_of(function, y, others), ...);
    Eigen::Matrix<T, Y::RowsAtCompileTime, Y::ColsAtCompileTime> result(y.rows(), y.cols());
    for (eigen_index j = 0; j < y.cols(); ++j)
      for (eigen_index i = 0; i < y.rows(); ++i) {
        const entry_place place{i, y.cols() == 1 ? -1 : j};
        result(i, j) = f(place, T(y(i, j)), entry_of(others, i, j)...);
      }
    return result;
  } else {
    static_assert(!(is_dense<Others> || ...), "where the first argument is a number, so are the others");
    return T(f(entry_place(), T(y), others...));
  }
}

}  // namespace agrad::detail
