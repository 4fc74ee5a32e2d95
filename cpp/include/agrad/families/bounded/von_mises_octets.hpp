// Von Mises octets: eight log probabilities of the von Mises distribution at once.
//
// A probability is an integral over an arc that ends before the mode, or the rest beside one, by Gauss and Legendre's rule with
// one panel: the arc, or as much of it as counts from the end on. The integral of v = 1 - cos(u - mu) over the same nodes is
// the derivative with respect to kappa. Densities at the ends are the other derivatives.
// Read first: families/tails/arcs.hpp. Read next: families/bounded/von_mises.hpp.
#pragma once

#include <agrad/families/tails/arcs.hpp>
#include <agrad/families/tails/sine_octet.hpp>
#include <agrad/probability/octets.hpp>
#include <agrad/rules/bessel/bessel.hpp>
#include <agrad/rules/gauss_legendre.hpp>

namespace agrad::detail {

/// Eight arcs from -pi to y around locations mu, or mirrored arcs where y lies above mu.
struct arc_octet {
  octet y, mu, kappa, end, length, panel, room = 1.0, depth = 0.0;
  octet_condition is_lower;

  arc_octet(const octet& y_, const octet& mu_, const octet& kappa_) : kappa(kappa_), is_lower(y_ < mu_) {
    y = chosen(is_lower, y_, -y_), mu = chosen(is_lower, mu_, -mu_);
    end = y - mu, length = panel = y + pi;
    if (!all_hold(kappa <= 0.5 * deepest)) shorten();
  }

  /// Returns where 32 nodes are enough, and the arc is not most of the circle.
  octet_condition suits() const {
    return abs(mu) < widest_side && kappa >= 0.0 && kappa < 1e4 && length > 1e-100 && kappa * panel * panel < 250.0 &&
           room >= 0.0 && depth < 60.0;
  }

  /// Returns the logarithms of the probabilities up to y, and their partial derivatives; `circle` is the integral over the
  /// whole circle, `mean` the mean of v over it.
  octet log_probability(const octet& circle, const octet& mean, octet& by_y, octet& by_mu, octet& by_kappa) const {
    octet sum = 0.0, moment = 0.0;
    for (int i = 0; i < 32; ++i) {
      const double node = i < 16 ? 0.5 - 0.5 * gauss_nodes[i] : 0.5 + 0.5 * gauss_nodes[31 - i];
      const octet v = height(end - node * panel), part = gauss_weights[i < 16 ? i : 31 - i] * exp_inside(-kappa * v);
      sum += part;
      moment += part * v;
    }
    const octet inverse = 1.0 / circle, share = (0.5 * panel) * sum * inverse, rest = 1.0 - share;
    const octet per = inverse / chosen(is_lower, share, rest);
    const octet rise = 2.0 * (sine_octet(0.5 * (y - pi) - mu) * sine_octet(0.5 * (y + pi)));
    const octet at_end = exp_inside(-kappa * height(end)), at_begin = exp_inside(-limited(kappa * height(-pi - mu)));
    by_y = at_end * per;
    by_mu = chosen(rise < 0.0, at_end, -at_begin) * power_octet(-limited(kappa * abs(rise))).less_one() * per;
    by_kappa = (mean - moment / sum) * chosen(is_lower, 1.0, -share / rest);
    // The logarithm of a rest is that of a rounded difference, corrected by what the difference has lost.
    return log(chosen(is_lower, share, rest)) + chosen(is_lower, 0.0, ((1.0 - rest) - share) / rest);
  }

 private:
  static constexpr double deepest = 40;

  /// Ends panels where the integrand is exp(-40) of that at the end of the arc, if there is room: if the integrand is not
  /// larger beyond, on the other side of the circle.
  void shorten() {
    const octet at_end = height(end), cosine = 1.0 - (at_end + deepest / kappa);
    const octet_condition ends = cosine > -1.0;
    const octet last = acos(chosen(ends, cosine, -1.0)), reach = last + end;
    const octet_condition is_short = ends && reach < length;
    panel = chosen(is_short, reach, length);
    room = chosen(is_short, pi - chosen(mu > 0.0, mu, 0.0) - last, 1.0);
    depth = kappa * at_end;
  }
  /// Returns x up to where exp(-x) is a normal number.
  static octet limited(const octet& x) { return chosen(x < 700.0, x, 700.0); }
  /// Returns 1 - cos u.
  static octet height(const octet& u) {
    const octet s = sine_but_for_sign(0.5 * u);
    return 2.0 * (s * s);
  }
};

/// Formulas for octets of the log probability between -pi and y (Sign 1), or between y and pi.
template <int Sign>
struct von_mises_cdf_octets : octet_formulas<3> {
  static constexpr bool fills_last = true;
  /// Returns the integral over the circle, and the mean of v.
  template <class S>
  static std::array<S, 2> prepare(const parts&, const each<S>& x) {
    const S circle = apply<bessel_i_moment_rule>(0.0, x[2]);
    return {2.0 * pi * circle, apply<bessel_i_moment_rule>(1.0, x[2]) / circle};
  }
  static auto suits(const each<>& x) { return arc_octet(Sign * x[0], Sign * x[1], x[2]).suits(); }
  static octet term(const std::array<octet, 2>& prepared, const each<>& x, const parts&, each<>& slope) {
    const arc_octet arc(Sign * x[0], Sign * x[1], x[2]);
    const octet value = arc.log_probability(prepared[0], prepared[1], slope[0], slope[1], slope[2]);
    slope[0] = Sign * slope[0];
    slope[1] = Sign * slope[1];
    return value;
  }
};

}  // namespace agrad::detail
