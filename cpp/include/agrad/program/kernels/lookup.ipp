// Definitions of program/kernels/lookup.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <agrad/base/error.hpp>
#include <agrad/base/inline.hpp>
#include <agrad/program/kernels/extremum.ipp>
#include <agrad/program/kernels/lookup.hpp>
#include <agrad/program/machine/structure.hpp>
#include <agrad/program/recording/tracing.hpp>

namespace agrad::kernels {

/// The entries of an increasing table on both sides of a number: the same entry where the number is not inside.
struct table_piece {
  slot left, right;
  bool is_inside() const { return left != right; }
};

/// Returns j and j + 1 of the piece [xp[j], xp[j + 1]) that contains x.
inline table_piece piece_at(const double* xp, slot m, double x) {
  const auto after = static_cast<slot>(std::upper_bound(xp, xp + m, x) - xp);
  if (after == 0) return {0, 0};
  return {after - 1, std::min(after, m - 1)};
}

/// A number and the piece of a polygon that contains it.
template <class S>
struct polygon_piece {
  S x, x0, x1, y0, y1;
  S slope() const { return (y1 - y0) / (x1 - x0); }
};

/// np.interp: linear in the piece, constant outside. At a point of xp the derivative with respect to x is the slope of the
/// piece to the right; left and right of the table the derivative is zero.
struct polygon_value {
  static constexpr bool has_ends = true;  // outside, the first and the last entry count
  template <class S>
  static S value(const polygon_piece<S>& p) {
    return p.y0 + p.slope() * (p.x - p.x0);
  }
  template <class S>
  static polygon_piece<S> adjoints(const polygon_piece<S>& p, const S& seed) {
    const S slope = p.slope(), t = (p.x - p.x0) / (p.x1 - p.x0);
    return {slope * seed, S(-slope * (1.0 - t) * seed), S(-slope * t * seed), S((1.0 - t) * seed), t * seed};
  }
};

/// The slope of np.interp: constant in the piece, zero outside.
struct polygon_slope {
  static constexpr bool has_ends = false;
  template <class S>
  static S value(const polygon_piece<S>& p) {
    return p.slope();
  }
  template <class S>
  static polygon_piece<S> adjoints(const polygon_piece<S>& p, const S& seed) {
    const S rise = seed / (p.x1 - p.x0), run = p.slope() * rise;
    return {S(0.0), run, S(-run), S(-rise), rise};
  }
};

/// Records the function of the pieces that contain the present numbers, all pieces together.
template <class Form>
std::vector<slot> recorded_polygon(recorder& in, const operation& op, const std::uint32_t*, const span* operands) {
  const slot m = operands[1].count;
  std::vector<slot> result(op.count, 0), inside, of[5];
  for (slot i = 0; i < op.count; ++i) {
    const slot s = operands[0].first + i;
    const bool is_nan = std::isnan(in.value(s));
    const table_piece at = piece_at(in.values().data() + operands[1].first, m, in.value(s));
    if (is_nan || !at.is_inside()) {
      if (Form::has_ends) result[i] = is_nan ? s : operands[2].first + at.left;
      continue;
    }
    inside.push_back(i);
    const slot from[] = {s, operands[1].first + at.left, operands[1].first + at.right, operands[2].first + at.left,
                         operands[2].first + at.right};
    for (std::size_t k = 0; k < 5; ++k) of[k].push_back(from[k]);
  }
  if (inside.empty()) return result;
  const auto all = [&](std::size_t k) { return agrad::detail::number_of(in, in.consecutive(of[k].data(), of[k].size())); };
  const traced y = Form::value(polygon_piece<traced>{all(0), all(1), all(2), all(3), all(4)});
  for (slot k = 0; k < inside.size(); ++k) result[inside[k]] = agrad::detail::slot_at(y.slots(), k);
  return result;
}

/// A function of one piece of a polygon; operands x, xp, fp; xp increases. Each loop reads and changes only the entries of the
/// piece, so its time grows with the logarithm of the table's length, with all derivatives.
template <class Form>
struct polygon_loops {
  static constexpr recorded_formulas formulas{recorded_polygon<Form>};

  static bool fits(const operation_view& v) {
    const std::uint32_t points = v.op.operands[1].count;
    return v.has(3, 0) && points > 0 && v.is_dense(0, v.op.count) && v.is_dense(1, points) && v.is_dense(2, points);
  }

  static void forward(const operation& op, const run_context&, double* values) {
    const double *xp = values + op.operands[1].first, *fp = values + op.operands[2].first;
    each(
        op, values,
        [&](slot i, double x, const table_piece& at) {
          double& y = values[op.result + i];
          if (!at.is_inside())
            y = Form::has_ends ? fp[at.left] : 0.0;
          else if (Form::has_ends && x == xp[at.left])
            y = fp[at.left];  // also beside an infinite neighbour
          else
            y = Form::value(polygon_piece<double>{x, xp[at.left], xp[at.right], fp[at.left], fp[at.right]});
        },
        [&](slot i, double x) { values[op.result + i] = Form::has_ends ? x : 0.0; });
  }

