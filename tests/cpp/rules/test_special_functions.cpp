// The special functions that <agrad/agrad.hpp> leaves out, in their tails and by Stan's names. Decimals are mpmath's, from 50
// digits.
#include <doctest/doctest.h>
#include <agrad/dual/dual.hpp>
#include <agrad/rules/gamma/half_gamma.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/rules/lists/special.hpp>
#include <agrad/tape/var.hpp>
#include <cmath>
#include <type_traits>

namespace test_special_functions {

using namespace agrad;

namespace {

/// The partial derivative with respect to argument I.
template <class Rule, int I = 0, class... X>
double slope(X... x) {
  return Rule::derivative(wrt<I>{}, x..., Rule::value(x...));
}

doctest::Approx near(double x, double tolerance = 2e-15) { return doctest::Approx(x).epsilon(tolerance).scale(0); }

const double inf = infinity;

}  // namespace

TEST_CASE("Lambert's function close to the end of its branches and far away") {
  CHECK(lambert_w0(1e300) == near(684.2472086297608492920158));
  CHECK(lambert_w0(-0.36787944117144) == near(-0.9999998877164061231255371));
  CHECK(slope<lambert_w0_rule>(-0.36787944117144) == near(24209071.23992989039018573));
  CHECK(lambert_w0(detail::lambert_end) == -1);
  CHECK(slope<lambert_w0_rule>(detail::lambert_end) == inf);
  CHECK(slope<lambert_w0_rule>(0.0) == 1);
  CHECK(lambert_w0(inf) == inf);
  CHECK(lambert_wm1(-1e-300) == near(-697.3227762954601609703124));
  CHECK(slope<lambert_wm1_rule>(-1e-10) == near(-10395331313.98589832685024));
  CHECK(lambert_wm1(0.0) == -inf);
  CHECK(std::isnan(lambert_wm1(1e-300)));
}

TEST_CASE("Owen's T function") {
  CHECK(owens_t(3.0, 0.5) == near(0.0006051213785851948823801293));
  CHECK(owens_t(0.1, 30.0) == near(0.2300810296494446078765021));
  CHECK(owens_t(-30.0, -0.25) == near(-2.453356963573946310596631e-198));
  CHECK(owens_t(0.0, inf) == near(0.25));
  CHECK(owens_t(1.0, 1e308) == near(0.07932762696572854));
  CHECK(owens_t(inf, 1.0) == 0);
  CHECK(slope<owens_t_rule, 1>(0.0, 1.0) == near(0.25 / detail::pi));
}

TEST_CASE("the inverse of the incomplete beta function close to 1") {
  CHECK(inv_inc_beta(2.0, 3.0, 0.25) == near(0.2430220837560763023543628));
  CHECK(betainccinv(2.0, 3.0, 0.75) == inv_inc_beta(2.0, 3.0, 0.25));
  CHECK(slope<betaincinv_rule, 1>(3.0, 0.125, 0.875) == near(-0.000001911265996301271560557256, 1e-14));
  CHECK(slope<betainccinv_rule, 0>(0.5, 0.0625, 0.25) == near(3.784598466719672859168633e-9, 1e-14));
  CHECK(inv_inc_beta(2.0, 3.0, 1.0) == 1);
  CHECK(std::isnan(inv_inc_beta(2.0, -3.0, 0.5)));
}

TEST_CASE("Bessel functions of large orders and arguments") {
  CHECK(bessel_first_kind(100, 90.0) == near(0.002602130581996328928772333));
  CHECK(bessel_first_kind(2, 1e10) == near(-0.000002175591751782193361995887));
  CHECK(bessel_first_kind(-3, -0.5) == bessel_first_kind(3, 0.5));
  CHECK(bessel_second_kind(100, 90.0) == near(-2.830777138718563439701563));
  CHECK(bessel_second_kind(-3, 0.5) == -bessel_second_kind(3, 0.5));
  CHECK(slope<bessel_first_kind_rule, 1>(1.0, 0.0) == 0.5);
  CHECK(modified_bessel_first_kind(1000, 900.0) == near(2.251709073460527767661452e+166));
  CHECK(modified_bessel_first_kind(3, -700.0) == near(-1.519784811927044820275288e+302));
  CHECK(modified_bessel_first_kind(7, 1e-20) == near(1.550099206349205754081256e-146));
  CHECK(modified_bessel_second_kind(1000.0, 900.0) == near(1.650510970802970775825822e-170, 1e-14));
  CHECK(modified_bessel_second_kind(0.5, 700.0) == near(4.670609799936133501548745e-306, 1e-14));
  CHECK(modified_bessel_second_kind(3, 1e-5) == near(7999999999899998.036727956, 1e-14));
  CHECK(slope<kv_rule>(1e-5, 2.0) == near(4.722160073960580287827546e-7, 1e-14));
  CHECK(slope<kv_rule>(0.0, 2.0) == 0);
  CHECK(kv(2.5, 0.0) == inf);
  CHECK(kv(2.5, inf) == 0);
}

TEST_CASE("modified Bessel functions of the first kind of real orders") {
  CHECK(log_modified_bessel_first_kind(2.5, 0.75) == near(-3.613045805844384042052525));
  CHECK(slope<log_modified_bessel_first_kind_rule, 0>(2.5, 0.75) == near(-2.095325297280373669047993));
  CHECK(slope<log_modified_bessel_first_kind_rule, 0>(0.0, 25.0) == near(-5.999004596702945371456564e-22, 1e-14));
  CHECK(log_modified_bessel_first_kind(100.0, 300.0) == near(279.6859107787837182212342));
  CHECK(slope<log_modified_bessel_first_kind_rule, 0>(100.0, 300.0) == near(-0.3279516717120013260133453));
  CHECK(iv(-2.5, 0.75) == near(4.524032947959851416308212));
  CHECK(slope<iv_rule, 0>(2.5, 0.75) == near(-0.05651003808669768752317458));
  const auto mixed = [](double v, double z) { return slope<detail::bessel_i_of_order_rule, 2>(1.0, v, z); };
  CHECK(mixed(0.0, 10.0) == near(1.8648773453825585e-5, 1e-14));  // K_1(z), by DLMF 10.38.4
  CHECK(mixed(0.0, 100.0) == near(4.6798537356369093e-45, 1e-14));
  CHECK(mixed(1e-8, 10.0) == near(1.6142427020520934e-5, 1e-14));
  CHECK(mixed(1e-8, 100.0) == near(-1.0629233867727794e32, 1e-14));
  CHECK(log_modified_bessel_first_kind(-1.0, 2.0) == near(log_modified_bessel_first_kind(1.0, 2.0)));
  CHECK(log_modified_bessel_first_kind(1.0, 0.0) == -inf);
  CHECK(std::isnan(log_modified_bessel_first_kind(-1.5, 1.0)));
}

TEST_CASE("means of powers of 1 - cos, which are derivatives of Bessel functions") {
  CHECK(detail::bessel_i_moment(1, 0x1p-20) == near(0.9999985694896623));
  CHECK(detail::bessel_i_moment(1, 0.3125) == near(0.6338705763038504));
  CHECK(detail::bessel_i_moment(1, 3.625) == near(0.03334958250569701));
  CHECK(detail::bessel_i_moment(1, 29.5) == near(0.0012612911215448646));
  CHECK(detail::bessel_i_moment(1, 30.5) == near(0.0011992447855170727));
  CHECK(detail::bessel_i_moment(2, 0x1p-20) == near(1.4999976158161985));
  CHECK(detail::bessel_i_moment(2, 0.3125) == near(0.897449703829053));
  CHECK(detail::bessel_i_moment(2, 3.625) == near(0.015621099176523238));
  CHECK(detail::bessel_i_moment(2, 29.5) == near(6.470678013434866e-05));
  CHECK(detail::bessel_i_moment(2, 30.5) == near(5.9488282992768505e-05));
  CHECK(detail::bessel_i_moment(4, 0x1p-20) == near(4.374992489821324));
  CHECK(detail::bessel_i_moment(4, 0.3125) == near(2.500476502641301));
  CHECK(detail::bessel_i_moment(4, 3.625) == near(0.013122920793298857));
  CHECK(detail::bessel_i_moment(4, 29.5) == near(6.626185474810142e-07));
  CHECK(detail::bessel_i_moment(4, 30.5) == near(5.695190015236963e-07));
}

TEST_CASE("data have the derivative 0, a number whatever the scalar is") {
  CHECK(slope<polygamma_rule, 0>(1.0, 2.5) == 0);
  CHECK(slope<ldexp_rule, 1>(1.5, 3.0) == 0);
  CHECK(slope<ldexp_rule, 0>(1.5, 3.0) == 8);
  using rise = detail::half_gamma_rise_rule;
  CHECK(slope<rise, 0>(1.0, 5.0, 3.0) == 0);
  CHECK(slope<rise, 1>(1.0, 5.0, 3.0) == 0);
  CHECK(slope<rise, 2>(1.0, 5.0, 3.0) == rise::value(2.0, 5.0, 3.0));
  static_assert(std::is_same_v<decltype(rise::derivative(wrt<1>{}, var(), var(), var(), var())), double>);
}

TEST_CASE("factorial powers, multivariate gamma function and binomial coefficients") {
  CHECK(falling_factorial(2.5, 3) == 2.5 * 1.5 * 0.5);
  CHECK(rising_factorial(1e-300, 100) == near(9.332621544394415502036944e-145));
  CHECK(falling_factorial(3.0, 5) == 0);
  CHECK(slope<falling_factorial_rule>(3.0, 5.0) == -6);
  CHECK(std::isnan(rising_factorial_rule::value(1, 1.5)));
  CHECK(lmgamma(100, 50.25) == near(8954.52050048419200183155));
  CHECK(lmgamma(2, 0.5) == inf);
  CHECK(choose(1e93, 1e79) == inf);
  CHECK(lchoose(-1e-9, 1e-12) == near(-1.6465790021183336934e-21));
}

TEST_CASE("probabilities on the logarithmic scale") {
  CHECK(log_mix(1e-12, 800.0, 790.0) == near(790.0000000220254655522461));
  CHECK(log_diff_exp(1e-12, 0.0) == near(-27.63102111592804822832925));
  CHECK(log_inv_logit_diff(-800.0, -801.0) == near(-800.4586751453870818910216));
  CHECK(log_diff_exp(2.0, 2.0) == -inf);
  CHECK(Phi_approx(-20.0) == near(9.394497809207155351293746e-260));
  CHECK(hypergeometric_1F0(1e10, 1e-10) == near(2.718281828594959425828678));
  CHECK(binary_log_loss(1, 0.25) == near(-std::log(0.25)));
  CHECK(binary_log_loss(0, 0.25) == near(-std::log(0.75)));
  CHECK(slope<binary_log_loss_rule, 1>(1.0, 0.25) == -4);
  CHECK(inv_cloglog(-800.0) == 0);
}

TEST_CASE("a mixture of equal logarithms has second derivatives") {
  using inner = dual<double, 3>;
  using second = dual<inner, 3>;
  for (const double log_size : {1.0, -700.0, 0.0}) {
    second x[3];
    const double at[] = {0.25, log_size, log_size};
    for (std::size_t i = 0; i < 3; ++i) {
      x[i].value.value = at[i];
      x[i].value.tangent[i] = 1;
      x[i].tangent[i].value = 1;
    }
    const second y = log_mix(x[0], x[1], x[2]);
    const double expected[3][3] = {{0, 1, -1}, {1, 0.1875, -0.1875}, {-1, -0.1875, 0.1875}};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) CHECK(y.tangent[i].tangent[j] == expected[i][j]);
    }
  }
}

