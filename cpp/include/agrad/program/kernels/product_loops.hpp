// The loops of products, alone and within generalised linear models.
//
// Adjoints as in Giles (2008), 2.2.2. Tangents of b take one product for all lanes: the columns of b times the lanes are the
// columns of one matrix. Tangents of a are copied lane by lane.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include <agrad/base/finite.hpp>
#include <agrad/program/kernels/narrow_product.hpp>
#include <agrad/program/machine/by_duals.hpp>
#include <agrad/tape/eigen.hpp>

namespace agrad {

namespace detail {

struct product_loops {
  using Index = Eigen::Index;
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using map = Eigen::Map<rows>;
  using const_map = Eigen::Map<const rows>;

  /// Adds a b to y.
  template <class Y, class A, class B>
  static void add_product(Y&& y, const A& a, const B& b) {
    if (y.cols() == 1)
      y.col(0).noalias() += a * b.col(0);  // Eigen chooses the kernel by the type, at compile time
    else
      y.noalias() += a * b;
  }

  struct shape {
    Index n, k, m;
    shape(const operation& op, const run_context& context)
        : n(context.integers[op.data]), k(context.integers[op.data + 1]), m(context.integers[op.data + 2]) {}
  };

  static bool fits(const operation_view& v) {
    if (!v.has(2, 3)) return false;
    const std::uint32_t *n = v.integers, left = v.op.operands[0].count, right = v.op.operands[1].count;
    return v.is_product(v.op.count, n[0], n[2]) && v.is_product(left, n[0], n[1]) && v.is_product(right, n[1], n[2]) &&
           v.is_dense(0, left) && v.is_dense(1, right);
  }

  static void forward(const operation& op, const run_context& context, double* values) {
    const shape s(op, context);
    map y(values + op.result, s.n, s.m);
    y.setZero();
    const double *a = values + op.operands[0].first, *b = values + op.operands[1].first;
    const auto multiply = [&](auto narrow) { narrow.add(static_cast<std::size_t>(s.n), a, b, y.data()); };
    if (s.m == 1 && use_narrow(static_cast<std::size_t>(s.k), multiply)) return;
    add_product(y, const_map(a, s.n, s.k), const_map(b, s.k, s.m));
  }

  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    const shape s(op, context);
    const const_map y(adjoints + op.result, s.n, s.m);
    if ((y.array() == 0).all()) return;  // an infinite factor of an unused product must not become nan
    const span &a = op.operands[0], &b = op.operands[1];
    if (!are_finite(y.data(), static_cast<std::size_t>(y.size()))) return reverse_by_entries(op, s, values, adjoints);
    if (a.active) add_product(map(adjoints + a.first, s.n, s.k), y, const_map(values + b.first, s.k, s.m).transpose());
    if (!b.active) return;
    const auto multiply = [&](auto narrow) {
      narrow.add_transposed(static_cast<std::size_t>(s.n), values + a.first, y.data(), adjoints + b.first);
    };
    if (s.m == 1 && use_narrow(static_cast<std::size_t>(s.k), multiply)) return;
    add_product(map(adjoints + b.first, s.k, s.m), const_map(values + a.first, s.n, s.k).transpose(), y);
  }

  /// Computes the adjoints entry by entry, where an adjoint is not finite (rules/passing.hpp).
  AGRAD_COLD static void reverse_by_entries(const operation& op, const shape& s, const double* values, double* adjoints) {
    const span &a = op.operands[0], &b = op.operands[1];
    for (Index i = 0; i < s.n; ++i)
      for (Index j = 0; j < s.m; ++j)
        for (Index l = 0; l < s.k; ++l) {
          const Index left = a.first + i * s.k + l, right = b.first + l * s.m + j;
          const double seed = adjoints[op.result + i * s.m + j];
          if (a.active) adjoints[left] += passed(values[right], seed);
          if (b.active) adjoints[right] += passed(values[left], seed);
        }
  }

