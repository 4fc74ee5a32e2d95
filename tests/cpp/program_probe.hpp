// Probing a program: all its derivatives, by every reverse pass it has and in both widths, and how far they are from each
// other and from finite differences. A nan anywhere is an infinite distance.
#pragma once

#include <Eigen/Core>
#include <agrad/program/program.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "finite_differences.hpp"

namespace program_probe {

using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using numbers = std::vector<double>;

inline Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

inline numbers run(const agrad::program& f, const numbers& x) {
  agrad::workspace w;
  numbers y(f.output_size());
  f.forward(w, x.data(), y.data());
  return y;
}

/// Returns the gradient by one reverse pass.
inline numbers gradient(const agrad::program& f, const numbers& x, const numbers& seeds) {
  agrad::workspace w;
  numbers y(f.output_size()), adjoint(f.input_size(), 77.0);
  f.forward(w, x.data(), y.data());
  f.reverse(w, seeds.data(), adjoint.data());
  return adjoint;
}

inline rows jacobian_by_adjoints(const agrad::program& f, const numbers& x) {
  rows jacobian(index(f.output_size()), index(f.input_size()));
  for (std::size_t i = 0; i < f.output_size(); ++i) {
    numbers seeds(f.output_size(), 0.0);
    seeds[i] = 1;
    const numbers row = gradient(f, x, seeds);
    for (std::size_t j = 0; j < row.size(); ++j) jacobian(index(i), index(j)) = row[j];
  }
  return jacobian;
}

/// What runs in many directions give: the Jacobian times them, and for a seeded sum of the outputs its gradient and its
/// Hessian times them, a column for each direction.
struct derivatives {
  rows tangents, hessian;
  numbers gradient;
};

/// Along the columns of `directions`, Width at a time.
template <int Width>
derivatives along(const agrad::program& f, agrad::workspace& w, const numbers& x, const rows& directions,
                  const numbers& seeds) {
  const std::size_t n = f.input_size(), m = f.output_size();
  derivatives all{rows::Constant(index(m), directions.cols(), 1e300), rows::Constant(index(n), directions.cols(), 1e300),
                  numbers(n, 1e300)};
  numbers y(m), in(n * Width), out(m * Width), back(n * Width);
  f.forward(w, x.data(), y.data());
  for (Eigen::Index d = 0; d < directions.cols(); d += Width) {
    const Eigen::Index here = std::min<Eigen::Index>(Width, directions.cols() - d);
    std::fill(in.begin(), in.end(), 0.0);
    const auto each = [&](std::size_t count, const auto& use) {
      for (std::size_t i = 0; i < count; ++i)
        for (Eigen::Index k = 0; k < here; ++k) use(index(i), d + k, i * Width + static_cast<std::size_t>(k));
    };
    each(n, [&](Eigen::Index i, Eigen::Index k, std::size_t at) { in[at] = directions(i, k); });
    f.tangent<Width>(w, in.data(), out.data());
    f.second<Width>(w, seeds.data(), all.gradient.data(), back.data());
    each(m, [&](Eigen::Index i, Eigen::Index k, std::size_t at) { all.tangents(i, k) = out[at]; });
    each(n, [&](Eigen::Index i, Eigen::Index k, std::size_t at) { all.hessian(i, k) = back[at]; });
  }
  return all;
}

template <int Width>
derivatives along(const agrad::program& f, const numbers& x, const rows& directions, const numbers& seeds) {
  agrad::workspace w;
  return along<Width>(f, w, x, directions, seeds);
}

inline rows unit_directions(std::size_t n) { return rows::Identity(index(n), index(n)); }

template <class A, class B>
double distance(const A& a, const B& b) {
  double largest = 0;
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      const double d = std::abs(a(i, j) - b(i, j));
      largest = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(largest, d);
    }
  return largest;
}
inline Eigen::Map<const Eigen::VectorXd> vector(const numbers& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), index(x.size()));
}

/// Different seeds for all outputs.
inline numbers seeds_of(const agrad::program& f) {
  numbers seeds(f.output_size());
  for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = std::cos(static_cast<double>(i));
  return seeds;
}

/// The largest difference between the reverse passes, and between each of them and finite differences of order 6 (of the
/// values for first derivatives, of the reverse pass for second ones).
inline double disagreement(const agrad::program& f, const numbers& x, double h = 1e-2) {
  const auto from = [](const Eigen::VectorXd& v) { return numbers(v.data(), v.data() + v.size()); };
  const auto value = [&](const Eigen::VectorXd& v) { return Eigen::VectorXd(vector(run(f, from(v)))); };
  const numbers seeds = seeds_of(f);
  const auto slope = [&](const Eigen::VectorXd& v) { return Eigen::VectorXd(vector(gradient(f, from(v), seeds))); };
  const rows jacobian = finite_differences::jacobian(value, vector(x), h),
             hessian = finite_differences::jacobian(slope, vector(x), h);
  const rows directions = unit_directions(x.size());
  const derivatives one = along<1>(f, x, directions, seeds), lanes = along<agrad::lane_count>(f, x, directions, seeds);
  const numbers seeded = gradient(f, x, seeds);
  return std::max({distance(jacobian_by_adjoints(f, x), jacobian), distance(one.tangents, jacobian),
                   distance(lanes.tangents, jacobian), distance(one.hessian, hessian), distance(lanes.hessian, hessian),
                   distance(vector(one.gradient), vector(seeded)), distance(vector(lanes.gradient), vector(seeded))});
}

}  // namespace program_probe