  static void reverse(const operation& op, const run_context&, const double* values, double* adjoints) {
    each(
        op, values,
        [&](slot i, double x, const table_piece& at) {
          const double seed = adjoints[op.result + i];
          if (seed == 0) return;
          if (!at.is_inside()) {
            if (Form::has_ends && op.operands[2].active) adjoints[op.operands[2].first + at.left] += seed;
            return;
          }
          const slot from[] = {op.operands[0].first + i, op.operands[1].first + at.left, op.operands[1].first + at.right,
                               op.operands[2].first + at.left, op.operands[2].first + at.right};
          const polygon_piece<double> p{x, values[from[1]], values[from[2]], values[from[3]], values[from[4]]};
          const polygon_piece<double> back = Form::adjoints(p, seed);
          if (op.operands[0].active) adjoints[from[0]] += back.x;
          if (op.operands[1].active) adjoints[from[1]] += back.x0, adjoints[from[2]] += back.x1;
          if (op.operands[2].active) adjoints[from[3]] += back.y0, adjoints[from[4]] += back.y1;
        },
        [](slot, double) {});
  }

  template <int Width>
  static void tangent(const operation& op, const run_context&, const double* values, double* tangents) {
    const auto dual_of = [&](std::size_t s) { return agrad::detail::dual_at<Width>(values[s], tangents + s * Width); };
    const auto set = [&](slot i, const dual<double, Width>& y) {
      std::copy_n(y.tangent.data(), Width, tangents + (op.result + i) * std::size_t{Width});
    };
    each(
        op, values,
        [&](slot i, double, const table_piece& at) {
          const slot xp = op.operands[1].first, fp = op.operands[2].first;
          if (at.is_inside())
            set(i, Form::value(polygon_piece<dual<double, Width>>{dual_of(op.operands[0].first + i), dual_of(xp + at.left),
                                                                  dual_of(xp + at.right), dual_of(fp + at.left),
                                                                  dual_of(fp + at.right)}));
          else
            set(i, Form::has_ends ? dual_of(fp + at.left) : dual<double, Width>(0.0));
        },
        [&](slot i, double) { set(i, Form::has_ends ? dual_of(op.operands[0].first + i) : dual<double, Width>(0.0)); });
  }

  template <int Width>
  static void second(const operation& op, const run_context&, const second_spaces& w) {
    using scalar = dual<double, Width>;
    const auto dual_of = [&](std::size_t s) { return agrad::detail::dual_at<Width>(w.values[s], w.tangents + s * Width); };
    const auto add = [&](std::size_t operand, std::size_t entry, const scalar& by) {
      if (!op.operands[operand].active) return;
      const std::size_t s = op.operands[operand].first + entry;
      w.adjoints[s] += by.value;
      for (std::size_t k = 0; k < Width; ++k) w.adjoint_tangents[s * Width + k] += by.tangent[k];
    };
    each(
        op, w.values,
        [&](slot i, double, const table_piece& at) {
          const std::size_t y = op.result + i, xp = op.operands[1].first, fp = op.operands[2].first;
          const scalar seed = agrad::detail::dual_at<Width>(w.adjoints[y], w.adjoint_tangents + y * Width);
          if (!at.is_inside()) {
            if (Form::has_ends) add(2, at.left, seed);
            return;
          }
          const polygon_piece<scalar> back =
              Form::adjoints(polygon_piece<scalar>{dual_of(op.operands[0].first + i), dual_of(xp + at.left),
                                                   dual_of(xp + at.right), dual_of(fp + at.left), dual_of(fp + at.right)},
                             seed);
          add(0, i, back.x);
          add(1, at.left, back.x0), add(1, at.right, back.x1);
          add(2, at.left, back.y0), add(2, at.right, back.y1);
        },
        [](slot, double) {});
  }

