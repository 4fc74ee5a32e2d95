// Tableau combinations: the sums of vectors in the steps of a Runge-Kutta method.
//
// The weights are compile-time constants: each sum is a single pass over its vectors, and vectors of weight zero are left out.
// A record is y, then the slopes k_0, k_1, ..., all of the same length.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <agrad/solve/one_step/outputs.hpp>

namespace agrad::detail {

/// How many terms a tableau's interpolant adds to Hermite's polynomial, 0 without an interpolant; and how many stages only the
/// interpolant uses.
template <class Tableau, class = void>
inline constexpr int interpolant_terms = 0;
template <class Tableau>
inline constexpr int interpolant_terms<Tableau, std::void_t<decltype(Tableau::interpolant)>> =
    std::extent_v<decltype(Tableau::interpolant), 1>;
template <class Tableau, class = void>
inline constexpr int extra_stages = 0;
template <class Tableau>
inline constexpr int extra_stages<Tableau, std::void_t<decltype(Tableau::extra)>> = Tableau::extra;

template <class Tableau>
struct tableau_combinations {
  static constexpr int stages = Tableau::stages;
  /// Stages that the step's end depends on: all but the stage that the next step reuses.
  static constexpr int inner = stages - (Tableau::last_is_first ? 1 : 0);
  /// All stages, with the stages that only the interpolant uses.
  static constexpr int all = stages + extra_stages<Tableau>;
  static constexpr bool interpolates = interpolant_terms<Tableau> > 0;

  /// The weights of k_j in stage s, in the step's end and in the error estimates; the weights of w_r in the adjoint of stage s.
  template <int S>
  struct row {
    static constexpr int count = S;
    static constexpr double at(int j) { return a(S, j); }
  };
  struct end {
    static constexpr int count = inner;
    static constexpr double at(int j) { return Tableau::b[j]; }
  };
  struct error {
    static constexpr int count = stages;
    static constexpr double at(int j) { return Tableau::e[j]; }
  };
  struct coarse_error {
    static constexpr int count = stages;
    static constexpr double at(int j) { return Tableau::e3[j]; }
  };
  template <int S>
  struct column {
    static constexpr int count = inner;
    static constexpr double at(int r) { return r > S ? a(r, S) : 0; }
  };

  /// Computes y + h sum_j a_sj k_j.
  static void stage(int s, double h, const double* record, std::size_t count, double* y) {
    static constexpr auto of = stages_of(std::make_integer_sequence<int, all>());
    of[static_cast<std::size_t>(s)](h, record, count, y);
  }
  /// Computes y + h sum_s b_s k_s.
  static void advance(double h, const double* record, std::size_t count, double* y) {
    add_up<end>(h, record, record + count, count, y);
  }
  /// Computes sum_s w_s k_s.
  template <class Weights>
  static void sum(const double* record, std::size_t count, double* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = dot<Weights>(record + count, count, i);
  }
  /// Computes h (b_s l + sum_{r>s} a_rs w_r).
  static void seed(int s, double h, const double* l, const double* w, std::size_t count, double* u) {
    static constexpr auto of = seeds_of(std::make_integer_sequence<int, inner>());
    of[static_cast<std::size_t>(s)](h, l, w, count, u);
  }
  /// Returns the weights of y and the slopes in the state at the fraction x of the step.
  static step_outputs::weights interpolant(double x, double h) {
    const double rest = 1 - x;
    std::array<double, 4> term{x * x * rest * rest};  // x^2 (1-x)^2, then alternately times x and times 1-x
    for (std::size_t j = 1; j < term.size(); ++j) term[j] = term[j - 1] * (j % 2 == 1 ? x : rest);
    step_outputs::weights w{};
    w[0] = 1;
    for (std::size_t s = 0; s < all; ++s) {
      const double b = s < stages ? Tableau::b[s] : 0, at_begin = s == 0, at_end = s == stages - 1;
      double sum = x * (b + rest * (at_begin - b + x * (2 * b - at_begin - at_end)));
      for (std::size_t j = 0; j < interpolant_terms<Tableau>; ++j) sum += Tableau::interpolant[s][j] * term[j];
      w[1 + s] = h * sum;
    }
    return w;
  }
  /// Propagates the adjoint of stage s to y and to the slopes before slope s.
  static void spread(int s, double h, const double* of_stage, std::size_t count, double* of_record) {
    for (std::size_t i = 0; i < count; ++i) of_record[i] += of_stage[i];
    for (int j = 0; j < s; ++j) {
      double* of_slope = of_record + (1 + static_cast<std::size_t>(j)) * count;
      for (std::size_t i = 0; i < count; ++i) of_slope[i] += h * a(s, j) * of_stage[i];
    }
  }

 private:
  /// Returns a_sj: rows follow each other; the first has length 1.
  static constexpr double a(int s, int j) { return Tableau::a[s * (s - 1) / 2 + j]; }

  /// Returns entry i of a weighted sum of vectors.
  template <class Weights>
  static double dot(const double* vectors, std::size_t count, std::size_t i) {
    return terms<Weights>(vectors + i, count, std::make_integer_sequence<int, Weights::count>());
  }
  template <class Weights, int... J>
  static double terms([[maybe_unused]] const double* first, [[maybe_unused]] std::size_t count,
                      std::integer_sequence<int, J...>) {
    double total = 0;
    (add_term<Weights, J>(first, count, total), ...);
    return total;
  }
  template <class Weights, int J>
  static void add_term(const double* first, std::size_t count, double& total) {
    constexpr double weight = Weights::at(J);
    if (weight != 0) total += weight * first[static_cast<std::size_t>(J) * count];
  }

  template <class Weights>
  static void add_up(double h, const double* y, const double* vectors, std::size_t count, double* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = y[i] + h * dot<Weights>(vectors, count, i);
  }
  template <int S>
  static void stage_of(double h, const double* record, std::size_t count, double* y) {
    add_up<row<S>>(h, record, record + count, count, y);
  }
  template <int S>
  static void seed_of(double h, const double* l, const double* w, std::size_t count, double* u) {
    for (std::size_t i = 0; i < count; ++i) u[i] = h * (Tableau::b[S] * l[i] + dot<column<S>>(w, count, i));
  }
  template <int... S>
  static constexpr auto stages_of(std::integer_sequence<int, S...>) {
    return std::array{&stage_of<S>...};
  }
  template <int... S>
  static constexpr auto seeds_of(std::integer_sequence<int, S...>) {
    return std::array{&seed_of<S>...};
  }
};

}  // namespace agrad::detail
