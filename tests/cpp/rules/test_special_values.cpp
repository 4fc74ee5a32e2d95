// Special functions at single points whose truth is known: tails, large parameters and limits. Decimals are mpmath's, from
// 70 digits.
#include <doctest/doctest.h>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/var.hpp>
#include <cmath>

namespace test_special_values {

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

TEST_CASE("normal distribution and error functions, deep in their tails") {
  CHECK(value<log_ndtr_rule>(-1e4) == near(-50000010.12927891518085523));
  CHECK(value<log_ndtr_rule>(-38.5) == near(-745.6952702904110813296103));
  CHECK(value<log_ndtr_rule>(30.0) == near(-4.906713927148187059533809e-198));
  CHECK(slope<log_ndtr_rule>(-1e4) == near(10000.0000999999980000001));
  CHECK(slope<log_ndtr_rule>(-1e8) == near(100000000.00000001));
  CHECK(slope<log_ndtr_rule>(30.0) == near(1.473646134878547519049493e-196));
  CHECK(value<ndtr_rule>(-37.0) == near(5.725571222524576822683193e-300));
  CHECK(value<ndtri_rule>(1e-300) == near(-37.04709629936119923654704));
  CHECK(value<ndtri_rule>(5e-324) == near(-38.46740561714434625078436));
  CHECK(value<ndtri_rule>(0.9999999999999999) == near(8.209536151601386855630769));
  CHECK(slope<ndtri_rule>(1e-300) == near(2.697304465042611979878759e+298));
  CHECK(value<erfcinv_rule>(1e-300) == near(26.20946996051612388552073));
  CHECK(value<erfinv_rule>(1e-300) == near(8.862269254527580358571257e-301));
  CHECK(value<erfinv_rule>(-0.9999999999999999) == near(-5.863584748755167927207663));
  CHECK(value<erfcx_rule>(1e10) == near(5.641895835477562869480795e-11));
  CHECK(value<erfcx_rule>(-26.0) == near(7.657724931490568351526774e+293));
  CHECK(slope<erfcx_rule>(1e6) == near(-5.641895835469100025727599e-13));
  CHECK(value<ndtr_rule>(-inf) == 0);
  CHECK(value<ndtr_rule>(inf) == 1);
  CHECK(value<log_ndtr_rule>(-inf) == -inf);
  CHECK(value<log_ndtr_rule>(inf) == 0);
  CHECK(slope<log_ndtr_rule>(inf) == 0);
  CHECK(value<ndtri_rule>(0.0) == -inf);
  CHECK(value<ndtri_rule>(1.0) == inf);
  CHECK(slope<ndtri_rule>(0.0) == inf);
  CHECK(slope<erfinv_rule>(-1.0) == inf);
  CHECK(slope<erfcinv_rule>(2.0) == -inf);
}

TEST_CASE("incomplete gamma functions: large and small shapes, and the derivative in the shape") {
  CHECK(value<gammainc_rule>(10000.0, 10000.0) == near(0.5013298083399552003827423, 1e-13));
  CHECK(value<gammaincc_rule>(10000.0, 10000.0) == near(0.4986701916600447996172577, 1e-13));
  CHECK(slope<gammainc_rule>(10000.0, 10000.0) == near(-0.003989456049453668626648862, 1e-13));
  CHECK(value<gammainc_rule>(10000.0, 9700.0) == near(0.001234175584468491996642204, 1e-13));
  CHECK(value<gammaincc_rule>(10000.0, 9700.0) == near(0.9987658244155315080033578, 1e-13));
  CHECK(slope<gammainc_rule>(10000.0, 9700.0) == near(-0.00004103914107884243108496157, 1e-13));
  CHECK(value<gammainc_rule>(10000.0, 10300.0) == near(0.998529505103614318724093, 1e-13));
  CHECK(value<gammaincc_rule>(10000.0, 10300.0) == near(0.001470494896385681275906953, 1e-13));
  CHECK(slope<gammainc_rule>(10000.0, 10300.0) == near(-0.00004768499514046361059241141, 1e-13));
  CHECK(value<gammainc_rule>(1000000.0, 1001000.0) == near(0.8413447863683402916275639, 1e-13));
  CHECK(value<gammaincc_rule>(1000000.0, 1001000.0) == near(0.1586552136316597083724361, 1e-13));
  CHECK(slope<gammainc_rule>(1000000.0, 1001000.0) == near(-0.0002419304095241330482937706, 1e-13));
  CHECK(value<gammainc_rule>(1000000.0, 999000.0) == near(0.1586552135743036524630327, 1e-13));
  CHECK(value<gammaincc_rule>(1000000.0, 999000.0) == near(0.8413447864256963475369673, 1e-13));
  CHECK(slope<gammainc_rule>(1000000.0, 999000.0) == near(-0.0002420110663997445510213124, 1e-13));
  CHECK(value<gammainc_rule>(40.0, 39.5) == near(0.4893902495328699239777063, 1e-13));
  CHECK(value<gammaincc_rule>(40.0, 39.5) == near(0.5106097504671300760222937, 1e-13));
  CHECK(slope<gammainc_rule>(40.0, 39.5) == near(-0.06340821231680614288314888, 1e-13));
  CHECK(value<gammainc_rule>(12.5, 3.0) == near(0.00003426768617027623721890766, 1e-13));
  CHECK(value<gammaincc_rule>(12.5, 3.0) == near(0.9999657323138297237627811, 1e-13));
  CHECK(slope<gammainc_rule>(12.5, 3.0) == near(-0.00005093770570390521131155791, 1e-13));
  CHECK(value<gammainc_rule>(0.5, 0.25) == near(0.5204998778130465376827467, 1e-13));
  CHECK(value<gammaincc_rule>(0.5, 0.25) == near(0.4795001221869534623172533, 1e-13));
  CHECK(slope<gammainc_rule>(0.5, 0.25) == near(-0.7979473167832229405114033, 1e-13));
  CHECK(value<gammainc_rule>(0.001, 1e-05) == near(0.9891230446957826688509405, 1e-13));
  CHECK(value<gammaincc_rule>(0.001, 1e-05) == near(0.01087695530421733114905953, 1e-13));
  CHECK(slope<gammainc_rule>(0.001, 1e-05) == near(-10.81839829908633936568084, 1e-13));
  CHECK(value<gammaincc_rule>(1e-10, 1e-05) == near(1.093571979414644325982996e-9, 1e-13));
  CHECK(slope<gammaincc_rule>(1e-10, 1e-05) == near(10.93571978824919019168438, 1e-13));
  CHECK(value<gammaincc_rule>(1e-10, 30.0) == near(3.021552011900379205378615e-25, 1e-13));
  CHECK(slope<gammaincc_rule>(1e-10, 30.0) == near(3.021552013111945645995914e-15, 1e-13));
  CHECK(value<gammaincc_rule>(0.3, 300.0) == near(3.167836036835024978892432e-133, 1e-13));
  CHECK(slope<gammaincc_rule>(0.3, 300.0) == near(2.917457034896646516852751e-132, 1e-13));
  CHECK(value<gammaincc_rule>(1e-15, 1.5) == near(1.000195824066327930404543e-16, 1e-13));
  CHECK(slope<gammaincc_rule>(1e-15, 1.5) == near(0.1000195824066329186348759, 1e-13));
  CHECK(value<gammainc_rule>(1e15, 1e15) == near(0.5, 1e-7));
  CHECK(value<gammainc_rule>(0.0, 2.0) == 1);
  CHECK(value<gammaincc_rule>(0.0, 2.0) == 0);
  CHECK(value<gammainc_rule>(2.0, 0.0) == 0);
  CHECK(value<gammainc_rule>(2.0, inf) == 1);
  CHECK(value<gammainc_rule>(inf, 2.0) == 0);
  CHECK(std::isnan(value<gammainc_rule>(0.0, 0.0)));
  CHECK(std::isnan(value<gammaincc_rule>(inf, inf)));
  CHECK(slope<gammainc_rule, 1>(1.0, 0.0) == 1);
  CHECK(slope<gammainc_rule, 1>(0.5, 0.0) == inf);
  CHECK(slope<gammainc_rule, 1>(2.0, 0.0) == 0);
}

TEST_CASE("beta functions of arguments of very different size") {
  CHECK(value<betaln_rule>(1e-10, 10000000000.0) == near(23.02585092758015014427674));
  CHECK(slope<betaln_rule>(1e-10, 10000000000.0) == near(-10000000023.60306623030552, 1e-14));
  CHECK(value<betaln_rule>(10000000000.0, 1e-10) == near(23.02585092758015014427674));
  CHECK(slope<betaln_rule>(10000000000.0, 1e-10) == near(-1.000000000050000036428864e-20, 1e-14));
  CHECK(value<betaln_rule>(100000000.0, 2.5) == near(-45.76701900815799439572734));
  CHECK(slope<betaln_rule>(100000000.0, 2.5) == near(-2.499999981250000249999996e-8, 1e-14));
  CHECK(value<betaln_rule>(1000000.0, 2000000.0) == near(-1909548.290968532956511169));
  CHECK(slope<betaln_rule>(1000000.0, 2000000.0) == near(-1.098612622001517098802653, 1e-14));
  CHECK(value<betaln_rule>(1e+300, 3.0) == near(-2071.633436514081170464289));
  CHECK(slope<betaln_rule>(1e+300, 3.0) == near(-2.999999999999999842485719e-300, 1e-14));
}

TEST_CASE("Bessel functions at large arguments and at 0") {
  CHECK(value<i0_rule>(713.0) == near(6.705128263670996672917276e+307));
  CHECK(slope<i0e_rule>(1e8) == near(-1.994711409487331217353167e-13));
  CHECK(slope<k0e_rule>(1e8) == near(-6.266570663077861401682906e-13, 1e-14));
  CHECK(slope<i0_rule>(0.0) == 0);
  CHECK(slope<i1_rule>(0.0) == 0.5);
  CHECK(slope<i1e_rule>(0.0) == 0.5);
  CHECK(slope<i0e_rule>(0.0) == 0);
  CHECK(slope<i0e_rule>(-0.0) == 0);
  CHECK(value<i0_rule>(inf) == inf);
  CHECK(value<k0_rule>(0.0) == inf);
  CHECK(value<k1e_rule>(inf) == 0);
}

TEST_CASE("entropies and quotients where they are limits") {
  CHECK(value<xlogy_rule>(0.0, 0.0) == 0);
  CHECK(slope<xlogy_rule, 1>(0.0, 0.0) == 0);
  CHECK(slope<xlog1py_rule, 1>(0.0, -1.0) == 0);
  CHECK(value<entr_rule>(0.0) == 0);
  CHECK(value<entr_rule>(-1.0) == -inf);
  CHECK(value<rel_entr_rule>(0.0, 0.0) == 0);
  CHECK(value<rel_entr_rule>(1.0, 0.0) == inf);
  CHECK(value<kl_div_rule>(0.0, 3.0) == 3);
  CHECK(slope<kl_div_rule, 1>(0.0, 3.0) == 1);
  CHECK(slope<exprel_rule>(0.0) == 0.5);
  CHECK(slope<sinc_rule>(0.0) == 0);
  CHECK(value<boxcox_rule>(2.0, 0.0) == near(detail::log_2));
  CHECK(slope<boxcox_rule, 1>(2.0, 0.0) == near(detail::log_2 * detail::log_2 / 2));
  CHECK(value<heaviside_rule>(0.0, 0.25) == 0.25);
  CHECK(slope<heaviside_rule, 1>(0.0, 0.25) == 1);

  CHECK(value<kl_div_rule>(1.0, 1.00000001) == near(4.999999905891957999870522e-17));
  CHECK(value<exprel_rule>(712.0) == near(2.318414698298643635724521e+306));
}

}  // namespace test_special_values
