// Spectrum: the common part of derivatives of eigenvectors and singular vectors, divisions by the gaps of a spectrum.
//
// The adjoint Vbar of eigenvectors V enters as (S - S') / (w_j - w_i) with S = V' Vbar. If two values are equal, this is 0 / 0
// for every function that does not depend on the choice of vectors within the eigenspace; other functions have no derivative.
// For spectral functions, <C, g(a)>, the quotient is a divided difference of g, which follows from the other adjoints: S is
// 2 C g, column by column, and the adjoint of the values is the diagonal of C g', so half the sum of S_ij w_bar_j / S_jj and
// S_ji w_bar_i / S_ii is the mean of two slopes of g, with an error of the order of the squared gap. If the quotient and this
// mean agree, the one with the smaller error is used. If neither has seven digits, DomainError is thrown: at a gap of about 4e7
// n eps times the largest value for functions that depend on the choice of the vectors. Tangents do not know how they are used,
// so that tangents below that gap are rejected.
#pragma once

#include <algorithm>
#include <cmath>

#include <agrad/rules/linalg/structure.hpp>

namespace agrad::linalg {

[[noreturn]] AGRAD_COLD inline void fail_degenerate(std::string_view function, Index i, Index j, double value) {
  throw LinAlgError(agrad::detail::sentence(
      function, "a", -1, "degenerate", "with distinct values where vectors are differentiated",
      "values " + std::to_string(i) + " and " + std::to_string(j) + " are both " + agrad::detail::to_text(value)));
}

/// Differences below this are rounding errors of the decomposition.
template <class In>
double smallest_gap(const In& w) {
  return w.size() == 0 ? 0
                       : 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(w.size()) * w.cwiseAbs().maxCoeff();
}

inline constexpr double close_values = 1e-3;      // a gap relative to the values; above, quotients by the gap are accurate
inline constexpr double recognised_zero = 1e-10;  // of a numerator, relative to the largest
inline constexpr double lost_digits = 1e-7;       // the largest relative error that is accepted

/// The scale of values: errors of the decomposition are relative to `of`, and `noise` is their relative size.
struct spectral_scale {
  double largest, noise;
  bool is_graded;  // small values have digits of their own, as by Jacobi rotations

  template <class In>
  explicit spectral_scale(const In& w, bool graded = false)
      : largest(w.size() == 0 ? 0 : w.cwiseAbs().maxCoeff()),
        noise(4 * std::numeric_limits<double>::epsilon() * static_cast<double>(w.size())),
        is_graded(graded) {}
  double of(double x, double y) const { return is_graded ? std::max(std::abs(x), std::abs(y)) : largest; }
  /// Returns the relative error of a vector's derivative.
  double error(double x, double y) const { return noise * of(x, y) / std::abs(x - y); }
};

[[noreturn]] AGRAD_COLD inline void fail_close(std::string_view function, Index i, Index j, double x, double y) {
  throw LinAlgError(agrad::detail::sentence(function, "a", -1, "nearly degenerate",
                                            "with values further apart where vectors are differentiated",
                                            "values " + std::to_string(i) + " and " + std::to_string(j) + " are " +
                                                agrad::detail::to_text(x) + " and " + agrad::detail::to_text(y) +
                                                ", and fewer than seven digits of the derivative would be correct; write a "
                                                "function of the matrix itself, such as solve or the inverse, or of the "
                                                "values alone"));
}

/// The quotient of two values that are close but not equal.
class close_quotient {
 public:
  close_quotient(const MatrixXd& s, double x, double y, const Eigen::VectorXd& w_bar, Index i, Index j,
                 const spectral_scale& scale)
      : s_(s), w_bar_(w_bar), i_(i), j_(j), gap_(y - x), scale_(scale.of(x, y)), noise_(scale.noise) {
    size_ = std::max(s.col(i).norm(), s.col(j).norm());
    value_ = 0.5 * (s(i, j) - s(j, i)) / gap_;
    const double of_quotient = noise_ * size_ / std::abs(gap_);
    error_ = of_quotient + noise_ * std::abs(value_) * scale_ / std::abs(gap_);
    quotient_ = value_;
    try_mean(of_quotient);
    try_common(of_quotient);
  }
  double value() const { return value_; }
  bool is_lost() const {
    const double size = std::max({std::abs(value_), size_ / scale_, std::abs(w_bar_[i_]), std::abs(w_bar_[j_])});
    return error_ > lost_digits * size;
  }

