// Definitions of program/kernels/extremum.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/extremum.hpp>
#include <agrad/program/kernels/lines.hpp>
#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

namespace detail {
inline double primal(double x) { return x; }
template <class T, int K>
double primal(const dual<T, K>& x) {
  return primal(x.value);
}

/// Returns the place of the first extreme in the line, or of the first nan.
template <bool IsMax, class S>
std::uint32_t place_of_extreme(const S* x, const lines& over) {
  std::uint32_t best = 0;
  for (std::uint32_t j = 0; j < over.length; ++j) {
    const double here = primal(x[std::size_t{j} * over.inner]), there = primal(x[std::size_t{best} * over.inner]);
    if (std::isnan(here)) return j;
    if (IsMax ? here > there : here < there) best = j;
  }
  return best;
}
}  // namespace detail

/// integers = {length, inner}
template <bool IsMax, class S>
struct extreme_loops {
  static bool fits(const operation_view& v) { return lines::fit_reduced(v, 1, 1); }
  static std::uint32_t ties(const S* x, const lines& over, double extreme) {
    std::uint32_t count = 0;
    for (std::uint32_t j = 0; j < over.length; ++j)
      count += detail::primal(x[std::size_t{j} * over.inner]) == extreme ? 1U : 0U;
    return count;
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::reduced(op, context);
    if constexpr (std::is_same_v<S, double>) {
      forward_numbers(over, values + op.operands[0].first, values + op.result);
    } else {
      for (std::uint32_t i = 0; i < over.count; ++i) {
        const S* x = values + op.operands[0].first + over.begin(i);
        S& y = values[op.result + i] = x[std::size_t{detail::place_of_extreme<IsMax>(x, over)} * over.inner];
        share_tangents(x, over, y);
      }
    }
  }
  static double extreme_of(double x, double y) { return (IsMax ? y > x : y < x) || std::isnan(y) ? y : x; }
  // Computes neighbouring lines together, or four parts of one line, so that comparisons do not wait for each other.
  static void forward_numbers(const lines& over, const double* x, double* y) {
    for (std::uint32_t i = 0; i < over.count; i += over.inner, y += over.inner, x += std::size_t{over.length} * over.inner) {
      if (over.inner == 1) {
        double part[4] = {x[0], x[0], x[0], x[0]};
        std::uint32_t j = 0;
        for (; j + 4 <= over.length; j += 4)
          for (std::uint32_t k = 0; k < 4; ++k) part[k] = extreme_of(part[k], x[j + k]);
        for (; j < over.length; ++j) part[0] = extreme_of(part[0], x[j]);
        *y = extreme_of(extreme_of(part[0], part[1]), extreme_of(part[2], part[3]));
      } else {
        std::copy(x, x + over.inner, y);
        for (std::uint32_t j = 1; j < over.length; ++j)
          for (std::uint32_t k = 0; k < over.inner; ++k) y[k] = extreme_of(y[k], x[std::size_t{j} * over.inner + k]);
      }
    }
  }
  static void share_tangents(const S* x, const lines& over, S& y) {
    const double extreme = detail::primal(y);
    const std::uint32_t count = ties(x, over, extreme);
    if (count < 2) return;
    y.tangent = {};
    for (std::uint32_t j = 0; j < over.length; ++j) {
      const S& each = x[std::size_t{j} * over.inner];
      if (detail::primal(each) != extreme) continue;
      for (std::size_t k = 0; k < y.tangent.size(); ++k) y.tangent[k] += each.tangent[k] / static_cast<double>(count);
    }
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    const lines over = lines::reduced(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const S& seed = adjoints[op.result + i];
      if (is_constant_zero(seed)) continue;
      const S* x = values + op.operands[0].first + over.begin(i);
      S* x_adjoint = adjoints + op.operands[0].first + over.begin(i);
      const double extreme = detail::primal(values[op.result + i]);
      const std::uint32_t count = ties(x, over, extreme);
      for (std::uint32_t j = 0; j < over.length; ++j)
        if (detail::primal(x[std::size_t{j} * over.inner]) == extreme)
          x_adjoint[std::size_t{j} * over.inner] += seed / static_cast<double>(count);
    }
  }
};
template <class S>
using max_loops = extreme_loops<true, S>;
template <class S>
using min_loops = extreme_loops<false, S>;

/// The place of the first extreme in its line, as a number without a derivative: integers = {length, inner}.
template <bool IsMax, class S>
struct extreme_place_loops {
  static bool fits(const operation_view& v) { return lines::fit_reduced(v, 1, 1); }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::reduced(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i)
      values[op.result + i] =
          static_cast<double>(detail::place_of_extreme<IsMax>(values + op.operands[0].first + over.begin(i), over));
  }
  static void reverse(const operation&, const run_context&, const S*, S*) {}
};
template <class S>
using argmax_loops = extreme_place_loops<true, S>;
template <class S>
using argmin_loops = extreme_place_loops<false, S>;

/// Sorts lines in ascending order, equal entries in their old order: integers = {length, inner}. The result is all sorted
/// lines, followed by the old places of the entries in their lines, which the reverse pass needs.
template <class S>
struct sort_loops {
  static bool fits(const operation_view& v) { return lines::fit_whole(v, 2); }
  struct entry {
    double value;
    std::uint32_t place;
    bool operator<(const entry& other) const {
      if (value < other.value) return true;
      if (value > other.value) return false;
      const bool last = std::isnan(value), others_last = std::isnan(other.value);
      return last == others_last ? place < other.place : others_last;
    }
  };
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::whole(op, context, 2);
    std::vector<entry> order(over.length);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::size_t begin = over.begin(i);
      const S* x = values + op.operands[0].first + begin;
      for (std::uint32_t j = 0; j < over.length; ++j) order[j] = {detail::primal(x[std::size_t{j} * over.inner]), j};
      std::sort(order.begin(), order.end());
      S *y = values + op.result + begin, *place = y + op.count / 2;
      for (std::uint32_t j = 0; j < over.length; ++j) {
        y[std::size_t{j} * over.inner] = x[std::size_t{order[j].place} * over.inner];
        place[std::size_t{j} * over.inner] = static_cast<double>(order[j].place);
      }
    }
  }
  static void reverse(const operation& op, const run_context& context, const S* values, S* adjoints) {
    const lines over = lines::whole(op, context, 2);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::size_t begin = over.begin(i);
      const S *place = values + op.result + op.count / 2 + begin, *y = adjoints + op.result + begin;
      S* x = adjoints + op.operands[0].first + begin;
      for (std::uint32_t j = 0; j < over.length; ++j) {
        const auto from = static_cast<std::size_t>(detail::primal(place[std::size_t{j} * over.inner]));
        x[from * over.inner] += y[std::size_t{j} * over.inner];
      }
    }
  }
};

AGRAD_INLINE constexpr kernel max_along = make<max_loops>("max", {dependence::along_lines, true});
AGRAD_INLINE constexpr kernel min_along = make<min_loops>("min", {dependence::along_lines, true});
AGRAD_INLINE constexpr kernel argmax_along = make<argmax_loops>("argmax", {dependence::on_nothing, true});
AGRAD_INLINE constexpr kernel argmin_along = make<argmin_loops>("argmin", {dependence::on_nothing, true});
AGRAD_INLINE constexpr kernel sort_along = make<sort_loops>("sort", {dependence::within_lines, true});

}  // namespace agrad::kernels
