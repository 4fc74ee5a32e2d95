// Densities against 60-digit values of mpmath, in all mixtures of arguments, and their behaviour on the tape.
#include <doctest/doctest.h>
#include <agrad/dual/density.hpp>
#include <agrad/functionals/gradient.hpp>
#include <agrad/functionals/jacobian.hpp>
#include <agrad/tape/density.hpp>
#include <array>
#include <string>
#include <vector>

namespace test_density {

using namespace agrad;

namespace {

/// Arguments y, mu, sigma; the log density; its partial derivatives.
struct row {
  double x[3], value, partial[3];
};
// The first three of each are in the core, the others in tails or of extreme size.
constexpr row normal_rows[] = {
    {{0.3, -0.4, 1.7},
     -1.534341870772033430426,
     {-0.2422145328719723348354, 0.2422145328719723348354, -0.4884998982291878733058}},
    {{2.5, 2.5, 0.01}, 3.686231652783418605439, {0.0, 0.0, -99.99999999999999791833}},
    {{-1.25, 3.0, 8.0}, -3.139493356134508670032, {0.06640625, -0.06640625, -0.0897216796875}},
    {{1.0, 0.999999, 0.001},
     5.988816245777464260701,
     {-1.000000000028755622883, 1.000000000028755622883, -999.9989999999999216721}},
    {{40.0, 0.0, 1.0}, -800.9189385332046727418, {-40.0, 40.0, 1599.0}},
    {{10000000000.0, -10000000000.0, 0.001},
     -1.999999999999999916733e+26,
     {-1.999999999999999916733e+16, 1.999999999999999916733e+16, 3.9999999999999997502e+29}},
    {{1e-300, 0.0, 1e-150},
     344.4688254159021798546,
     {-1.000000000000000012468, 1.000000000000000012468, -9.999999999999999937046e+149}},
    {{3.0, 1.0, 1e+300}, -691.6944664314183779997, {0.0, 0.0, -9.999999999999999474952e-301}},
};
constexpr row lognormal_rows[] = {
    {{0.3, -0.4, 1.7},
     -0.3574230924142132797511,
     {-2.406029060754399109306, -0.2781912817736802939204, -0.4566716323843456619386}},
    {{2.5, 0.9, 0.01}, 1.443001195931208200111, {-65.56292749662016920332, 162.9073187415504230083, 165.387944995611064586}},
    {{30.0, 3.0, 8.0},
     -6.400834951383012242057,
     {-0.03354229030294903925803, 0.006268709088471177740832, -0.1246856262909129508471}},
    {{1.0, 0.0, 0.5}, -0.2257913526447274323631, {-1.0, 0.0, -2.0}},
    {{1e-300, 0.0, 1.0},
     -237895.5583821629014255,
     {6.897755278982136878952e+302, -690.7755278982137051803, 477169.8299430558209159}},
    {{1e+300, 2.0, 0.25},
     -3795984.130823774028104,
     {-1.102140844637141870545e-296, 11020.40844637141928413, 3.036234658121362983693e+7}},
    {{0.1, 690.0, 100000.0},
     -10.12930286932432185548,
     {-9.999999307697414351894, -6.923025850929940456285e-8, -9.999520717130673557739e-6}},
    {{1.0000001, 0.0, 0.0001},
     8.291401238771564304111,
     {-10.99999840583886233318, 9.999999505838703559317, -9999.990000000987843351}},
};

/// Equal up to a relative error, whatever the size of the number.
doctest::Approx near(double x, double tolerance) { return doctest::Approx(x).epsilon(tolerance).scale(1e-305); }

template <class Rule, bool propto = false>
struct named {
  template <class... X>
  auto operator()(const X&... x) const {
    return apply_density<Rule, propto>(x...);
  }
};
const named<normal_lpdf_rule> normal;
const named<lognormal_lpdf_rule> lognormal;

template <class F>
void check_row(const F& f, const row& r, double tolerance) {
  INFO("y = " << r.x[0] << ", mu = " << r.x[1] << ", sigma = " << r.x[2]);
  const scope own;
  CHECK(f(r.x[0], r.x[1], r.x[2]) == near(r.value, tolerance));
  const var v[] = {r.x[0], r.x[1], r.x[2]};
  const var lp = f(v[0], v[1], v[2]);
  lp.grad();
  CHECK(lp.val() == near(r.value, tolerance));
  for (int k = 0; k < 3; ++k) CHECK(v[k].adj() == near(r.partial[k], tolerance));
  using D = dual<double, 3>;
  const D d = f(D(r.x[0], {1, 0, 0}), D(r.x[1], {0, 1, 0}), D(r.x[2], {0, 0, 1}));
  CHECK(d.value == near(r.value, tolerance));
  for (std::size_t k = 0; k < 3; ++k) CHECK(d.tangent[k] == near(r.partial[k], 10 * tolerance));  // sums of large terms
}

const std::vector<double> ys{0.4, 1.5, 2.25, 0.9}, mus{0.1, -0.5, 1.0, 0.75}, sigmas{1.5, 0.5, 2.0, 0.8};

/// n numbers, begun with the given ones and all different.
std::vector<double> lengthened(std::vector<double> x, std::size_t n) {
  for (std::size_t i = 0; x.size() < n; ++i) x.push_back(x[i] * (i % 3 == 0 ? 1.25 : 0.875));
  return x;
}

template <class T>
std::vector<T> argument(const std::vector<double>& values, bool sequence) {
  return {values.begin(), sequence ? values.end() : values.begin() + 1};
}

/// Calls f with each argument as a sequence or as its first entry, as the bits say.
template <class F, class Y, class Mu, class Sigma>
auto call(const F& f, int sequences, const std::vector<Y>& y, const std::vector<Mu>& mu, const std::vector<Sigma>& sigma) {
  switch (sequences) {
    case 0:
      return f(y[0], mu[0], sigma[0]);
    case 1:
      return f(y, mu[0], sigma[0]);
    case 2:
      return f(y[0], mu, sigma[0]);
    case 3:
      return f(y, mu, sigma[0]);
    case 4:
      return f(y[0], mu[0], sigma);
    case 5:
      return f(y, mu[0], sigma);
    case 6:
      return f(y[0], mu, sigma);
    default:
      return f(y, mu, sigma);
  }
}

void collect(std::vector<var>&, const std::vector<double>&) {}
void collect(std::vector<var>& all, const std::vector<var>& x) { all.insert(all.end(), x.begin(), x.end()); }

/// The value and gradient of one call are those of the sum of calls with scalars, whichever arguments are sequences.
template <class Y, class Mu, class Sigma, class F>
void check_mixture(const F& f, std::size_t n) {
  for (int sequences = 0; sequences < 8; ++sequences) {
    INFO("sequences " << sequences << " of length " << n);
    const scope own;
    const auto y = argument<Y>(lengthened(ys, n), (sequences & 1) != 0);
    const auto mu = argument<Mu>(lengthened(mus, n), (sequences & 2) != 0);
    const auto sigma = argument<Sigma>(lengthened(sigmas, n), (sequences & 4) != 0);
    std::vector<var> all;
    collect(all, y), collect(all, mu), collect(all, sigma);
    const var whole = call(f, sequences, y, mu, sigma);
    var by_terms = 0.0;
    for (std::size_t i = 0; i < (sequences == 0 ? 1 : n); ++i)
      by_terms += f(y[i % y.size()], mu[i % mu.size()], sigma[i % sigma.size()]);
    CHECK(whole.val() == near(by_terms.val(), 1e-14));
    std::vector<double> gradient, expected;
    whole.grad(all, gradient);
    by_terms.grad(all, expected);
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(gradient[i] == near(expected[i], 1e-13));
  }
}

template <class F>
void check_mixtures(const F& f) {
  for (const std::size_t n : {4, 8, 29}) {  // fewer than an octet, one, three and some more
    check_mixture<double, double, var>(f, n);
    check_mixture<double, var, double>(f, n);
    check_mixture<double, var, var>(f, n);
    check_mixture<var, double, double>(f, n);
    check_mixture<var, double, var>(f, n);
    check_mixture<var, var, double>(f, n);
    check_mixture<var, var, var>(f, n);
  }
}

}  // namespace

TEST_CASE("values and partial derivatives, core and tails") {
  for (const row& r : normal_rows) check_row(normal, r, &r - normal_rows < 3 ? 1e-13 : 1e-10);
  for (const row& r : lognormal_rows) check_row(lognormal, r, &r - lognormal_rows < 3 ? 1e-13 : 1e-10);
}

TEST_CASE("sequences are sums of terms") {
  check_mixtures(normal);
  check_mixtures(lognormal);
  check_mixtures(named<lognormal_lpdf_rule, true>{});
}

TEST_CASE("all kinds of sequences are taken") {
  const scope own;
  const double expected = normal_lpdf(ys, mus, 2.0);
  const Eigen::Map<const Eigen::VectorXd> y(ys.data(), 4), mu(mus.data(), 4);
  CHECK(normal_lpdf(y, mus, 2) == expected);
  CHECK(normal_lpdf(y.array() + 0.0, mu.transpose(), 2.0F) == expected);
  CHECK(normal_lpdf(y.head(4), mu.reshaped(2, 2), 2.0) == expected);
  const Eigen::Matrix<double, 2, 2, Eigen::RowMajor> by_rows = mu.reshaped(2, 2);
  CHECK(normal_lpdf(y, by_rows, 2.0) == expected);
  CHECK(normal_lpdf(std::vector<int>{1, 2}, 0, 1) == normal_lpdf(std::vector<double>{1, 2}, 0.0, 1.0));
  const matrix<var> m(mu);
  const vector_of<var> v = mu.cast<var>();
  const var sigma = 2.0;
  const var by_matrix = normal_lpdf(y, m, sigma), by_vector = normal_lpdf(y, v.head(4), sigma * 1.0);
  CHECK(by_matrix.val() == near(expected, 1e-15));
  CHECK(by_vector.val() == near(expected, 1e-15));
  by_matrix.grad();
  const Eigen::VectorXd gradient = m.adj();
  const double scale_gradient = sigma.adj();
  by_vector.grad();
  for (Eigen::Index i = 0; i < 4; ++i) CHECK(v[i].adj() == gradient[i]);
  CHECK(sigma.adj() == scale_gradient);
}

TEST_CASE("propto drops what does not depend on variables") {
  const scope own;
  const var mu = 0.3, sigma = 1.2;
  const double y = 0.7, z = (y - 0.3) / 1.2, half_log_two_pi = detail::half_log_two_pi;
  CHECK(normal_lpdf<true>(y, 0.3, 1.2) == 0);
  CHECK(var(normal_lpdf<true>(y, mu, 1.2)).val() == near(-z * z / 2, 1e-14));
  CHECK(var(normal_lpdf<true>(y, mu, sigma)).val() == near(-z * z / 2 - std::log(1.2), 1e-14));
  CHECK(normal_lpdf(y, 0.3, 1.2) == near(-z * z / 2 - std::log(1.2) - half_log_two_pi, 1e-14));
  const double w = (std::log(y) - 0.3) / 1.2;
  const var v = y;
  CHECK(var(lognormal_lpdf<true>(y, mu, 1.2)).val() == near(-w * w / 2, 1e-14));
  CHECK(var(lognormal_lpdf<true>(v, mu, 1.2)).val() == near(-w * w / 2 - std::log(y), 1e-14));
}

TEST_CASE("a density is one statement, or one closure") {
  const scope own;
  const var mu = 0.3, sigma = 1.2;
  const std::vector<var> each(mus.begin(), mus.end());
  const tape_statistics before = tape::current().statistics();
  const var scalars = normal_lpdf(ys, mu, sigma);
  const tape_statistics between = tape::current().statistics();
  CHECK(between.statements == before.statements + 1);
  CHECK(between.leaves == before.leaves + 2);
  CHECK(between.closures == before.closures);
  const var sequences = normal_lpdf(ys, each, sigma);
  const tape_statistics after = tape::current().statistics();
  CHECK(after.closures == between.closures + 1);
  CHECK(after.leaves == between.leaves);
  CHECK(scalars.val() < 0);
  CHECK(sequences.val() < 0);
}

TEST_CASE("a variable that is incremented afterwards keeps the derivative of its old value") {
  const scope own;
  const var start = 0.5;
  std::vector<var> mu{start * 1.0, start * 2.0, start * 3.0, start * 4.0};
  const var lp = normal_lpdf(ys, mu, 1.0);
  for (var& m : mu) m += start * 100.0;
  lp.grad();
  double expected = 0;
  for (std::size_t i = 0; i < 4; ++i) expected += (ys[i] - 0.5 * static_cast<double>(i + 1)) * static_cast<double>(i + 1);
  CHECK(start.adj() == near(expected, 1e-14));
}

TEST_CASE("Hessians pass through densities") {
  const Eigen::Vector2d at(0.3, 1.2);
  const auto check = [&](const auto& f) {
    double value;
    Eigen::VectorXd g;
    Eigen::MatrixXd h;
    hessian(f, at, value, g, h);
    for (Eigen::Index j = 0; j < 2; ++j) {
      const double step = 1e-4;
      Eigen::VectorXd up, down;
      Eigen::Vector2d moved = at;
      moved[j] += step;
      gradient(f, moved, value, up);
      moved[j] -= 2 * step;
      gradient(f, moved, value, down);
      for (Eigen::Index i = 0; i < 2; ++i) CHECK(std::abs(h(i, j) - (up[i] - down[i]) / (2 * step)) < 1e-7 * h.norm());
    }
  };
  check([](const auto& x) { return normal_lpdf(ys, x[0], x[1]); });
  check([](const auto& x) { return lognormal_lpdf(ys, x[0], x[1]); });
  check([](const auto& x) { return normal_lpdf(x[0] * x[1], 0.5, x[1]); });
}

TEST_CASE("an octet is as good as its numbers, in the tails and out of the support") {
  const scope own;
  // Eight terms each: extreme ones beside ordinary ones, where logarithms by packets would not do.
  const std::vector<std::vector<double>> octets{{0.3, 2.5, 30, 1, 1e-300, 1e300, 0.1, 1.0000001},
                                                {1, 2, 3, 4, 5e-324, 1e-310, 1.7e308, 0.5},
                                                {1, 2, 0, 4, 5, infinity, 7, 8}};
  for (const std::vector<double>& y : octets) {
    const std::vector<var> v(y.begin(), y.end());
    const var mu = 0.25, sigma = 1.5, lp = lognormal_lpdf(v, mu, sigma);
    lp.grad();
    const double mu_adjoint = mu.adj();
    std::vector<double> adjoints(8);
    for (std::size_t i = 0; i < 8; ++i) adjoints[i] = v[i].adj();
    double value = 0, mu_wanted = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const var one = lognormal_lpdf(v[i], mu, 1.5);
      one.grad();
      value += one.val();
      mu_wanted += mu.adj();
      CHECK((adjoints[i] == v[i].adj() || adjoints[i] == near(v[i].adj(), 1e-14)));
    }
    CHECK((lp.val() == value || lp.val() == near(value, 1e-14)));
    CHECK(mu_adjoint == near(mu_wanted, 1e-13));
  }
}