 private:
  /// Calls use(i, x, piece) for each entry x, but use_nan(i, x) for one that is not a number.
  template <class Use, class UseNan>
  static void each(const operation& op, const double* values, const Use& use, const UseNan& use_nan) {
    const double *x = values + op.operands[0].first, *xp = values + op.operands[1].first;
    for (slot i = 0; i < op.count; ++i)
      std::isnan(x[i]) ? use_nan(i, x[i]) : use(i, x[i], piece_at(xp, op.operands[1].count, x[i]));
  }
};

/// np.searchsorted(table, x): the number of entries before x; operands x and the increasing table; integers {1 where entries
/// equal to x count, else 0}. As in NumPy, a number that is not a number comes last.
struct search_loops {
  static bool fits(const operation_view& v) {
    return v.has(2, 1) && v.is_dense(0, v.op.count) && v.is_dense(1, v.op.operands[1].count);
  }
  static void forward(const operation& op, const run_context& context, double* values) {
    const double *x = values + op.operands[0].first, *table = values + op.operands[1].first;
    const slot m = op.operands[1].count;
    const bool counts_equal = context.integers[op.data] != 0;
    for (slot i = 0; i < op.count; ++i) {
      const double* at = counts_equal || std::isnan(x[i]) ? std::upper_bound(table, table + m, x[i])
                                                          : std::lower_bound(table, table + m, x[i]);
      values[op.result + i] = static_cast<double>(at - table);
    }
  }
  static void reverse(const operation&, const run_context&, const double*, double*) {}
  template <int Width>
  static void tangent(const operation& op, const run_context&, const double*, double* tangents) {
    std::fill_n(tangents + op.result * std::size_t{Width}, op.count * std::size_t{Width}, 0.0);
  }
  template <int>
  static void second(const operation&, const run_context&, const second_spaces&) {}
};

/// table[place] for places that each run computes: operands places and table. A negative place counts from the end.
struct pick_loops {
  static bool fits(const operation_view& v) {
    return v.has(2, 0) && v.op.operands[1].count > 0 && v.is_dense(0, v.op.count) && v.is_dense(1, v.op.operands[1].count);
  }
  /// Returns the entry of the table for result i. Throws PlaceError where there is none.
  static std::size_t entry(const operation& op, const double* values, slot i) {
    const double given = values[op.operands[0].first + i], m = op.operands[1].count, place = given < 0 ? given + m : given;
    if (AGRAD_UNLIKELY(!(place >= 0 && place < m && place == std::floor(place)))) fail(given, op.operands[1].count);
    return static_cast<std::size_t>(place);
  }
  static void forward(const operation& op, const run_context&, double* values) {
    for (slot i = 0; i < op.count; ++i) values[op.result + i] = values[op.operands[1].first + entry(op, values, i)];
  }
  static void add(const operation& op, const double* values, double* adjoints, std::size_t width) {
    if (!op.operands[1].active) return;
    for (slot i = 0; i < op.count; ++i) {
      double* to = adjoints + (op.operands[1].first + entry(op, values, i)) * width;
      for (std::size_t k = 0; k < width; ++k) to[k] += adjoints[(op.result + i) * width + k];
    }
  }
  static void reverse(const operation& op, const run_context&, const double* values, double* adjoints) {
    add(op, values, adjoints, 1);
  }
  template <int Width>
  static void tangent(const operation& op, const run_context&, const double* values, double* tangents) {
    for (slot i = 0; i < op.count; ++i)
      std::copy_n(tangents + (op.operands[1].first + entry(op, values, i)) * Width, Width, tangents + (op.result + i) * Width);
  }
  template <int Width>
  static void second(const operation& op, const run_context&, const second_spaces& w) {
    add(op, w.values, w.adjoints, 1);
    add(op, w.values, w.adjoint_tangents, Width);
  }

 private:
  [[noreturn]] AGRAD_COLD static void fail(double place, slot m) {
    throw PlaceError("index: place is " + agrad::detail::to_text(place) +
                     ", but must be a whole number below the table's length " + std::to_string(m) + " in size");
  }
};

/// Adds entries of v to x at places, which may repeat: operands x, v and the places, constants.
template <class S>
struct scatter_add_loops {
  /// Returns whether the places are constants within the result.
  static bool fits(const operation_view& v) {
    const span& places = v.op.operands[2];
    if (!v.has(3, 0) || !v.is_dense(0, v.op.count) || !v.is_dense(1, places.count) || !v.is_dense(2, places.count))
      return false;
    for (std::uint32_t i = 0; i < places.count; ++i) {
      if (!v.is_constant(places.first + i)) return false;
      const double at = v.fixed[places.first + i];
      if (!(at >= 0 && at < v.op.count)) return false;
    }
    return true;
  }
  static std::size_t place(const operation& op, const S* values, std::uint32_t i) {
    return static_cast<std::size_t>(detail::primal(values[op.operands[2].first + i]));
  }
  static void forward(const operation& op, const run_context&, S* values) {
    const S *x = values + op.operands[0].first, *v = values + op.operands[1].first;
    S* y = values + op.result;
    std::copy(x, x + op.count, y);
    for (std::uint32_t i = 0; i < op.operands[1].count; ++i) y[place(op, values, i)] += v[i];
  }
  static void reverse(const operation& op, const run_context&, const S* values, S* adjoints) {
    const S* y = adjoints + op.result;
    S *x = adjoints + op.operands[0].first, *v = adjoints + op.operands[1].first;
    if (op.operands[0].active)
      for (std::uint32_t i = 0; i < op.count; ++i) x[i] += y[i];
    if (op.operands[1].active)
      for (std::uint32_t i = 0; i < op.operands[1].count; ++i) v[i] += y[place(op, values, i)];
  }
};

AGRAD_INLINE constexpr kernel interpolation = make_of<polygon_loops<polygon_value>>("interp", {dependence::looked_up});
AGRAD_INLINE constexpr kernel interpolation_slope =
    make_of<polygon_loops<polygon_slope>>("interp.slope", {dependence::looked_up});
AGRAD_INLINE constexpr kernel search = make_of<search_loops>("searchsorted", {dependence::on_nothing, true});
AGRAD_INLINE constexpr kernel pick = make_of<pick_loops>("pick", {dependence::looked_up, true});
AGRAD_INLINE constexpr kernel scatter_add = make<scatter_add_loops>("scatter_add", {dependence::scattered, true});

}  // namespace agrad::kernels