 private:
  // Tries the mean of the slopes on both sides.
  void try_mean(double of_quotient) {
    if (s_(i_, i_) == 0 || s_(j_, j_) == 0) return;
    const double left = s_(j_, i_) * w_bar_[i_] / s_(i_, i_), right = s_(i_, j_) * w_bar_[j_] / s_(j_, j_);
    const double mean = 0.5 * (left + right), apart = std::abs(right - left);
    const double bent = apart == 0 ? 0 : apart * apart / std::max(std::abs(mean), 1e-3 * apart);  // by the next derivatives
    consider(mean,
             of_share(i_, s_(j_, i_)) + of_share(j_, s_(i_, j_)) + bent + std::abs(mean) * gap_ * gap_ / (scale_ * scale_),
             of_quotient);
  }
  // Tries one slope for both sides, if one of the slopes is not known.
  void try_common(double of_quotient) {
    const double squares = s_(i_, i_) * s_(i_, i_) + s_(j_, j_) * s_(j_, j_);
    if (squares == 0) return;
    const double slope = (s_(i_, i_) * w_bar_[i_] + s_(j_, j_) * w_bar_[j_]) / squares;
    const Index known = std::abs(s_(i_, i_)) > std::abs(s_(j_, j_)) ? i_ : j_;
    const double common = slope * 0.5 * (s_(i_, j_) + s_(j_, i_));
    consider(common, of_share(known, s_(i_, j_)) + 10 * std::abs(common) * std::abs(gap_) / scale_, of_quotient);
  }
  /// The error of x w_bar_k / s_kk.
  double of_share(Index k, double x) const {
    const double share = std::abs(x / s_(k, k)), weight = std::abs(w_bar_[k]);
    return noise_ * share * (weight + weight / std::abs(s_(k, k)) * size_);
  }
  void consider(double candidate, double error, double of_quotient) {
    if (!(error < error_) || std::abs(candidate - quotient_) > 4 * (error + of_quotient)) return;
    value_ = candidate;
    error_ = error;
  }