TEST_CASE("sequences of variables: ranges of indices, gaps, blocks, repetitions, and lanes") {
  const scope own;
  const Eigen::VectorXd at = Eigen::VectorXd::LinSpaced(24, -2, 3);
  const auto f = [](const auto& x, const auto& y) {
    Eigen::Matrix<std::decay_t<decltype(y[0])>, 2, 1> sums;
    sums << normal_lpdf(x, 0.5, 1.5), normal_lpdf(1.0, x, 0.75);
    return sums;
  };
  Eigen::VectorXd wanted_first = -(at.array() - 0.5) / 2.25, wanted_second = (1 - at.array()) / 0.5625;
  const matrix<var> whole(at.reshaped(6, 4).eval());
  for (const matrix<var>& part : {whole, whole.block(1, 1, 3, 2), whole.row(2), whole.col(3)}) {
    const var lp = normal_lpdf(part, 0.5, 1.5);
    lp.grad();
    const Eigen::MatrixXd error = part.adj() + (part.val().array() - 0.5).matrix() / 2.25;
    CHECK(error.norm() < 1e-14);
    CHECK(std::abs(whole.adj().sum() - part.adj().sum()) < 1e-13);  // nothing went elsewhere
  }
  const vector_of<var> range = at.cast<var>();
  vector_of<var> gaps = range.reverse();
  gaps[3] = gaps[5];  // twice there
  const var lp = normal_lpdf(gaps, 0.5, 1.5);
  lp.grad();
  for (Eigen::Index i = 0; i < 24; ++i) {
    const double times = i == 23 - 3 ? 0 : i == 23 - 5 ? 2 : 1;
    CHECK(range[i].adj() == near(times * wanted_first[i], 1e-14));
  }
  Eigen::VectorXd values;
  Eigen::MatrixXd j;
  jacobian([&](const auto& x) { return f(x, x); }, at, values, j);
  CHECK((j.row(0).transpose() - wanted_first).norm() < 1e-14);
  CHECK((j.row(1).transpose() - wanted_second).norm() < 1e-14);
}

