// The loops of products, alone and within generalised linear models.
//
// Adjoints as in Giles (2008), 2.2.2. Tangents of b take one product for all lanes: the columns of b times the lanes are the
// columns of one matrix. Tangents of a are copied lane by lane.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include <agrad/base/finite.hpp>
#include <agrad/program/kernels/small_products.hpp>
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

  /// Two factors and their adjoints, null where a factor is passive.
  struct factors {
    const double *a, *b;
    double *a_adjoint = nullptr, *b_adjoint = nullptr;

    factors(const operation& op, Index row, Index columns, const double* values)
        : a(values + op.operands[0].first + row * columns), b(values + op.operands[1].first) {}
    factors(const operation& op, Index row, Index columns, const double* values, double* adjoints)
        : factors(op, row, columns, values) {
      if (op.operands[0].active) a_adjoint = adjoints + op.operands[0].first + row * columns;
      if (op.operands[1].active) b_adjoint = adjoints + op.operands[1].first;
    }
  };

  static void multiply(const shape& s, const factors& x, double* result) {
    map y(result, s.n, s.m);
    y.setZero();
    const auto multiply_narrow = [&](auto narrow) { narrow.add(static_cast<std::size_t>(s.n), x.a, x.b, result); };
    if (s.m == 1 && use_narrow(static_cast<std::size_t>(s.k), multiply_narrow)) return;
    add_product(y, const_map(x.a, s.n, s.k), const_map(x.b, s.k, s.m));
  }

  static void add_adjoints(const shape& s, const factors& x, const double* y_adjoint) {
    const const_map y(y_adjoint, s.n, s.m);
    if ((y.array() == 0).all()) return;  // an infinite factor of an unused product must not become nan
    if (!are_finite(y.data(), static_cast<std::size_t>(y.size()))) return add_adjoints_by_entries(s, x, y_adjoint);
    if (x.a_adjoint != nullptr) add_product(map(x.a_adjoint, s.n, s.k), y, const_map(x.b, s.k, s.m).transpose());
    if (x.b_adjoint == nullptr) return;
    const auto multiply_narrow = [&](auto narrow) {
      narrow.add_transposed(static_cast<std::size_t>(s.n), x.a, y.data(), x.b_adjoint);
    };
    if (s.m == 1 && use_narrow(static_cast<std::size_t>(s.k), multiply_narrow)) return;
    add_product(map(x.b_adjoint, s.k, s.m), const_map(x.a, s.n, s.k).transpose(), y);
  }

  /// Computes the adjoints entry by entry, where an adjoint is not finite (rules/passing.hpp).
  AGRAD_COLD static void add_adjoints_by_entries(const shape& s, const factors& x, const double* y_adjoint) {
    for (Index i = 0; i < s.n; ++i)
      for (Index j = 0; j < s.m; ++j)
        for (Index l = 0; l < s.k; ++l) {
          const double seed = y_adjoint[i * s.m + j];
          if (x.a_adjoint != nullptr) x.a_adjoint[i * s.k + l] += passed(x.b[l * s.m + j], seed);
          if (x.b_adjoint != nullptr) x.b_adjoint[l * s.m + j] += passed(x.a[i * s.k + l], seed);
        }
  }

  static void forward(const operation& op, const run_context& context, double* values) {
    const shape s(op, context);
    multiply(s, factors(op, 0, s.k, values), values + op.result);
  }

  static void reverse(const operation& op, const run_context& context, const double* values, double* adjoints) {
    const shape s(op, context);
    add_adjoints(s, factors(op, 0, s.k, values, adjoints), adjoints + op.result);
  }

  // ---- a matrix times a vector, row by row

  static std::uint32_t row_count(const operation&, const std::uint32_t* integers) {
    return integers[2] == 1 && integers[1] > 1 ? integers[0] : 0;
  }
  static shape shape_of_rows(const operation& op, const run_context& context, std::uint32_t n) {
    shape s(op, context);
    s.n = n;
    return s;
  }
  static void row_values(const operation& op, const run_context& context, std::uint32_t begin, std::uint32_t n,
                         const double* values, double* y) {
    if (n == 1 && begin > 0) {  // Eigen rounds a single row otherwise than the rows of a matrix
      double two[2];
      row_values(op, context, begin - 1, 2, values, two);
      *y = two[1];
      return;
    }
    const shape s = shape_of_rows(op, context, n);
    multiply(s, factors(op, begin, s.k, values), y);
  }
  static void row_reverse(const operation& op, const run_context& context, std::uint32_t begin, std::uint32_t n,
                          const double* values, const double* y_adjoint, double* adjoints) {
    const shape s = shape_of_rows(op, context, n);
    add_adjoints(s, factors(op, begin, s.k, values, adjoints), y_adjoint);
  }
  static constexpr row_functions rows_of_vector{row_count, row_values, row_reverse};

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
