// Transform: discrete Fourier transforms of any length, on doubles.
//
// y_f = sum_j exp(-2 pi i f j / n) x_j. With real and imaginary parts exchanged, of x and of y, it is the transform with +i:
// n times the inverse, and the adjoint. Lengths with small prime factors take passes (rules/fourier/passes.hpp), others
// Bluestein's convolution. Definitions are in rules/fourier/transform.ipp. Read next: rules/fourier/rule.hpp.
#pragma once

#include <Eigen/Core>

namespace agrad::fourier {

using Eigen::Index;

/// Computes a transform of length n. The results may not overlap the arguments.
/// The error is about 1e-16 log2(n) of the norm. The tables of each thread's last lengths are stored.
void transform(Index n, const double* re, const double* im, double* y_re, double* y_im);

/// Computes the first n / 2 + 1 results for n real numbers; the others are the conjugates of these. For an even n by a
/// transform of half the length.
void real_transform(Index n, const double* x, double* y_re, double* y_im);
/// Computes the transposed map: the n numbers sum_f Re(exp(2 pi i f j / n) y_f) of n / 2 + 1 complex ones.
void transposed_real_transform(Index n, const double* y_re, const double* y_im, double* x);

}  // namespace agrad::fourier

#ifndef AGRAD_COMPILED
#include <agrad/rules/fourier/transform.ipp>
#endif