TEST_CASE("adjoints are added, for doubles and for duals") {
  const double mu = 0.3, sigma = 1.2;
  const density_inputs<normal_lpdf_rule, double> in{{{ys.data(), 1, true}, {&mu, 0, true}, {&sigma, 0, false}}};
  std::vector<double> y_partial(4), y_adjoint(4, 1.0);
  double mu_partial = 0, mu_adjoint = 1.0;
  const double value = density_partials<normal_lpdf_rule>(4, in, false, {y_partial.data(), &mu_partial, nullptr});
  CHECK(value == density_value<normal_lpdf_rule>(4, in, {}));
  density_adjoint<normal_lpdf_rule>(4, in, {}, 2.0, {y_adjoint.data(), &mu_adjoint, nullptr});
  CHECK(mu_adjoint == near(1 + 2 * mu_partial, 1e-15));
  for (std::size_t i = 0; i < 4; ++i) CHECK(y_adjoint[i] == near(1 + 2 * y_partial[i], 1e-15));

  using D = dual<double, 4>;
  const std::vector<D> y{D(0.4, {1, 0, 0, 0}), 1.5, 2.25, 0.9};
  const D d_mu(0.3, {0, 1, 0, 0}), d_sigma = 1.2;
  const density_inputs<normal_lpdf_rule, D> d_in{{{y.data(), 1, true}, {&d_mu, 0, true}, {&d_sigma, 0, false}}};
  std::vector<D> d_adjoint(4, D(0.0));
  D d_mu_adjoint = 0.0;
  density_adjoint<normal_lpdf_rule>(4, d_in, {}, D(1.0), {d_adjoint.data(), &d_mu_adjoint, nullptr});
  CHECK(d_mu_adjoint.value == near(mu_partial, 1e-15));
  CHECK(d_adjoint[0].tangent[0] == near(-1 / (sigma * sigma), 1e-15));
  CHECK(d_mu_adjoint.tangent[0] == near(1 / (sigma * sigma), 1e-15));
  CHECK(d_mu_adjoint.tangent[1] == near(-4 / (sigma * sigma), 1e-14));
}

}  // namespace test_density
