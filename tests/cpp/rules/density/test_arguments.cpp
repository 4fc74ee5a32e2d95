// Arguments of densities: the ends of the support, sequences of length zero, and what is refused by name.
#include <doctest/doctest.h>
#include <agrad/dual/density.hpp>
#include <agrad/tape/density.hpp>
#include <agrad/tape/scope.hpp>
#include <string>
#include <vector>

namespace test_density_arguments {

using namespace agrad;

namespace {

const std::vector<double> ys{0.4, 1.5, 2.25, 0.9}, mus{0.1, -0.5, 1.0, 0.75};

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace

TEST_CASE("the ends of the support") {
  const scope own;
  CHECK(lognormal_lpdf(0.0, 0.0, 1.0) == -infinity);
  CHECK(lognormal_lpdf(infinity, 0.0, 1.0) == -infinity);
  CHECK(normal_lpdf(-infinity, 0.0, 1.0) == -infinity);
  const var mu = 0.0;
  const var lp = lognormal_lpdf(std::vector<double>{0.0, std::exp(0.5)}, mu, 1.0);
  lp.grad();
  CHECK(lp.val() == -infinity);
  CHECK(mu.adj() == doctest::Approx(0.5).epsilon(1e-15));
}

TEST_CASE("sequences of length zero sum to zero") {
  const scope own;
  const std::vector<double> none;
  CHECK(normal_lpdf(none, 0.0, -1.0) == 0);  // no term, so nothing to check
  const var mu = 0.5;
  const var lp = normal_lpdf(none, mu, 1.0);
  lp.grad();
  CHECK(lp.val() == 0);
  CHECK(mu.adj() == 0);
  const var of_sequence = normal_lpdf(std::vector<var>{}, mu, 1.0);
  CHECK(of_sequence.val() == 0);
}

TEST_CASE("bad arguments are named, with their index and value") {
  const scope own;
  const std::vector<double> two{1.0, 2.0};
  CHECK(message_of([&] {
          normal_lpdf(ys, mus, std::vector<double>{1, 1, 1, -0.2});
        }) == "normal_lpdf: sigma[3] is -0.2, but must be positive and finite");
  CHECK(message_of([&] { normal_lpdf(ys, 0, infinity); }) == "normal_lpdf: sigma is inf, but must be positive and finite");
  CHECK(message_of([&] { normal_lpdf(ys, var(-infinity), 1); }) == "normal_lpdf: mu is -inf, but must be finite");
  CHECK(message_of([&] {
          normal_lpdf(std::vector<var>{1.0, agrad::quiet_nan}, 0, 1);
        }) == "normal_lpdf: y[1] is nan, but must be a number, not nan");
  CHECK(message_of([&] { lognormal_lpdf(-1e-3, 0, dual<double>(1.0)); }) ==
        "lognormal_lpdf: y is -0.001, but must be nonnegative");
  CHECK(message_of([&] { normal_lpdf(ys, 0, two); }) ==
        "normal_lpdf: sigma is of length 2, but must be of length 4; all sequences have one length, numbers broadcast");
  CHECK_THROWS_AS(normal_lpdf(ys, two, 1.0), ShapeError);
  CHECK_THROWS_AS(normal_lpdf(ys, 0.0, 0.0), DomainError);
}

}  // namespace test_density_arguments
