// Elementwise rules at single points whose truth is known: tails, kinks and the edges of domains. Decimals are mpmath's, from
// 70 digits.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/var.hpp>
#include <cmath>

namespace test_rule_values {

using namespace agrad;

namespace {

template <class Rule, class... X>
double value(X... x) {
  return Rule::value(x...);
}
/// The partial derivative with respect to argument I.
template <class Rule, int I = 0, class... X>
double slope(X... x) {
  return Rule::derivative(wrt<I>{}, x..., Rule::value(x...));
}

/// Equal up to a relative error, whatever the size of the number.
doctest::Approx near(double x, double tolerance = 2e-15) { return doctest::Approx(x).epsilon(tolerance).scale(0); }

const double inf = infinity;

}  // namespace

TEST_CASE("values keep their digits in tails and near zeros") {
  CHECK(value<exp2_rule>(0.1) == near(1.071773462536293168336912));
  CHECK(value<log1p_exp_rule>(-40.0) == near(4.248354255291588986304978e-18));
  CHECK(value<log1p_exp_rule>(40.0) == near(40.00000000000000000424835));
  CHECK(value<log1m_exp_rule>(-1e-20) == near(-46.05170185988091373521156));
  CHECK(value<log1m_exp_rule>(-50.0) == near(-1.928749847963917783017529e-22));
  CHECK(value<log_inv_logit_rule>(60.0) == near(-8.756510762696520338488733e-27));
  CHECK(value<inv_logit_rule>(-700.0) == near(9.859676543759770856705373e-305));
  CHECK(value<logit_rule>(0.50000001) == near(4.000000020099037634651004e-8));
  CHECK(value<logit_rule>(1e-300) == near(-690.7755278982137051803383));
  CHECK(value<log_sum_exp_rule>(1000.0, 1000.5) == near(1000.974076984180106680873));
  CHECK(value<log1p_exp_rule>(-750.0) == 0);
  CHECK(value<log1p_exp_rule>(750.0) == 750);
  CHECK(value<log_sum_exp_rule>(1e308, 1e308) == 1e308);
}

TEST_CASE("derivatives keep their digits in tails and near the ends of domains") {
  CHECK(slope<tanh_rule>(0.3) == near(0.9151369618266292090568696));
  CHECK(slope<tanh_rule>(20.0) == near(1.699341702116635583692883e-17));
  CHECK(slope<tanh_rule>(-300.0) == near(1.060158621201724326535472e-260));
  CHECK(slope<erf_rule>(5.7) == near(8.754419272166010162462665e-15));
  CHECK(slope<erf_rule>(-26.1) == near(1.609574347927780859748251e-296));
  CHECK(slope<erfc_rule>(20.0) == near(-2.161037474386798461009566e-174));
  CHECK(slope<expm1_rule>(-40.0) == near(4.248354255291588995329235e-18));
  CHECK(slope<log1p_exp_rule>(-40.0) == near(4.248354255291588977280721e-18));
  CHECK(slope<inv_logit_rule>(40.0) == near(4.248354255291588959232207e-18));
  CHECK(slope<log_inv_logit_rule>(100.0) == near(3.720075976020835962959696e-44));
  CHECK(slope<log1m_exp_rule>(-50.0) == near(-1.928749847963917783017715e-22));
  CHECK(slope<log1m_exp_rule>(-1e-20) == near(-1.000000000000000054841729e+20));
  CHECK(slope<asin_rule>(0.9999999999) == near(70710.67519510883043002566));
  CHECK(slope<acos_rule>(-0.9999999999) == near(-70710.67519510883043002566));
  CHECK(slope<atanh_rule>(-0.9999999999) == near(4.999999586548179234402766e+9));
  CHECK(slope<asinh_rule>(1e200) == near(1.000000000000000030266878e-200));
  CHECK(slope<acosh_rule>(1e200) == near(1.000000000000000030266878e-200));
  CHECK(slope<acosh_rule>(1.0000000001) == near(70710.67519157329637782724));
  CHECK(slope<log1p_rule>(-0.9999999999) == near(9.999999172596358468780531e+9));
  CHECK(slope<hypot_rule>(3e200, -4e200) == near(0.6));
  CHECK(slope<hypot_rule, 1>(3e-200, -4e-200) == near(-0.8));
  CHECK(slope<atan2_rule>(3e200, -4e200) == near(-1.600000000000000048427004e-201));
  CHECK(slope<atan2_rule, 1>(3e-200, -4e-200) == near(-1.200000000000000021479685e+199));
  CHECK(slope<log_sum_exp_rule>(-100.0, 3.0) == near(1.852116769517975462264702e-45));
  CHECK(slope<pow_rule>(2.5, -3.25) == near(-0.06616652463341861534246579));
  CHECK(slope<pow_rule, 1>(2.5, -3.25) == near(0.04663674867840342518080716));
  CHECK(slope<erfc_rule>(1e200) == 0);
  CHECK(slope<tanh_rule>(1e200) == 0);
  CHECK(slope<atan_rule>(1e200) == 0);
}

TEST_CASE("gamma functions") {
  CHECK(slope<tgamma_rule>(5.5) == near(84.32909066643126639863242));
  CHECK(slope<tgamma_rule>(-2.5) == near(-1.042823592460615354724863));
  CHECK(value<lgamma_rule>(-2.5) == near(-0.05624371649767405067259453));
  CHECK(value<lgamma_rule>(1e-300) == near(690.7755278982137051803383));
  CHECK(value<digamma_rule>(1e-300) == near(-9.999999999999999749409082e+299));
  CHECK(value<digamma_rule>(0.3) == near(-3.502524222200133124915351));
  CHECK(value<digamma_rule>(1.4616321449683622) == near(-9.241265521729427516792351e-17));
  CHECK(value<digamma_rule>(1.4616) == near(-3.110625123034164965756368e-5));
  CHECK(value<digamma_rule>(1.46) == near(-1.580561987083452106150901e-3));
  CHECK(value<digamma_rule>(2.0) == near(0.4227843350984671393934879));
  CHECK(value<digamma_rule>(7.25) == near(1.910453526883736028382495));
  CHECK(value<digamma_rule>(9.999) == near(2.251647417205735314158332));
  CHECK(value<digamma_rule>(10.0) == near(2.251752589066721107647456));
  CHECK(value<digamma_rule>(10000000000.0) == near(23.02585092989045684017908));
  CHECK(value<digamma_rule>(1e+300) == near(690.7755278982137052579022));
  CHECK(value<digamma_rule>(-0.25) == near(2.914139120213527830373113));
  CHECK(value<digamma_rule>(-2.75) == near(-1.959055264977997009821132));
  CHECK(value<digamma_rule>(-1000.3) == near(9.191055669255658091709733));
  CHECK(value<polygamma_rule>(1.0, 0.5) == near(4.934802200544679309417245));
  CHECK(value<polygamma_rule>(1.0, 1e-05) == near(1.000000000164490838997378e+10));
  CHECK(value<polygamma_rule>(1.0, 25.0) == near(0.04081066325722557918736172));
  CHECK(value<polygamma_rule>(1.0, 10000000000.0) == near(1.000000000050000000001667e-10));
  CHECK(value<polygamma_rule>(1.0, -3.25) == near(19.47408506808215511407448));
  CHECK(value<polygamma_rule>(2.0, 0.75) == near(-5.302633216337639631432707));
  CHECK(value<polygamma_rule>(2.0, -1.6) == near(-22.49158811431912286287749));
  CHECK(value<polygamma_rule>(3.0, 30.0) == near(7.786003664736129060156244e-5));
  CHECK(value<polygamma_rule>(5.0, -0.125) == near(3.145755040616232094666962e+7));
  CHECK(value<polygamma_rule>(10.0, 0.1) == near(-3.628800000012727016697399e+17));
  CHECK(value<polygamma_rule>(30.0, 2.5) == near(-1.223299023519924503423831e+20));
  CHECK(value<polygamma_rule>(100.0, 50.0) == near(-2.739104802190282795029682e-14));
}

TEST_CASE("poles and ends of the gamma functions") {
  CHECK(value<digamma_rule>(0.0) == -inf);
  CHECK(value<digamma_rule>(-0.0) == inf);
  CHECK(value<digamma_rule>(inf) == inf);
  CHECK(std::isnan(value<digamma_rule>(-3.0)));
  CHECK(std::isnan(value<digamma_rule>(-inf)));
  CHECK(value<polygamma_rule>(1.0, 0.0) == inf);
  CHECK(value<polygamma_rule>(2.0, -1.0) == -inf);
  CHECK(value<polygamma_rule>(1.0, inf) == 0);
  CHECK(value<polygamma_rule>(0.0, 10.0) == value<digamma_rule>(10.0));
  CHECK(std::isnan(value<polygamma_rule>(1.5, 2.0)));
  CHECK(std::isnan(value<polygamma_rule>(-1.0, 2.0)));
  CHECK(std::isnan(value<polygamma_rule>(101.0, 2.0)));
  CHECK(value<lgamma_rule>(0.0) == inf);
  CHECK(value<lgamma_rule>(-2.0) == inf);
  CHECK(value<tgamma_rule>(200.0) == inf);
  CHECK(slope<tgamma_rule>(200.0) == inf);
  const var x = 2.5;
  const var y = polygamma(3, x);
  y.grad();
  CHECK(x.adj() == value<polygamma_rule>(4.0, 2.5));
}

TEST_CASE("pow") {
  CHECK(slope<pow_rule>(0.0, 0.0) == 0);
  CHECK(slope<pow_rule>(0.0, 1.0) == 1);
  CHECK(slope<pow_rule>(0.0, 2.0) == 0);
  CHECK(slope<pow_rule>(0.0, 0.5) == inf);
  CHECK(slope<pow_rule>(-3.0, 2.0) == -6);
  CHECK(slope<pow_rule>(-3.0, 0.0) == 0);
  CHECK(slope<pow_rule, 1>(0.0, 2.0) == 0);
  CHECK(slope<pow_rule, 1>(0.0, 0.0) == -inf);
  CHECK(slope<pow_rule, 1>(1.0, 5.0) == 0);
  CHECK(std::isnan(slope<pow_rule, 1>(-3.0, 2.0)));
  CHECK(slope<pow_rule>(0.0, -1.0) == -inf);
  CHECK(slope<pow_rule>(-0.0, 3.0) == 0);
  CHECK(slope<pow_rule>(-3.0, 3.0) == 27);
  CHECK(slope<pow_rule>(-2.0, -2.0) == 0.25);
  CHECK(std::isnan(slope<pow_rule>(-3.0, 0.5)));
  CHECK(std::isnan(slope<pow_rule, 1>(-3.0, 0.5)));
  CHECK(slope<pow_rule>(inf, 2.0) == inf);
  CHECK(slope<pow_rule>(inf, 1.0) == 1);
  CHECK(std::isnan(slope<pow_rule>(inf, 0.5)));  // as that of a root that has overflowed
  CHECK(slope<pow_rule>(inf, 0.0) == 0);
  CHECK(slope<pow_rule>(inf, -1.0) == 0);
  CHECK(slope<pow_rule>(0.5, inf) == 0);
  CHECK(slope<pow_rule>(2.0, inf) == inf);
  CHECK(slope<pow_rule>(2.0, -inf) == 0);
  CHECK(slope<pow_rule>(0.5, -inf) == -inf);
  CHECK(slope<pow_rule, 1>(0.5, inf) == 0);
  CHECK(slope<pow_rule, 1>(inf, -1.0) == 0);
  CHECK(slope<pow_rule, 1>(inf, 2.0) == inf);
  CHECK(slope<pow_rule, 1>(0.0, -1.0) == -inf);
  CHECK(slope<pow_rule, 1>(0.0, 1e-300) == 0);
  CHECK(std::isnan(slope<pow_rule>(agrad::quiet_nan, 2.0)));
  CHECK(std::isnan(slope<pow_rule, 1>(2.0, agrad::quiet_nan)));
  const var x = -3.0;
  const var y = pow(x, 2);
  y.grad();
  CHECK(y.val() == 9);
  CHECK(x.adj() == -6);
}

TEST_CASE("kinks: the mean of both sides") {
  CHECK(slope<abs_rule>(0.0) == 0);
  CHECK(slope<fabs_rule>(-2.0) == -1);
  CHECK(slope<hypot_rule>(0.0, 0.0) == 0);
  CHECK(slope<hypot_rule>(0.0, -2.0) == 0);
  CHECK(slope<hypot_rule, 1>(0.0, -2.0) == -1);
  CHECK(slope<hypot_rule>(-inf, 2.0) == -1);
  CHECK(slope<hypot_rule>(2.0, inf) == 0);
  CHECK(slope<hypot_rule>(-inf, inf) == near(-std::sqrt(0.5)));
  CHECK(slope<fmax_rule>(2.0, 2.0) == 0.5);
  CHECK(slope<fmin_rule, 1>(2.0, 2.0) == 0.5);
  CHECK(slope<maximum_rule>(3.0, 2.0) == 1);
  CHECK(slope<maximum_rule, 1>(3.0, 2.0) == 0);
  CHECK(slope<fdim_rule>(2.0, 2.0) == 0.5);
  CHECK(slope<fdim_rule, 1>(3.0, 2.0) == -1);
  CHECK(slope<copysign_rule>(-3.0, 2.0) == -1);
  CHECK(slope<copysign_rule>(0.0, -2.0) == 0);
}

TEST_CASE("fmin and fmax prefer numbers, minimum and maximum nan") {
  CHECK(value<fmax_rule>(agrad::quiet_nan, 2.0) == 2);
  CHECK(value<fmin_rule>(2.0, agrad::quiet_nan) == 2);
  CHECK(slope<fmax_rule>(agrad::quiet_nan, 2.0) == 0);
  CHECK(slope<fmax_rule, 1>(agrad::quiet_nan, 2.0) == 1);
  CHECK(slope<fmin_rule>(2.0, agrad::quiet_nan) == 1);
  CHECK(std::isnan(value<maximum_rule>(agrad::quiet_nan, 2.0)));
  CHECK(std::isnan(value<maximum_rule>(2.0, agrad::quiet_nan)));
  CHECK(std::isnan(value<minimum_rule>(agrad::quiet_nan, 2.0)));
  CHECK(std::isnan(value<minimum_rule>(2.0, agrad::quiet_nan)));
}

TEST_CASE("remainders") {
  CHECK(value<fmod_rule>(-7.0, 3.0) == -1);
  CHECK(value<remainder_rule>(-7.0, 4.0) == 1);
  CHECK(value<mod_rule>(-7.0, 3.0) == 2);
  CHECK(value<mod_rule>(7.0, -3.0) == -2);
  CHECK(slope<fmod_rule, 1>(-7.0, 3.0) == 2);
  CHECK(slope<remainder_rule, 1>(-7.0, 4.0) == 2);
  CHECK(slope<mod_rule, 1>(-7.0, 3.0) == 3);
  CHECK(slope<fmod_rule, 1>(7.0, inf) == 0);
  CHECK(std::isnan(value<fmod_rule>(7.0, 0.0)));
}

TEST_CASE("derivatives at the ends of domains") {
  CHECK(slope<log_rule>(0.0) == inf);
  CHECK(slope<log1p_rule>(-1.0) == inf);
  CHECK(slope<log_rule>(-0.0) == inf);
  CHECK(slope<log2_rule>(-0.0) == inf);
  CHECK(slope<log10_rule>(-0.0) == inf);
  CHECK(slope<sqrt_rule>(0.0) == inf);
  CHECK(slope<sqrt_rule>(-0.0) == inf);
  CHECK(slope<cbrt_rule>(0.0) == inf);
  CHECK(slope<asin_rule>(1.0) == inf);
  CHECK(slope<acos_rule>(-1.0) == -inf);
  CHECK(slope<acosh_rule>(1.0) == inf);
  CHECK(slope<atanh_rule>(-1.0) == inf);
  CHECK(slope<logit_rule>(0.0) == inf);
  CHECK(slope<log1m_rule>(1.0) == -inf);
  CHECK(slope<log1m_exp_rule>(0.0) == -inf);
  CHECK(value<log1m_exp_rule>(0.0) == -inf);
}

TEST_CASE("infinite arguments") {
  CHECK(slope<atan_rule>(inf) == 0);
  CHECK(slope<inv_logit_rule>(-inf) == 0);
  CHECK(slope<log1p_exp_rule>(inf) == 1);
  CHECK(value<log_sum_exp_rule>(-inf, -inf) == -inf);
  CHECK(value<log_sum_exp_rule>(inf, inf) == inf);
  CHECK(value<log_sum_exp_rule>(-inf, 2.0) == 2);
  CHECK(slope<log_sum_exp_rule>(-inf, 2.0) == 0);
  CHECK(slope<log_sum_exp_rule, 1>(-inf, 2.0) == 1);
  CHECK(slope<log_sum_exp_rule>(-inf, -inf) == 0.5);
}

TEST_CASE("atan2 on the axes") {
  CHECK(value<atan2_rule>(0.0, -1.0) == near(detail::pi));
  CHECK(value<atan2_rule>(-0.0, -1.0) == near(-detail::pi));
  CHECK(slope<atan2_rule>(0.0, 2.0) == 0.5);
  CHECK(slope<atan2_rule, 1>(0.0, 2.0) == 0);
  CHECK(slope<atan2_rule>(2.0, 0.0) == 0);
  CHECK(slope<atan2_rule, 1>(2.0, 0.0) == -0.5);
  CHECK(slope<atan2_rule, 1>(-2.0, 0.0) == 0.5);
  CHECK(slope<atan2_rule>(0.0, -2.0) == -0.5);
  CHECK(std::isnan(slope<atan2_rule>(0.0, 0.0)));
  for (const double x : {3.0, -3.0}) {  // in all quadrants, on both sides of the diagonals
    for (const double y : {4.0, -4.0, 2.0, -2.0}) {
      CHECK(value<atan2_rule>(x, y) == std::atan2(x, y));
      CHECK(slope<atan2_rule>(x, y) == near(y / (9 + y * y)));
      CHECK(slope<atan2_rule, 1>(x, y) == near(-x / (9 + y * y)));
    }
  }
  CHECK(slope<atan2_rule>(inf, 2.0) == 0);
  CHECK(slope<atan2_rule, 1>(2.0, -inf) == 0);
  CHECK(slope<atan2_rule>(inf, -inf) == 0);
  CHECK(slope<atan2_rule, 1>(inf, inf) == 0);
}

}  // namespace test_rule_values
