// Eigenvalues and eigenvectors of a general matrix, real or complex: a V = V diag(w), both results complex.
//
// A complex matrix is its real parts with the imaginary parts at their right, so the argument is n x n (real) or n x 2n, values
// are n x 2 and vectors n x 2n. Vectors have norm 1 and a positive largest entry, as LAPACK's geev makes it real; of entries of
// the same size the first counts. These two conditions fix the derivative, too: with P = V^-1 da V it is dw_j = P_jj and
//     dv_j = sum_i v_i P_ij / (w_j - w_i) + c_j v_j,
// where c_j keeps the norm and the phase (Boeddeker, Hanebrink, Drude, Heymann & Haeb-Umbach 2017, section 4.6; Giles 2008,
// section 3.1). Read next: rules/spectra/general_spectrum.hpp, the decomposition in doubles.
#pragma once

#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/spectra/general_spectrum.hpp>
#include <agrad/rules/spectra/spectrum.hpp>

namespace agrad::linalg {

// ---- words of complex matrices -------------------------------------------------------------------------------------------

template <class Z>
auto real_half(const Z& z) {
  return columns(z, 0, z.cols() / 2);
}
template <class Z>
auto imaginary_half(const Z& z) {
  return columns(z, z.cols() / 2, z.cols() / 2);
}
/// Returns z w.
template <class Z, class W>
auto complex_product(const Z& z, const W& w) {
  const auto a = real_half(z), b = imaginary_half(z);
  const auto c = real_half(w), d = imaginary_half(w);
  return beside(minus(product(a, c), product(b, d)), plus(product(a, d), product(b, c)));
}
/// Products of corresponding entries.
template <class Z, class W>
auto complex_entrywise(const Z& z, const W& w) {
  const auto a = real_half(z), b = imaginary_half(z);
  const auto c = real_half(w), d = imaginary_half(w);
  return beside(minus(entrywise(a, c), entrywise(b, d)), plus(entrywise(a, d), entrywise(b, c)));
}
/// Returns V^-1, from the inverse of [[Re V', -Im V'], [Im V', Re V']], with rows of V divided by `scales`, which are
/// constants.
template <class V>
auto complex_inverse(const V& v, const MatrixXd& scales) {
  const MatrixXd inverse_scales = scales.cwiseInverse();
  const auto balanced = scaled_rows(inverse_scales, v);
  const auto turned = beside(times(-1, imaginary_half(balanced)), real_half(balanced));
  const auto inverse = linalg::apply(inverse_rule{}, beside(linalg::transpose(balanced), linalg::transpose(turned)));
  MatrixXd twice(2 * scales.rows(), 1);
  twice << inverse_scales, inverse_scales;
  return scaled_columns(linalg::transpose(columns(inverse, 0, v.rows())), twice);
}
/// Returns 1 / (w_j - w_i) for all i, j, of values that are n x 2; 0 where the difference is at most `zero`, and where i = j.
template <class W>
auto complex_reciprocal_gaps(const W& w, double largest, double zero) {
  const double scale = largest > 0 ? largest : 1;
  const MatrixXd ones = MatrixXd::Ones(w.rows(), 1);
  const auto gaps = [&](Index part) {
    const auto x = times(1 / scale, columns(w, part, 1));
    return minus(product<false, true>(ones, x), product<false, true>(x, ones));
  };
  const auto a = gaps(0), b = gaps(1);
  const double least = zero / scale;
  const auto over_square =
      linalg::apply(reciprocal_rule(least * least, close_values * close_values), plus(entrywise(a, a), entrywise(b, b)));
  return beside(times(1 / scale, entrywise(a, over_square)), times(-1 / scale, entrywise(b, over_square)));
}

// ---- rules ---------------------------------------------------------------------------------------------------------------

/// Shapes of values and vectors; the argument is n x n or n x 2n.
inline std::array<shape, 2> general_eigen_shapes(std::string_view function, const shape& a) {
  if (AGRAD_UNLIKELY(a.cols != a.rows && a.cols != 2 * a.rows))
    fail_shape(function, "a", a, "square, or square real parts with square imaginary parts at their right");
  return {{{a.rows, 2}, {a.rows, 2 * a.rows}}};
}

/// Returns V^-1 da V, where da is n x n or n x 2n.
template <class W, class V, class D>
auto in_eigenvectors(const W& inverse, const D& da, const V& v) {
  using result = std::decay_t<decltype(complex_product(beside(product(real_half(inverse), da), inverse), v))>;
  if (da.cols() != da.rows()) return result(complex_product(complex_product(inverse, da), v));
  return result(complex_product(beside(product(real_half(inverse), da), product(imaginary_half(inverse), da)), v));
}

struct general_eigen_rule : rule<1, 2> {
  static constexpr std::string_view name = "general_eigen",
                                    text =
                                        "Eigenvalues and eigenvectors of a general matrix, real parts before imaginary parts.",
                                    source = "Giles 2008, section 3.1; the norm and phase of vectors are kept", numpy = "eig";
  shapes results_of(const shape& a) const { return general_eigen_shapes(name, a); }
  template <class Room, class In>
  general_eigen_factors prepare(Room& room, const In& a) const {
    return factor_general_eigen(name, room, a);
  }
  template <class In, class Out>
  void value(const general_eigen_factors& f, const In&, Out w, Out v) const {
    w = f.values;
    v = f.vectors;
  }
  template <class In>
  void adjoint(const general_eigen_factors& f, const In& a, const In&, const In&, const In* w_bar, const In* v_bar,
               block* a_bar) const {
    add_general_eigen_adjoint(name, f, a.cols() != a.rows(), w_bar, v_bar, *a_bar);
  }
  template <class A, class W, class V>
  auto linearize(const general_eigen_factors& f, const A&, const W&, const V& v) const {
    return complex_inverse(v, f.scales);
  }
  template <class Inverse, class A, class W, class V, class D>
  auto tangent(wrt<0>, const general_eigen_factors& f, const Inverse& inverse, const A&, const W& w, const V& v,
               const D& da) const {
    const Index n = v.rows();
    const auto p = in_eigenvectors(inverse, da, v);
    const general_spectrum spectrum(f);
    spectrum.check(name, complex_of(primal(p)), false);
    const auto inner = complex_entrywise(p, complex_reciprocal_gaps(w, spectrum.largest(), spectrum.smallest_gap()));
    const auto u = complex_product(v, inner);
    // c is the multiple of each vector that is added.
    const MatrixXd ones = MatrixXd::Ones(1, n);
    const MatrixXd at_largest = spectrum.at_largest();
    const auto u_re = real_half(u), u_im = imaginary_half(u), v_re = real_half(v), v_im = imaginary_half(v);
    const auto c_re = times(-1, product(ones, plus(entrywise(v_re, u_re), entrywise(v_im, u_im))));
    const auto inverse_largest = linalg::apply(reciprocal_rule(0), product(ones, entrywise(at_largest, v_re)));
    const auto c_im = times(-1, entrywise(product(ones, entrywise(at_largest, u_im)), inverse_largest));
    const MatrixXd down = MatrixXd::Ones(n, 1);
    const D dv = plus(u, complex_entrywise(beside(product(down, c_re), product(down, c_im)), v));
    return std::array<D, 2>{D(beside(diagonal(real_half(p)), diagonal(imaginary_half(p)))), dv};
  }
};

/// The values alone, whose derivatives divide by no gaps. Where values are equal, the derivative of a single value is one of
/// many, but symmetric functions of equal values have the right one.
struct general_eigenvalues_rule : rule<1> {
  static constexpr std::string_view name = "general_eigenvalues", text = "Eigenvalues of a general matrix, n x 2.",
                                    source = "Giles 2008, section 3.1", numpy = "eigvals";
  using through = general_eigen_rule;
  static constexpr int through_result = 0;
  shapes results_of(const shape& a) const { return {{general_eigen_shapes(name, a)[0]}}; }
  template <class Room, class In>
  general_eigen_factors prepare(Room& room, const In& a) const {
    const general_eigen_factors f = factor_general_eigen(name, room, a);
    if (!is_filled<Room> && a.rows() > 0) turn_equal_vectors(f);
    return f;
  }
  template <class In, class Out>
  void value(const general_eigen_factors& f, const In&, Out w) const {
    w = f.values;
  }
  template <class In>
  void adjoint(const general_eigen_factors& f, const In& a, const In&, const In* w_bar, block* a_bar) const {
    add_general_eigen_adjoint<In>(name, f, a.cols() != a.rows(), w_bar, nullptr, *a_bar);
  }
  /// Adds the tangent of a's adjoint from tangents da of a and b of the values' adjoint c.
  template <class In>
  void add_second(const general_eigen_factors& f, const In&, const MatrixXd& c, const MatrixXd& b, const MatrixXd& da,
                  bool is_partial, block* a_bar_tangent) const {
    add_general_eigen_second(name, f, c, b, da, is_partial, *a_bar_tangent);
  }
  template <class Full, class A, class W, class D>
  auto tangent(wrt<0>, const general_eigen_factors& f, const Full& full, const A&, const W&, const D& da) const {
    const auto p = in_eigenvectors(complex_inverse(full[1], f.scales), da, full[1]);
    general_spectrum(f).check(name, complex_of(primal(p)), true);
    return D(beside(diagonal(real_half(p)), diagonal(imaginary_half(p))));
  }
};

}  // namespace agrad::linalg