TEST_CASE("Stan's names are those of agrad's functions") {
  const var x = 0.25;
  CHECK(Phi(x).val() == ndtr(0.25));
  CHECK(inv_Phi(0.25) == ndtri(0.25));
  CHECK(inv_erfc(0.25) == erfcinv(0.25));
  CHECK(gamma_p(2.0, 0.25) == gammainc(2.0, 0.25));
  CHECK(gamma_q(2.0, 0.25) == gammaincc(2.0, 0.25));
  CHECK(lbeta(2.0, 0.25) == betaln(2.0, 0.25));
  CHECK(inc_beta(2.0, 3.0, 0.25) == betainc(2.0, 3.0, 0.25));
  CHECK(lmultiply(2.0, 0.25) == xlogy(2.0, 0.25));
  CHECK(trigamma(0.25) == polygamma(1, 0.25));
  CHECK(modulus(-7, 3) == -1);
  CHECK(minus(x).val() + plus(x).val() == 0);
  CHECK(logical_lt(x, 1));
  CHECK(logical_eq(x, 0.25));
  CHECK_FALSE(logical_and(x, 0));
  CHECK(logical_negation(0));
  CHECK(is_inf(inf));
  CHECK_FALSE(is_nan(x));
  CHECK(step(0.0) == 1);
  CHECK(int_step(0.0) == 0);
}

TEST_CASE("logarithms of incomplete gamma and beta functions where the functions underflow") {
  CHECK(log_gammainc(300.0, 1e-3) == near(-3487.233430317444479538227767));
  CHECK(slope<log_gammainc_rule>(300.0, 1e-3) == near(-12.61320350541754970607855413, 1e-13));
  CHECK(log_gammaincc(2.5, 1000.0) == near(-989.9215503273734509294663369));
  CHECK(slope<log_gammaincc_rule, 1>(2.5, 1000.0) == near(-0.9985014992488800476437293471, 1e-13));
  CHECK(log_betainc(300.0, 2.5, 1e-3) == near(-2064.050852460900861429527874));
  CHECK(slope<log_betainc_rule, 1>(300.0, 2.5, 1e-3) == near(5.006273658836651403421800514, 1e-13));
  const double near_one = 1 - 0x1p-10;
  CHECK(log_betaincc(2.5, 300.0, near_one) == near(-2071.165775372096225685208386));
  CHECK(slope<log_betaincc_rule, 2>(2.5, 300.0, near_one) == near(-307198.5035268523402347184525, 1e-13));
}

}  // namespace test_special_functions