  /// Returns lane k of n slots, copied to `room` if there are several lanes.
  template <int Width>
  static const double* lane(const double* space, std::size_t first, Index n, int k, std::vector<double>& room) {
    if constexpr (Width == 1) return space + first;
    room.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < room.size(); ++i) room[i] = space[(first + i) * Width + static_cast<std::size_t>(k)];
    return room.data();
  }
  template <int Width>
  static void add_lane(double* space, std::size_t first, const rows& what, int k) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(what.size()); ++i)
      space[(first + i) * Width + static_cast<std::size_t>(k)] += what.data()[i];
  }

  /// Computes the tangents again entry by entry: a zero tangent times an infinite entry is zero (rules/passing.hpp).
  template <int Width>
  AGRAD_COLD static void tangent_by_entries(const operation& op, const shape& s, const double* values, double* tangents) {
    const span &a = op.operands[0], &b = op.operands[1];
    const auto propagate = [&](double factor, Index from, double* to) {
      for (Index k = 0; k < Width; ++k) to[k] += passed(factor, tangents[from * Width + k]);
    };
    for (Index i = 0; i < s.n; ++i)
      for (Index j = 0; j < s.m; ++j) {
        double* to = tangents + (op.result + i * s.m + j) * Width;
        std::fill_n(to, Width, 0.0);
        for (Index l = 0; l < s.k; ++l) {
          const Index left = a.first + i * s.k + l, right = b.first + l * s.m + j;
          if (a.active) propagate(values[right], left, to);
          if (b.active) propagate(values[left], right, to);
        }
      }
  }

  template <int Width>
  static void tangent(const operation& op, const run_context& context, const double* values, double* tangents) {
    const shape s(op, context);
    map result(tangents + op.result * std::size_t{Width}, s.n, s.m * Width);
    result.setZero();
    add_tangents<Width>(op, s, values, tangents);
    if (!are_finite(result.data(), static_cast<std::size_t>(result.size()))) tangent_by_entries<Width>(op, s, values, tangents);
  }

  template <int Width>
  static void add_tangents(const operation& op, const shape& s, const double* values, double* tangents) {
    const span &a = op.operands[0], &b = op.operands[1];
    if (b.active)
      add_product(map(tangents + op.result * std::size_t{Width}, s.n, s.m * Width), const_map(values + a.first, s.n, s.k),
                  const_map(tangents + b.first * std::size_t{Width}, s.k, s.m * Width));
    if (!a.active) return;
    std::vector<double> room;
    rows part(s.n, s.m);
    for (int k = 0; k < Width; ++k) {
      part.setZero();
      add_product(part, const_map(lane<Width>(tangents, a.first, s.n * s.k, k, room), s.n, s.k),
                  const_map(values + b.first, s.k, s.m));
      add_lane<Width>(tangents, op.result, part, k);
    }
  }

  template <int Width>
  static void second(const operation& op, const run_context& context, const second_spaces& w) {
    reverse(op, context, w.values, w.adjoints);
    const shape s(op, context);
    const span &a = op.operands[0], &b = op.operands[1];
    const const_map wide(w.adjoint_tangents + op.result * std::size_t{Width}, s.n, s.m * Width);
    const const_map y(w.adjoints + op.result, s.n, s.m);
    const bool is_used = (y.array() != 0).any();
    if (!is_used && (wide.array() == 0).all()) return;
    if (b.active)
      add_product(map(w.adjoint_tangents + b.first * std::size_t{Width}, s.k, s.m * Width),
                  const_map(w.values + a.first, s.n, s.k).transpose(), wide);
    if (!a.active) return;
    std::vector<double> room;
    for (int k = 0; k < Width; ++k) {
      rows sum = rows::Zero(s.n, s.k);
      add_product(sum, const_map(lane<Width>(w.adjoint_tangents, op.result, s.n * s.m, k, room), s.n, s.m),
                  const_map(w.values + b.first, s.k, s.m).transpose());
      if (b.active && is_used) {
        add_product(sum, y, const_map(lane<Width>(w.tangents, b.first, s.k * s.m, k, room), s.k, s.m).transpose());
        rows other = rows::Zero(s.k, s.m);
        add_product(other, const_map(lane<Width>(w.tangents, a.first, s.n * s.k, k, room), s.n, s.k).transpose(), y);
        add_lane<Width>(w.adjoint_tangents, b.first, other, k);
      }
      add_lane<Width>(w.adjoint_tangents, a.first, sum, k);
    }
  }
};

}  // namespace detail

}  // namespace agrad
