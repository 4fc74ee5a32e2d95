// Equal values: second derivatives of functions of a spectrum's values alone, where some of the values are equal.
//
// The adjoint of a is V diag(c) V' for the values' adjoints c, and along a tangent it changes, in the basis V with P = V' da V,
// by the tangents b of c on the diagonal and by P_ij (c_j - c_i) / (w_j - w_i) elsewhere. In a group of equal values the
// quotient is 0 / 0. If the function is symmetric in these values, its limit is one number k for the group, and b_i is
// k P_ii + constant, because V may be any basis of the eigenspace; so k is the slope of b over the diagonal of P. It needs a
// basis with different P_ii: `turn_equal` chooses one in which no direction of two entries has equal P_ii. Where b is computed
// elsewhere (is_partial, as in a reverse pass over a reverse pass), k is not known. DomainError is thrown in these cases.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <agrad/rules/spectra/spectrum.hpp>

namespace agrad::linalg {

/// Returns the indices of values that are equal up to `gap`; difference(i, j) is the distance of two values.
template <class Difference>
std::vector<std::vector<Index>> equal_groups(Index n, double gap, const Difference& difference) {
  std::vector<std::vector<Index>> groups;
  for (Index i = 0; i < n; ++i) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const std::vector<Index>& group) { return difference(group.back(), i) <= gap; });
    if (same != groups.end())
      same->push_back(i);
    else
      groups.push_back({i});
  }
  return groups;
}
template <class In>
std::vector<std::vector<Index>> equal_groups(const In& w) {
  return equal_groups(w.rows(), smallest_gap(w), [&](Index i, Index j) { return std::abs(w(i, 0) - w(j, 0)); });
}

/// Turns the vectors of a group by a reflection with irregular entries.
template <class Vectors>
void turn_equal(Vectors& v, const std::vector<Index>& group, double step = 0.43) {
  const std::size_t n = group.size();
  if (n < 2) return;
  const auto entry = [&](std::size_t k) { return 1 + std::fmod(step * static_cast<double>(k), 1.0); };
  double squares = 0;
  auto sum = v.col(group[0]).eval();
  sum.setZero();
  for (std::size_t k = 0; k < n; ++k) {
    sum += entry(k) * v.col(group[k]);
    squares += entry(k) * entry(k);
  }
  for (std::size_t k = 0; k < n; ++k) v.col(group[k]) -= 2 * entry(k) / squares * sum;
}

/// Second derivatives with respect to the values: adjoints c, their tangents b, and the tangent p of a in the basis of the
/// vectors. Scalars are double or complex.
template <class T>
class second_of_values {
 public:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

  second_of_values(const Vector& c, const Vector& b, const Matrix& p, double largest, bool is_partial)
      : c_(c),
        b_(b),
        p_(p),
        largest_(largest),
        noise_(4 * std::numeric_limits<double>::epsilon() * static_cast<double>(c.size())),
        size_(p.size() == 0 ? 0 : p.cwiseAbs().maxCoeff()),
        most_(c.size() == 0 ? 0 : c.cwiseAbs().maxCoeff()),
        is_partial_(is_partial) {}

  /// An error of b that is rounding.
  double slight() const { return noise_ * (b_.cwiseAbs().maxCoeff() + (largest_ > 0 ? most_ / largest_ * size_ : 0)); }
  bool is_zero(T x) const { return std::abs(x) <= recognised_zero * size_; }
  /// Computes the common quotient of a group of equal values. Returns whether the quotient is known.
  bool limit(const std::vector<Index>& group, T& k) const {
    T mean_b = 0, mean_p = 0, product = 0;
    const double n = static_cast<double>(group.size());
    for (const Index i : group) mean_b += b_[i] / n, mean_p += p_(i, i) / n;
    double squares = 0, b_size = 0, apart = 0;
    for (const Index i : group) {
      const T x = p_(i, i) - mean_p;
      squares += std::norm(x);
      product += conjugate(x) * (b_[i] - mean_b);
      b_size = std::max(b_size, std::abs(b_[i]));
      apart = std::max(apart, std::abs(c_[i] - c_[group[0]]));
    }
    if (is_partial_ || !(std::sqrt(squares) > 1e-5 * size_)) return false;
    k = product / squares;
    for (const Index i : group)
      if (!(std::abs(b_[i] - mean_b - k * (p_(i, i) - mean_p)) <= lost_digits * (b_size + std::abs(k) * size_) + slight()))
        return false;
    return apart <= recognised_zero * (most_ + std::abs(k) * largest_);
  }
  /// Computes the quotient of two values that differ by `gap`, scaled by the condition of the vectors. Returns whether the
  /// quotient has kept its digits.
  bool quotient(Index i, Index j, T gap, double condition, T& k) const {
    k = (c_[j] - c_[i]) / gap;
    const double over_gap = 4 * std::numeric_limits<double>::epsilon() * condition / std::abs(gap);  // c is rounded
    const double error = over_gap * (std::abs(c_[i]) + std::abs(c_[j]));
    const double natural = std::max(is_partial_ ? 0 : std::abs(k), most_ / largest_);  // parts may cancel
    if (error <= lost_digits * natural) return true;
    const T across = p_(j, j) - p_(i, i);
    if (is_partial_ || !(std::abs(across) > 1e-5 * size_)) return false;
    const T slope = (b_[j] - b_[i]) / across;
    const bool agrees =
        std::abs(slope - k) <= 4 * error + over_gap * largest_ * std::abs(slope) + lost_digits * std::abs(slope);
    k = slope;
    return agrees && 4 * std::abs(gap) <= lost_digits * largest_;
  }

 private:
  static double conjugate(double x) { return x; }
  static std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

  const Vector& c_;
  const Vector& b_;
  const Matrix& p_;
  double largest_, noise_, size_, most_;
  bool is_partial_;
};

/// Returns the number of the group of each value.
inline std::vector<std::size_t> group_of(const std::vector<std::vector<Index>>& groups, Index n) {
  std::vector<std::size_t> of(static_cast<std::size_t>(n));
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const Index i : groups[g]) of[static_cast<std::size_t>(i)] = g;
  return of;
}

/// Returns the matrix of k_ij for i != j, where p is not zero, of real values w: c's quotients and their limits.
template <class In>
MatrixXd quotients_of_values(std::string_view function, const second_of_values<double>& second, const MatrixXd& p,
                             const In& w) {
  const auto groups = equal_groups(w);
  const auto of = group_of(groups, w.rows());
  MatrixXd k = MatrixXd::Zero(w.rows(), w.rows());
  for (Index j = 0; j < w.rows(); ++j)
    for (Index i = 0; i < j; ++i) {
      if (second.is_zero(p(i, j)) && second.is_zero(p(j, i))) continue;
      const std::size_t group = of[static_cast<std::size_t>(i)];
      if (group == of[static_cast<std::size_t>(j)]) {
        if (AGRAD_UNLIKELY(!second.limit(groups[group], k(i, j)))) fail_degenerate(function, i, j, w(i, 0));
      } else if (AGRAD_UNLIKELY(!second.quotient(i, j, w(j, 0) - w(i, 0), 1, k(i, j)))) {
        fail_close(function, i, j, w(i, 0), w(j, 0));
      }
      k(j, i) = k(i, j);
    }
  return k;
}

}  // namespace agrad::linalg