  const MatrixXd& s_;
  const Eigen::VectorXd& w_bar_;
  Index i_, j_;
  double gap_, scale_, noise_, size_ = 0, quotient_ = 0, value_ = 0, error_ = 0;
};

/// Returns the symmetric q with q_ij = (s_ij - s_ji) / 2 (w_j - w_i) and the adjoints of the values on the diagonal. of_values:
/// s consists of the adjoints of tangents of values (rules/spectra/equal_values.hpp), in a basis that `turn_equal` has chosen.
template <class In>
MatrixXd spectral_quotients(std::string_view function, const MatrixXd& s, const In& w, const Eigen::VectorXd& w_bar,
                            bool is_graded = false, bool of_values = false) {
  const double gap = smallest_gap(w), zero = s.size() == 0 ? 0 : recognised_zero * s.cwiseAbs().maxCoeff();
  const spectral_scale scale(w, is_graded);
  MatrixXd q = w_bar.asDiagonal();
  const auto limit = [&](Index i, Index j) {
    if (std::abs(s(i, j) - s(j, i)) > zero) fail_degenerate(function, i, j, w(i, 0));
    const double most = std::max(std::abs(w_bar[i]), std::abs(w_bar[j])), across = s(j, j) - s(i, i);
    const double across_bar = w_bar[j] - w_bar[i];
    if (std::max({std::abs(s(i, j)), std::abs(s(i, i)), std::abs(s(j, j))}) <= zero) {  // 0 / 0, even if vectors are used
      const double known = recognised_zero * w_bar.cwiseAbs().maxCoeff();
      if (of_values ? std::abs(across_bar) > lost_digits * most + known : most > known)
        fail_degenerate(function, i, j, w(i, 0));
      return 0.0;
    }
    if (std::abs(s(i, j)) <= zero) return 0.0;
    if (of_values) {
      if (!(std::abs(across) > 1e-5 * s.cwiseAbs().maxCoeff())) fail_degenerate(function, i, j, w(i, 0));
      return across_bar / across * 0.5 * (s(i, j) + s(j, i));
    }
    const double squares = s(i, i) * s(i, i) + s(j, j) * s(j, j);
    const double ratio = (s(i, i) * w_bar[i] + s(j, j) * w_bar[j]) / squares;
    const double rest = std::abs(w_bar[i] - ratio * s(i, i)) + std::abs(w_bar[j] - ratio * s(j, j));
    const double known = 1e-7 * (std::abs(w_bar[i]) + std::abs(w_bar[j]));
    if (!(squares > 2 * zero * zero && rest <= known)) fail_degenerate(function, i, j, w(i, 0));
    return ratio * 0.5 * (s(i, j) + s(j, i));
  };
  const auto close = [&](Index i, Index j) {
    const close_quotient quotient(s, w(i, 0), w(j, 0), w_bar, i, j, scale);
    if (AGRAD_UNLIKELY(quotient.is_lost())) fail_close(function, i, j, w(i, 0), w(j, 0));
    return quotient.value();
  };
  for (Index j = 0; j < w.rows(); ++j) {
    for (Index i = 0; i < j; ++i) {
      const double difference = w(j, 0) - w(i, 0);
      if (std::abs(difference) <= gap)
        q(i, j) = limit(i, j);
      else if (std::abs(difference) > close_values * scale.of(w(i, 0), w(j, 0)) || (s(i, j) == 0 && s(j, i) == 0))
        q(i, j) = 0.5 * (s(i, j) - s(j, i)) / difference;
      else
        q(i, j) = close(i, j);
      q(j, i) = q(i, j);
    }
  }
  return q;
}

/// For tangents: throws unless the numerators vanish off the diagonal where values are too close.
template <class In>
void check_resolved(std::string_view function, const In& numerators, const In& w, bool is_graded = false) {
  const double gap = smallest_gap(w), largest = numerators.size() == 0 ? 0 : numerators.cwiseAbs().maxCoeff();
  const spectral_scale scale(w, is_graded);
  for (Index j = 0; j < w.rows(); ++j)
    for (Index i = 0; i < j; ++i) {
      const double size = std::abs(numerators(i, j));
      if (std::abs(w(j, 0) - w(i, 0)) <= gap) {
        if (size > recognised_zero * largest) fail_degenerate(function, i, j, w(i, 0));
      } else if (scale.error(w(i, 0), w(j, 0)) > lost_digits && size > 2 * scale.noise * largest) {
        fail_close(function, i, j, w(i, 0), w(j, 0));
      }
    }
}

/// For tangents of adjoints: throws if large terms have cancelled, so that a result has no correct digits. is_partial: further
/// terms are added elsewhere, which may cancel the result; it is then compared with terms that no gap has enlarged. sign: the
/// terms are divided by w_j + sign w_i.
template <class In>
void check_second_order(std::string_view function, const MatrixXd& s, const MatrixXd& numerators, const In& w,
                        const MatrixXd& result, bool is_partial, double sign = -1) {
  const spectral_scale scale(w);
  const double size = result.norm(), largest = scale.largest;
  const double natural = is_partial ? s.cwiseAbs().maxCoeff() * numerators.cwiseAbs().maxCoeff() / (largest * largest) : 0;
  for (Index j = 0; j < w.rows(); ++j)
    for (Index i = 0; i < j; ++i) {
      const double gap = w(j, 0) + sign * w(i, 0);
      if (std::abs(gap) <= smallest_gap(w) || std::abs(gap) > close_values * largest) continue;
      const double terms = (std::abs(s(i, j)) + std::abs(s(j, i))) * std::abs(numerators(i, j)) / (gap * gap);
      if (AGRAD_UNLIKELY(scale.noise * terms > 10 * lost_digits * (is_partial ? natural : size)))
        fail_close(function, i, j, w(i, 0), w(j, 0));
    }
}

/// 1 / x for every entry, 0 if x is at most `zero` in absolute value. closest: the smallest ratio of two entries for which
/// recorded tangents, which are differentiated to high orders, have enough digits.
struct reciprocal_rule : rule<1> {
  static constexpr std::string_view name = "reciprocal";
  double zero, closest;
  explicit reciprocal_rule(double largest_zero, double least_ratio = 0) : zero(largest_zero), closest(least_ratio) {}
  shapes results_of(const shape& a) const { return {{a}}; }
  template <class In, class Out>
  void value(const nothing&, const In& a, Out y) const {
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = 0; i < a.rows(); ++i) y(i, j) = std::abs(a(i, j)) <= zero ? 0 : 1 / a(i, j);
  }
  template <class In>
  void adjoint(const nothing&, const In&, const In& y, const In* y_bar, block* a_bar) const {
    *a_bar -= y_bar->cwiseProduct(y).cwiseProduct(y);
  }
  template <class A, class Y, class D>
  auto tangent(wrt<0>, const nothing&, const nothing&, const A&, const Y& y, const D& da) const {
    return times(-1, entrywise(entrywise(y, y), da));
  }
};

/// Returns 1 / (w_j + sign w_i) for all i, j; 0 if the denominator is a rounding error.
template <class W>
auto reciprocal_gaps(const W& w, double sign) {
  const MatrixXd ones = MatrixXd::Ones(w.rows(), 1);
  const auto gaps = linalg::apply(sum_rule(sign), product<false, true>(ones, w), product<false, true>(w, ones));
  return linalg::apply(reciprocal_rule(smallest_gap(primal(w)), close_values), gaps);
}

}  // namespace agrad::linalg
