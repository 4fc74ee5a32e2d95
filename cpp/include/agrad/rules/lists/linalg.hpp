// Linear algebra: all operations on whole matrices of doubles, variables or duals.
//
// rule.hpp explains how an operation is stated; apply.hpp, how its engine is chosen; algebra.hpp and structure.hpp have the
// words of tangents. general_eigen.hpp and complex_determinant.hpp are included by their users alone, because complex
// decompositions take seconds to compile.
#pragma once

#include <agrad/base/typelist.hpp>
#include <agrad/rules/fourier/complex.hpp>
#include <agrad/rules/linalg/determinant.hpp>
#include <agrad/rules/linalg/exponential.hpp>
#include <agrad/rules/linalg/forms.hpp>
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/linalg/ldlt.hpp>
#include <agrad/rules/linalg/qr.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/rules/linalg/triangular.hpp>
#include <agrad/rules/spectra/eigen.hpp>
#include <agrad/rules/spectra/least_squares.hpp>
#include <agrad/rules/spectra/svd.hpp>

namespace agrad::linalg {
struct general_eigen_rule;
struct general_eigenvalues_rule;
struct complex_determinant_rule;
}  // namespace agrad::linalg

namespace agrad::rules {

template <int Mode>
using triangular = typelist<linalg::solve_triangular_rule<Mode, false>, linalg::solve_triangular_rule<Mode, true>>;

/// The rules that are operations of recorded programs.
using equations = concat_t<
    typelist<linalg::solve_rule, linalg::inverse_rule, linalg::determinant_rule, linalg::slogdet_rule,
             linalg::log_determinant_rule, linalg::cholesky_rule, linalg::solve_spd_rule, linalg::log_determinant_spd_rule>,
    triangular<Eigen::Lower>, triangular<Eigen::Upper>, triangular<Eigen::UnitLower>, triangular<Eigen::UnitUpper>, fourier>;
using decompositions =
    typelist<linalg::least_squares_rule, linalg::pseudoinverse_rule, linalg::qr_rule<false>, linalg::matrix_exp_rule>;
using spectra =
    typelist<linalg::symmetric_eigen_rule, linalg::symmetric_eigenvalues_rule, linalg::svd_rule, linalg::singular_values_rule>;
using general_spectra =
    typelist<linalg::general_eigen_rule, linalg::general_eigenvalues_rule, linalg::complex_determinant_rule>;

}  // namespace agrad::rules
