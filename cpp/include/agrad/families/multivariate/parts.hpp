// Parts of multivariate densities that several families share.
#pragma once

#include <agrad/families/multivariate/apply.hpp>
#include <agrad/rules/density/normal.hpp>

namespace agrad::detail {

/// The functions of entries that several densities need.
struct difference_of {
  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    return a - b;
  }
};
struct square_of {
  template <class A>
  auto operator()(const A& a) const {
    return a * a;
  }
};
struct log_of {
  template <class A>
  auto operator()(const A& a) const {
    return agrad::log(a);
  }
};
struct product_of {
  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    return a * b;
  }
};

/// Returns factor times a.
template <class W, class A>
auto multiple(double factor, const A& a) {
  return W::each([factor](const auto& x) { return factor * x; }, a);
}
/// Returns the sum of parts of corresponding shapes.
template <class W, class... A>
auto added(const A&... a) {
  return W::each([](const auto&... x) { return (x + ...); }, a...);
}
/// Returns the sum of three parts, each 1 x 1, with factors.
template <class W, class A, class B, class C>
auto weighted(double of_a, const A& a, double of_b, const B& b, double of_c, const C& c) {
  return W::each([&](const auto& x, const auto& y, const auto& z) { return of_a * x + of_b * y + of_c * z; }, a, b, c);
}

/// Returns half of log det L L', the sum of the logarithms of the diagonal.
template <class W, class L>
auto log_diagonal(const L& l) {
  return W::sum(W::each(log_of{}, W::diagonal(l)));
}
inline Eigen::MatrixXd one_number(double x) { return Eigen::MatrixXd::Constant(1, 1, x); }

/// Returns how often each of the rows stands for an observation, if one row may stand for all n.
template <class M>
double copies(const M& rows, Eigen::Index n) {
  return static_cast<double>(n) / static_cast<double>(rows.rows() == 0 ? 1 : rows.rows());
}

}  // namespace agrad::detail
