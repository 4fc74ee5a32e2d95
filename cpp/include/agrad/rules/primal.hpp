// Primal: the number behind a scalar of any engine, and checks of the numbers behind an argument of any kind.
#pragma once

#include <agrad/base/check.hpp>
#include <agrad/rules/array.hpp>

namespace agrad::detail {

/// Returns the number behind a scalar of any engine.
template <class S>
double primal_value(const S& x) {
  if constexpr (std::is_arithmetic_v<S>)
    return static_cast<double>(x);
  else
    return primal_value(x.val());
}

/// Throws the error of entry (i, j) of a vector or matrix that does not meet a condition.
[[noreturn]] AGRAD_COLD inline void fail_entry_check(std::string_view function, std::string_view argument, std::ptrdiff_t i,
                                                     std::ptrdiff_t j, bool is_vector, double value, const condition& must) {
  const std::string place = is_vector ? std::to_string(i + j) : std::to_string(i) + ", " + std::to_string(j);
  fail_check(function, std::string(argument) + "[" + place + "]", -1, value, must, {});
}

/// Returns an array whose entries can be read; an expression of Eigen's is computed.
template <class X>
decltype(auto) computed_array(const X& x) {
  if constexpr (is_eigen<X>)
    return x.eval();
  else
    return (x);
}

/// Throws DomainError unless the number, or each entry of the vector or matrix, meets a condition.
template <class X>
void check_entries(std::string_view function, std::string_view argument, const X& x, const condition& must) {
  if constexpr (rank_of<X> >= array_rank) {
    const auto& entries = computed_array(x);
    for (std::ptrdiff_t j = 0; j < x.cols(); ++j)
      for (std::ptrdiff_t i = 0; i < x.rows(); ++i) {
        const double value = primal_value(entries(i, j));
        if (AGRAD_UNLIKELY(!must.holds(value)))
          fail_entry_check(function, argument, i, j, x.cols() == 1 || x.rows() == 1, value, must);
      }
  } else {
    check(function, argument, primal_value(stored_t<X>(x)), must);
  }
}

}  // namespace agrad::detail
