// Extremes and order along an axis: max, min, their places, and sorting.
//
// What the order is is decided at each run. Entries that share an extreme share its derivative equally, as the two arguments of
// maximum(x, y) do. nan is larger than every number in sorting and is every extreme, as in NumPy. Read first: program/lines.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <agrad/program/lines.hpp>
#include <agrad/program/structure.hpp>

namespace agrad::kernels {

namespace detail {
inline double primal(double x) { return x; }
template <class T, int K>
double primal(const dual<T, K>& x) {
  return primal(x.value);
}

/// The place in the line of its first extreme, the first nan if there is one.
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
  static std::uint32_t ties(const S* x, const lines& over, double extreme) {
    std::uint32_t count = 0;
    for (std::uint32_t j = 0; j < over.length; ++j) count += detail::primal(x[std::size_t{j} * over.inner]) == extreme ? 1 : 0;
    return count;
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::reduced(op, context);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const S* x = values + op.operands[0].first + over.begin(i);
      S y = x[std::size_t{detail::place_of_extreme<IsMax>(x, over)} * over.inner];
      if constexpr (!std::is_same_v<S, double>) share_tangents(x, over, y);
      values[op.result + i] = y;
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

/// The place in its line of the first extreme, as a number without derivative: integers = {length, inner}.
template <bool IsMax, class S>
struct extreme_place_loops {
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

/// Lines in ascending order, equal entries in their old order: integers = {length, inner}. The result is the sorted entries, all
/// lines of them, and after these the places in their lines that they came from, which the way back needs.
template <class S>
struct sort_loops {
  static bool before(const S& a, const S& b) {
    const double x = detail::primal(a), y = detail::primal(b);
    return x < y || (std::isnan(y) && !std::isnan(x));
  }
  static void forward(const operation& op, const run_context& context, S* values) {
    const lines over = lines::whole(op, context, 2);
    std::vector<std::uint32_t> order(over.length);
    for (std::uint32_t i = 0; i < over.count; ++i) {
      const std::size_t begin = over.begin(i);
      const S* x = values + op.operands[0].first + begin;
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return before(x[std::size_t{a} * over.inner], x[std::size_t{b} * over.inner]);
      });
      S *y = values + op.result + begin, *place = y + op.count / 2;
      for (std::uint32_t j = 0; j < over.length; ++j) {
        y[std::size_t{j} * over.inner] = x[std::size_t{order[j]} * over.inner];
        place[std::size_t{j} * over.inner] = static_cast<double>(order[j]);
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

inline constexpr kernel max_along = make<max_loops>("max", {dependence::along_lines, true});
inline constexpr kernel min_along = make<min_loops>("min", {dependence::along_lines, true});
inline constexpr kernel argmax_along = make<argmax_loops>("argmax", {dependence::on_nothing, true});
inline constexpr kernel argmin_along = make<argmin_loops>("argmin", {dependence::on_nothing, true});
inline constexpr kernel sort_along = make<sort_loops>("sort", {dependence::within_lines, true});

}  // namespace agrad::kernels
