// Determinant of a complex matrix, an analytic function of the entries, of singular matrices, too.
//
// A complex matrix is its real parts with the imaginary parts at their right, n x 2n, a complex number 1 x 2. With the complex
// cofactors C = det(Z) Z^-T, d det = sum C_ij dZ_ij, and the adjoint of Z is that of the determinant times the conjugate of C.
// Read next: rules/linalg/cofactors.hpp, which computes without a division.
#pragma once

#include <agrad/rules/linalg/cofactors.hpp>
#include <agrad/rules/spectra/general_eigen.hpp>

namespace agrad::linalg {

/// Returns complex numbers as real parts with the imaginary parts, times `sign`, at their right.
template <class Z>
MatrixXd parts_beside(const Z& z, double sign = 1) {
  MatrixXd y(z.rows(), 2 * z.cols());
  y << z.real(), sign * z.imag();
  return y;
}
using complete_complex_factors = complete_factors<std::complex<double>>;

/// The complex cofactors. The derivative of their derivative uses the inverse, and needs an invertible matrix.
struct complex_cofactors_rule : rule<1> {
  static constexpr std::string_view name = "complex_determinant", text = "Matrix of complex cofactors, det(z) z^-T.",
                                    source = "differential of det(z) z^-T: dC = <C, dZ> Z^-T - Z^-T dZ' C", numpy = "det";
  shapes results_of(const shape& z) const { return {{z}}; }
  template <class In, class Out>
  void value(const nothing&, const In& z, Out y) const {
    y = parts_beside(complete_complex_factors(complex_of(z)).cofactors());
  }
  template <class In>
  void adjoint(const nothing&, const In& z, const In&, const In* y_bar, block* z_bar) const {
    *z_bar += parts_beside(complete_complex_factors(complex_of(z)).change(complex_of(*y_bar).conjugate()), -1);
  }
  template <class Z, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const Z& z, const Y& y, const D& dz) const {
    if constexpr (std::is_same_v<strongest_t<Z, D>, MatrixXd>) {
      return parts_beside(complete_complex_factors(complex_of(z)).change(complex_of(dz)));
    } else {
      if (AGRAD_UNLIKELY(complete_complex_factors(complex_of(primal(z))).is_nearly_singular())) fail_singular();
      const auto t = transposed(complex_inverse(z, MatrixXd(MatrixXd::Ones(z.rows(), 1))));
      const auto re = minus(linalg::dot(real_half(y), real_half(dz)), linalg::dot(imaginary_half(y), imaginary_half(dz)));
      const auto im = plus(linalg::dot(real_half(y), imaginary_half(dz)), linalg::dot(imaginary_half(y), real_half(dz)));
      const auto scaled = beside(minus(scaled_by(re, real_half(t)), scaled_by(im, imaginary_half(t))),
                                 plus(scaled_by(re, imaginary_half(t)), scaled_by(im, real_half(t))));
      return minus(scaled, complex_product(t, complex_product(transposed(dz), y)));
    }
  }

 private:
  template <class Z>
  static auto transposed(const Z& z) {
    return beside(linalg::transpose(real_half(z)), linalg::transpose(imaginary_half(z)));
  }
  [[noreturn]] AGRAD_COLD static void fail_singular() {
    throw LinAlgError(agrad::detail::sentence(name, "a", -1, "singular", "invertible",
                                              "third derivatives of the determinant of a singular matrix are not computed"));
  }
};

struct complex_determinant_rule : rule<1> {
  static constexpr std::string_view name = "complex_determinant", text = "Determinant of a complex matrix.",
                                    source = "Giles 2008, section 2.2.4; Jacobi's formula: Z += ybar conj(cofactors(Z))",
                                    numpy = "det";
  shapes results_of(const shape& z) const {
    if (AGRAD_UNLIKELY(2 * z.rows != z.cols)) fail_shape(name, "z", z, "n x 2n, real parts and then imaginary parts");
    return {{{1, 2}}};
  }
  template <class In, class Out>
  void value(const nothing&, const In& z, Out y) const {
    const std::complex<double> d = complete_complex_factors(complex_of(z)).determinant();
    y << d.real(), d.imag();
  }
  template <class In>
  void adjoint(const nothing&, const In& z, const In&, const In* y_bar, block* z_bar) const {
    const std::complex<double> by((*y_bar)(0, 0), -(*y_bar)(0, 1));
    *z_bar += parts_beside(by * complete_complex_factors(complex_of(z)).cofactors(), -1);
  }
  template <class Z, class Y>
  auto linearize(const nothing&, const Z& z, const Y&) const {
    return linalg::apply(complex_cofactors_rule{}, z);
  }
  template <class C, class Z, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const C& c, const Z&, const Y&, const D& dz) const {
    const auto re = minus(linalg::dot(real_half(c), real_half(dz)), linalg::dot(imaginary_half(c), imaginary_half(dz)));
    return beside(re, plus(linalg::dot(real_half(c), imaginary_half(dz)), linalg::dot(imaginary_half(c), real_half(dz))));
  }
};

}  // namespace agrad::linalg
