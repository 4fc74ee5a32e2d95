// Digamma and trigamma of eight positive numbers at once.
//
// Between 1 and 8, and by recurrence (DLMF 5.5.2) between 0 and 1, they are products of the root's linear factor and a smooth
// function, a series fitted to 60 digits, so that all digits are there near the root 1.46. Beyond 8 they are the asymptotic
// series of DLMF 5.11. Errors in units in the last place, as measured: digamma 4.3, trigamma 3.2 (4.3 and 3.9 by the functions
// of numbers).
// Read next: rules/gamma/gamma.hpp, the rules that use these functions.
#pragma once

#include <algorithm>

#include <agrad/rules/density/octet_rules.hpp>
#include <agrad/rules/polygamma.hpp>

namespace agrad::detail {

/// The ends of the central interval, and the centre of the variable (x - c) / (x + c) of the series on it.
inline constexpr double gamma_central_end = 8, gamma_centre = 2.8284271247461903;

/// x digamma(x) / (x - root), with an error of 7e-18.
inline constexpr double digamma_series[] = {
    1.7644638934289365,  1.1808583912337567,   0.3517835029248965,   0.3492569337010066,   0.2181295133277598,
    0.19901138147309866, 0.15619329911031019,  0.13983989312790718,  0.12033626356790963,  0.1085304171667065,
    0.09734825992043787, 0.08896955724275107,  0.08156716617760056,  0.07551268289706349,  0.0702018864987604,
    0.06516385212265642, 0.060967358649523566, 0.061083481135045255, 0.0588120364633613,   0.03518634644062216,
    0.02907335572386593, 0.10672698000533679,  0.11339018988306625,  -0.08867005732237948, -0.10249003964345971,
    0.1897286052050668,  0.19428958346800224};

/// x trigamma(x), with an error of 3e-18.
inline constexpr double trigamma_series[] = {
    1.1971292369991742,  -0.43317969464081585, 0.5061594237209769,   -0.5675748359774726, 0.6152056930760352,
    -0.6494439933521039, 0.6724314706610478,   -0.6869825974379917,  0.6957566804407405,  -0.7008476747376894,
    0.7037149597458119,  -0.7052938197379188,  0.7061617567729374,   -0.7066273989580539, 0.7066269640141678,
    -0.7066205160658071, 0.7097884739333038,   -0.7111369654501627,  0.6825276335302299,  -0.6732330048931143,
    0.8634743531500346,  -0.9100912372773933,  0.007465743085380671, 0.15408740444969268, 2.8281890654584494,
    -3.196492655739195,  -3.320766137216623,   3.81759617834138,     4.648372425393606,   -4.948810761231313};

/// What the three functions compute of x first: the argument of the series, which is x, x + 1 below 1 or the end beyond it, the
/// variable of the series, and the inverse of x with its square.
struct gamma_arguments {
  octet_condition is_small, is_far;
  octet central, variable, inverse, square;

  AGRAD_ALWAYS_INLINE explicit gamma_arguments(const octet& x)
      : is_small(x < 1.0),
        is_far(x > gamma_central_end),
        central(chosen(is_far, gamma_central_end, chosen(is_small, x + 1.0, x))),
        variable((central - gamma_centre) / (central + gamma_centre)),
        inverse(1.0 / x),
        square(inverse * inverse) {}
};

/// Returns digamma(x).
AGRAD_ALWAYS_INLINE octet digamma_octet(const octet& x) {
  const gamma_arguments of(x);
  const octet from_root = (of.central - digamma_root) - digamma_root_rest;
  const octet product = from_root * polynomial_octet(digamma_series, of.variable) / of.central;
  octet rest = bernoulli[bernoulli_count - 1] / (2.0 * bernoulli_count);
  for (int k = bernoulli_count - 1; k > 0; --k) rest = rest * of.square + bernoulli[k - 1] / (2.0 * k);
  const octet far = log_inside(x) - (0.5 * of.inverse + rest * of.square);
  return chosen(of.is_far, far, product - chosen(of.is_small, of.inverse, 0.0));
}

/// Returns trigamma(x).
AGRAD_ALWAYS_INLINE octet trigamma_octet(const octet& x) {
  const gamma_arguments of(x);
  octet rest = bernoulli[bernoulli_count - 1];
  for (int k = bernoulli_count - 1; k > 0; --k) rest = rest * of.square + bernoulli[k - 1];
  const octet far = of.inverse + of.square * (0.5 + rest * of.inverse);
  const octet sum = polynomial_octet(trigamma_series, of.variable) / of.central + chosen(of.is_small, of.square, 0.0);
  return chosen(of.is_far, far, sum);
}

/// Returns f of the entries of an Eigen array, eight at once; the last ones are filled up with the first of them.
template <class F, class A>
typename A::PlainObject by_octets(const A& x, const F& f) {
  using array = Eigen::Array<double, octet::size, 1>;
  typename A::PlainObject y(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.size(); i += octet::size) {
    const Eigen::Index count = std::min<Eigen::Index>(octet::size, x.size() - i);
    array lanes = array::Constant(x.coeff(i));
    for (Eigen::Index k = 0; k < count; ++k) lanes[k] = x.coeff(i + k);
    f(octet::load(lanes.data())).store(lanes.data());
    for (Eigen::Index k = 0; k < count; ++k) y.coeffRef(i + k) = lanes[k];
  }
  return y;
}

}  // namespace agrad::detail
