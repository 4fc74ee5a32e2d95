// Tableau combinations: the sums of vectors that the steps of a Runge-Kutta method are made of.
//
// The weights are constants of the compiler: each sum is one pass over its vectors, without those that have no part in it. A
// record is y, then the slopes k_0, k_1, ..., all of one length.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace agrad::detail {

template <class Tableau>
struct tableau_combinations {
  static constexpr int stages = Tableau::stages;
  /// Stages that the step's end depends on: without the one that is there for the next step.
  static constexpr int inner = stages - (Tableau::last_is_first ? 1 : 0);

  /// The weights of k_j in stage s, in the step's end and in the error; those of w_r in the adjoint of stage s.
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

  /// y + h sum_j a_sj k_j.
  static void stage(int s, double h, const double* record, std::size_t count, double* y) {
    static constexpr auto of = stages_of(std::make_integer_sequence<int, stages>());
    of[static_cast<std::size_t>(s)](h, record, count, y);
  }
  /// y + h sum_s b_s k_s.
  static void advance(double h, const double* record, std::size_t count, double* y) {
    add_up<end>(h, record, record + count, count, y);
  }
  /// sum_s w_s k_s.
  template <class Weights>
  static void sum(const double* record, std::size_t count, double* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] = dot<Weights>(record + count, count, i);
  }
  /// h (b_s l + sum_{r>s} a_rs w_r).
  static void seed(int s, double h, const double* l, const double* w, std::size_t count, double* u) {
    static constexpr auto of = seeds_of(std::make_integer_sequence<int, inner>());
    of[static_cast<std::size_t>(s)](h, l, w, count, u);
  }

 private:
  /// a_sj: rows follow each other, the first of length 1.
  static constexpr double a(int s, int j) { return Tableau::a[s * (s - 1) / 2 + j]; }

  /// Entry i of a weighed sum of vectors.
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
