// Fourier rules: k discrete Fourier transforms as one linear operation, of a matrix of n rows and 2 k columns.
//
// Each column is one transform's argument: k columns of real parts, then k of imaginary parts. The inverse is n times smaller
// and has real and imaginary parts exchanged, and so does the adjoint; therefore `fourier_rule` computes all complex
// transforms. Read next: rules/fourier/complex.hpp, the functions for users.
#pragma once

#include <string>

#include <agrad/base/typelist.hpp>
#include <agrad/rules/fourier/transform.hpp>
#include <agrad/rules/linalg/algebra.hpp>

namespace agrad {
namespace linalg {

struct fourier_rule : linear_rule<fourier_rule> {
  static constexpr std::string_view name = "fourier",
                                    text =
                                        "Discrete Fourier transforms of complex columns: their real parts, "
                                        "then their imaginary parts.",
                                    source = "Stockham 1966; Bluestein 1970 for lengths with large prime factors";
  static constexpr unsigned transposed_arguments = 1, transposed_results = 1;
  shapes results_of(const shape& a) const {
    if (AGRAD_UNLIKELY(a.cols % 2 != 0)) fail_shape(name, "a", a, "with a column of imaginary parts for each of real parts");
    return {{a}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    for (Index k = 0, count = a.cols() / 2; k < count; ++k)
      fourier::transform(a.rows(), a.col(k).data(), a.col(count + k).data(), y.col(k).data(), y.col(count + k).data());
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In&, const In* y_bar, block* a_bar) const {
    const Index n = y_bar->rows(), count = y_bar->cols() / 2;
    if (a_bar == nullptr || n == 0) return;
    MatrixXd mine(n, 2);
    for (Index k = 0; k < count; ++k) {
      fourier::transform(n, y_bar->col(count + k).data(), y_bar->col(k).data(), mine.col(1).data(), mine.col(0).data());
      a_bar->col(k) += mine.col(0);
      a_bar->col(count + k) += mine.col(1);
    }
  }
};

/// k transforms of n real numbers: k columns of n / 2 + 1 real parts, then k of imaginary parts.
struct real_fourier_rule : linear_rule<real_fourier_rule> {
  static constexpr std::string_view name = "real_fourier",
                                    text = "First half of the discrete Fourier transforms of real columns.",
                                    source = "Cooley, Lewis and Welch 1970";
  static constexpr unsigned transposed_arguments = 1, transposed_results = 1;
  shapes results_of(const shape& a) const {
    if (AGRAD_UNLIKELY(a.rows == 0)) fail_shape(name, "a", a, "with a row");
    return {{{a.rows / 2 + 1, 2 * a.cols}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    for (Index k = 0, count = a.cols(); k < count; ++k)
      fourier::real_transform(a.rows(), a.col(k).data(), y.col(k).data(), y.col(count + k).data());
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In&, const In* y_bar, block* a_bar) const {
    if (a_bar == nullptr) return;
    Eigen::VectorXd mine(a.rows());
    for (Index k = 0, count = a.cols(); k < count; ++k) {
      fourier::transposed_real_transform(a.rows(), y_bar->col(k).data(), y_bar->col(count + k).data(), mine.data());
      a_bar->col(k) += mine;
    }
  }
};

/// The transposed map, to columns of an even or an odd length: with the weights 1, 2, ..., 2 and, if n is even, 1 of its
/// argument it is n times the inverse.
template <bool IsOdd>
struct transposed_real_fourier_rule : linear_rule<transposed_real_fourier_rule<IsOdd>> {
  using shapes = typename linear_rule<transposed_real_fourier_rule<IsOdd>>::shapes;
  static constexpr std::string_view name = "transposed_real_fourier",
                                    text =
                                        "The map to real columns that is the transpose of the "
                                        "Fourier transform of real columns.",
                                    source = "Cooley, Lewis and Welch 1970";
  static constexpr unsigned transposed_arguments = 1, transposed_results = 1, options = IsOdd;
  static constexpr Index length(Index rows) { return 2 * (rows - 1) + IsOdd; }
  shapes results_of(const shape& a) const {
    if (AGRAD_UNLIKELY(a.cols % 2 != 0 || length(a.rows) < 1))
      fail_shape(name, "a", a, "with rows, and a column of imaginary parts for each of real parts");
    return {{{length(a.rows), a.cols / 2}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    for (Index k = 0, count = a.cols() / 2; k < count; ++k)
      fourier::transposed_real_transform(y.rows(), a.col(k).data(), a.col(count + k).data(), y.col(k).data());
  }
  template <class In>
  void adjoint(const nothing&, const In& a, const In&, const In* y_bar, block* a_bar) const {
    if (a_bar == nullptr) return;
    MatrixXd mine(a.rows(), 2);
    for (Index k = 0, count = a.cols() / 2; k < count; ++k) {
      fourier::real_transform(y_bar->rows(), y_bar->col(k).data(), mine.col(0).data(), mine.col(1).data());
      a_bar->col(k) += mine.col(0);
      a_bar->col(count + k) += mine.col(1);
    }
  }
};

}  // namespace linalg

namespace rules {
using fourier = typelist<linalg::fourier_rule, linalg::real_fourier_rule, linalg::transposed_real_fourier_rule<false>,
                         linalg::transposed_real_fourier_rule<true>>;
}

}  // namespace agrad
