// Parts of vectors (head, tail, segment), whose types derive from other expressions than themselves, integers among arrays, and
// complex matrices.
#include <doctest/doctest.h>
#include <agrad/agrad.hpp>
#include <agrad/constraints.hpp>
#include <agrad/gaussian_processes.hpp>
#include <agrad/rules/fourier/complex.hpp>

namespace test_vector_blocks {

using namespace agrad;

namespace {

template <class A>
auto energy(const A& x) {
  return agrad::pow(x, 2).eval();
}

}  // namespace

TEST_CASE("parts of vectors are arguments as vectors are") {
  const scope own;
  const Eigen::VectorXd d = Eigen::Vector4d(.3, .7, 1.2, .4);
  const Eigen::MatrixXd s = Eigen::Matrix2d::Identity() * 2, x = Eigen::MatrixXd::Random(3, 2);
  const vector_of<var> v = d.cast<var>();
  CHECK(solve(s, d.head(2)).isApprox(0.5 * d.head(2)));
  const var form = quad_form(s, v.segment(1, 2));
  form.grad();
  CHECK(v[1].adj() == doctest::Approx(4 * d[1]));
  CHECK(v[0].adj() == 0);
  CHECK(lower_bound_constrain(d.head(2), 0.5).isApprox(lower_bound_constrain(d.head(2).eval(), 0.5)));
  CHECK(lower_bound_constrain(d, d.head(4)).isApprox(lower_bound_constrain(d, d)));
  CHECK(gp_exp_quad_cov(x, 1.0, d.tail(2)).isApprox(gp_exp_quad_cov(x, 1.0, d.tail(2).eval())));
}

TEST_CASE("integers mix with arrays of doubles as with arrays of variables") {
  const scope own;
  const Eigen::ArrayXd d = Eigen::Array2d(1, 2);
  const Eigen::Array<var, Eigen::Dynamic, 1> v = d.cast<var>();
  CHECK(energy(d).isApprox(d.square()));
  CHECK(energy(v)[1].val() == 4);
  CHECK(agrad::pow(2, d)[1] == 4);
  CHECK(agrad::atan2(d, 1)[0] == std::atan2(1.0, 1.0));
  CHECK(agrad::exp(Eigen::Vector2i(1, 2))[1] == std::exp(2.0));
}

TEST_CASE("absolute squares and polar forms of complex matrices are those of the entries") {
  const scope own;
  Eigen::MatrixXd re(2, 2), im(2, 2);
  re << 1, 2, 3, 4;
  im << 0.1, 0.2, 0.3, 0.4;
  CHECK(norm(to_complex(re, im)).isApprox((re.array().square() + im.array().square()).matrix()));
  CHECK(polar(re, im).real.isApprox((re.array() * im.array().cos()).matrix()));
  CHECK(norm(to_complex(Eigen::VectorXd(re.col(0)), Eigen::VectorXd(im.col(0)))).size() == 2);
  const matrix<var> a(re), b(im);
  const var total = sum(norm(to_complex(a, b)));
  total.grad();
  CHECK(a.adj().isApprox(2 * re));
  CHECK(b.adj().isApprox(2 * im));
  const vector_of<var> part = re.col(0).cast<var>();
  const auto mixed = to_complex(part, Eigen::VectorXd(im.col(0)));
  CHECK(abs(mixed)[0].val() == doctest::Approx(std::hypot(1.0, 0.1)));
  CHECK(abs(to_complex(var(3.0), 4.0)).val() == 5);
}

}  // namespace test_vector_blocks
