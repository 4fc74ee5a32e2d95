// check_gradient: passes what is right, fails what is wrong and says where; finite differences and the errors they claim.
#include <doctest/doctest.h>
#include <agrad/functionals/finite_differences.hpp>
#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/testing.hpp>
#include <cmath>
#include <stdexcept>
#include <string>

namespace test_testing {

using agrad::check_gradient;
using agrad::dual;
using agrad::gradient_report;
using agrad::var;
using agrad::vector_of;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// x0 x1 with an adjoint of its own, the part of x1 multiplied by a factor that ought to be 1.
struct custom_product {
  double factor = 1, shift = 0;
  double operator()(const VectorXd& x) const { return x[0] * x[1]; }
  var operator()(const vector_of<var>& x) const {
    const var a = x[0], b = x[1];
    const double wrong = factor;
    return agrad::custom(a.val() * b.val() + shift, [a, b, wrong](auto& adjoint, const var& y) {
      adjoint[a] += adjoint[y] * b.val();
      adjoint[b] += wrong * adjoint[y] * a.val();
    });
  }
};

/// A function of one number with a derivative by hand.
template <class F, class Slope>
struct with_slope {
  F f;
  Slope slope;
  double operator()(const VectorXd& x) const { return f(x[0]); }
  var operator()(const vector_of<var>& x) const {
    const var a = x[0];
    const double by_a = slope(a.val());
    return agrad::custom(f(a.val()), [a, by_a](auto& adjoint, const var& y) { adjoint[a] += by_a * adjoint[y]; });
  }
};
template <class F, class Slope>
bool passes(const F& f, const Slope& slope, double x) {
  return check_gradient(with_slope<F, Slope>{f, slope}, VectorXd(VectorXd::Constant(1, x))).ok;
}

/// The same in the second of three results.
struct custom_vector {
  double factor;
  template <class T>
  vector_of<T> results(const vector_of<T>& x, const T& product) const {
    vector_of<T> y(3);
    y << x[1], product, x[0] * x[0];
    return y;
  }
  VectorXd operator()(const VectorXd& x) const { return results<double>(x, custom_product()(x)); }
  vector_of<var> operator()(const vector_of<var>& x) const { return results<var>(x, custom_product{factor}(x)); }
};

/// exp(x0 x1), with duals that are wrong: of double in the tangent, of var in the tangent's dependence on x.
struct wrong_dual {
  double first = 1, second = 0;
  template <class T>
  T operator()(const vector_of<T>& x) const {
    return exp(x[0] * x[1]);
  }
  dual<double> operator()(const vector_of<dual<double>>& x) const {
    dual<double> y = exp(x[0] * x[1]);
    y.tangent[0] *= first;
    return y;
  }
  dual<var> operator()(const vector_of<dual<var>>& x) const {
    dual<var> y = exp(x[0] * x[1]);
    y.tangent[0] += second * x[0].value;
    return y;
  }
};

struct log_mean {
  template <class T>
  T operator()(const vector_of<T>& x) const {
    return log(x.mean());
  }
};

}  // namespace

TEST_CASE("what is right passes, and the report says what was checked") {
  const Eigen::Vector3d x(0.5, 1.5, 2.5);
  const gradient_report report = check_gradient(log_mean(), x);
  CHECK(report.ok);
  CHECK(report.message.empty());
  CHECK(report.forward_checked);
  CHECK(report.second_order_checked);
  CHECK(report.value_error < 1e-15);
  CHECK(report.product_error < 1e-15);
  CHECK(report.symmetry_error < 1e-15);
  CHECK(report.difference_error < 1e-12);
  CHECK(report.curvature_error < 1e-12);
  CHECK(!report.where.empty());
  agrad::expect_gradient(log_mean(), x);

  const gradient_report custom = check_gradient(custom_product(), Eigen::Vector2d(2, 3));
  CHECK(custom.ok);
  CHECK(!custom.forward_checked);  // its overloads take double and var
  CHECK(!custom.second_order_checked);
  agrad::check_options first_order;
  first_order.second_order = false;
  CHECK(!check_gradient(log_mean(), x, first_order).second_order_checked);
}

TEST_CASE("a wrong adjoint fails, and the message names the coordinate and both values") {
  const Eigen::Vector2d x(2, 3);
  gradient_report report = check_gradient(custom_product{-1}, x);
  CHECK(!report.ok);
  CHECK(report.where == "gradient[1]");
  CHECK(report.message.rfind("check_gradient: gradient[1] is -2, but must be 2 to within ", 0) == 0);
  CHECK(contains(report.message, "; as by finite differences of f"));
  for (const double factor : {0.0, 1 + 1e-9, 1 - 1e-9, 1.01, std::nan(""), double{INFINITY}})
    CHECK(!check_gradient(custom_product{factor}, x).ok);
  report = check_gradient(custom_vector{2}, x);
  CHECK(!report.ok);
  CHECK(report.where == "jacobian.row(1)[1]");
  CHECK(contains(report.message, "jacobian.row(1)[1] is 4, but must be 2"));
  CHECK(check_gradient(custom_vector{1}, x).ok);
  try {
    agrad::expect_gradient(custom_product{-1}, x);
    FAIL("nothing was thrown");
  } catch (const agrad::GradientError& e) {
    CHECK(!e.report.ok);
    CHECK(e.report.message == e.what());
  }
}

TEST_CASE("a wrong value fails") {
  const gradient_report report = check_gradient(custom_product{1, 1e-9}, Eigen::Vector2d(2, 3));
  CHECK(!report.ok);
  CHECK(report.where == "f(x)[0]");
  CHECK(contains(report.message, "f(x) of plain numbers has that value, but not in reverse mode"));
}

TEST_CASE("wrong tangents and wrong second derivatives fail") {
  const Eigen::Vector2d x(0.5, 0.7);
  CHECK(check_gradient(wrong_dual(), x).ok);
  const gradient_report first = check_gradient(wrong_dual{1 + 1e-10}, x);
  CHECK(!first.ok);
  CHECK(first.where == "<J'w, v>");
  CHECK(contains(first.message, "reverse and forward mode disagree"));
  CHECK(first.difference_error < 1e-11);
  const gradient_report second = check_gradient(wrong_dual{1, 0.01}, x);
  CHECK(!second.ok);
  CHECK(second.symmetry_error > 1e-4);
  CHECK(second.curvature_error > 1e-4);
  CHECK(second.product_error < 1e-15);
}

TEST_CASE("where f is not smooth nothing is proved") {
  const VectorXd zero = VectorXd::Zero(1);
  gradient_report report = check_gradient([](const auto& x) { return abs(x[0]); }, zero);
  CHECK(!report.ok);
  CHECK(contains(report.message, "choose a point around which f is smooth"));
  report = check_gradient([](const auto& x) { return sqrt(x[0]); }, zero);
  CHECK(!report.ok);
  report = check_gradient([](const auto& x) { return log(x[0]); }, zero);
  CHECK(!report.ok);
  CHECK(contains(report.message, "f(x)[0] is -inf, but must be finite"));
  CHECK(check_gradient([](const auto& x) { return abs(x[0] - 1e-3) * x[0]; }, zero).ok);  // a kink nearby
}

TEST_CASE("coordinates of all magnitudes, near poles and ends of domains") {
  const auto f = [](const auto& x) { return log(x[0]) * sqrt(x[1]) + 1 / x[2] + x[3] * x[3] * 1e-8 + lgamma(x[4]); };
  const VectorXd x = (VectorXd(5) << 1e-6, 1e-3, -2e-5, 3e4, 150).finished();
  const gradient_report report = check_gradient(f, x);
  CHECK_MESSAGE(report.ok, report.message);
  const auto throws = [](const auto& v) {
    if (v[0] <= 0) throw std::domain_error("outside");
    return log(v[0]) * v[1];
  };
  CHECK(check_gradient(throws, Eigen::Vector2d(1e-4, 2)).ok);
  CHECK_THROWS_AS(check_gradient(throws, Eigen::Vector2d(-1, 2)), std::domain_error);
}

TEST_CASE("narrow peaks, fast oscillations, whole periods in a step and small values") {
  const auto none = [](double) { return 0.0; };
  for (const double from : {0.0, 1.0}) {
    const auto peak = [from](double x) { return from + std::exp(-std::pow((x - from) / 1e-4, 2)); };
    const auto slope = [&](double x) { return -2e8 * (x - from) * (peak(x) - from); };
    CHECK(passes(peak, slope, from + 0.7e-4));
    CHECK(!passes(peak, none, from + 0.7e-4));
  }
  for (const double x : {0.0, 0.7e-12}) {
    const auto fast = [](double t) { return 1e-12 * std::sin(t / 1e-12); };
    CHECK(passes(
        fast, [](double t) { return std::cos(t / 1e-12); }, x));
    CHECK(!passes(fast, none, x));
  }
  for (const double frequency : {8.0, 512.0, 1000.0}) {
    const double w = 2 * 3.141592653589793 * frequency;
    CHECK(passes([w](double t) { return std::sin(w * t); }, [w](double t) { return w * std::cos(w * t); }, 0.0));
    CHECK(!passes([w](double t) { return std::sin(w * t); }, none, 0.0));
  }
  for (const double size : {1e-100, 1e-9, 1e9}) {
    const auto sine = [size](double t) { return size * std::sin(t); };
    CHECK(passes(
        sine, [size](double t) { return size * std::cos(t); }, 1.0));
    CHECK(!passes(
        sine, [size](double t) { return -5 * size * std::cos(t); }, 1.0));
  }
}

TEST_CASE("functions of nothing, constants and results of length zero") {
  CHECK(check_gradient([](const auto&) { return 3.0; }, VectorXd(0)).ok);
  CHECK(check_gradient([](const auto&) { return 3.0; }, VectorXd::Ones(2)).ok);
  CHECK(check_gradient([](const auto& x) { return x.head(0).eval(); }, VectorXd::Ones(2)).ok);
  CHECK(check_gradient([](const auto& x) { return x; }, VectorXd::Zero(2)).ok);
}

TEST_CASE("the same directions every time, others by another seed, and the tape as it was") {
  const Eigen::Vector3d x(0.5, 1.5, 2.5);
  const agrad::scope own;
  [[maybe_unused]] const var kept = 2.0;
  const auto before = agrad::tape::current().statistics();
  agrad::check_options other;
  other.seed = 7;
  const gradient_report a = check_gradient(log_mean(), x), b = check_gradient(log_mean(), x),
                        c = check_gradient(log_mean(), x, other);
  CHECK((a.product_error == b.product_error && a.symmetry_error == b.symmetry_error && a.curvature_error == b.curvature_error));
  CHECK((a.product_error != c.product_error || a.symmetry_error != c.symmetry_error || a.curvature_error != c.curvature_error));
  CHECK(agrad::tape::current().statistics().bytes == before.bytes);
}

TEST_CASE("finite differences are within the errors that they claim, and these are small") {
  struct {
    const char* name;
    double (*f)(double);
    double (*derivative)(double);
    double x;
  } const functions[] = {
      {"sin", [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); }, 0.8},
      {"sin of many periods", [](double x) { return std::sin(50 * x); }, [](double x) { return 50 * std::cos(50 * x); }, 0.8},
      {"a period that is a step", [](double x) { return std::sin(50.265482457436692 * x); },
       [](double x) { return 50.265482457436692 * std::cos(50.265482457436692 * x); }, 0.8},
      {"exp", [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); }, 0},
      {"log near its end", [](double x) { return std::log(x); }, [](double x) { return 1 / x; }, 1e-7},
      {"a pole nearby", [](double x) { return 1 / x; }, [](double x) { return -1 / (x * x); }, -1e-6},
      {"a cubic far away", [](double x) { return x * x * x; }, [](double x) { return 3 * x * x; }, 1e5},
      {"linear", [](double x) { return 3 * x; }, [](double) { return 3.0; }, 0.3},
      {"constant", [](double) { return 5.0; }, [](double) { return 0.0; }, 0.3},
      {"a kink nearby", [](double x) { return std::abs(x - 0.3001); }, [](double) { return -1.0; }, 0.3},
  };
  for (const auto& each : functions) {
    CAPTURE(std::string(each.name));
    const auto f = [&](const VectorXd& x) { return each.f(x[0]); };
    const double expected = each.derivative(each.x);
    Eigen::Matrix<double, 1, 1> fx, J, error;
    agrad::finite_difference_jacobian(f, VectorXd::Constant(1, each.x), fx, J, error);
    CHECK(fx[0] == each.f(each.x));
    CHECK(std::abs(J(0) - expected) <= error(0));
    CHECK(error(0) <= 1e-9 * std::max(std::abs(expected), std::abs(fx[0])));
  }
}

TEST_CASE("finite differences where no step gives numbers") {
  VectorXd fx, error;
  MatrixXd J;
  agrad::finite_difference_jacobian([](const VectorXd& x) { return std::sqrt(x[0]); }, VectorXd::Zero(1), fx, J, error);
  CHECK(fx[0] == 0);
  CHECK(std::isnan(J(0)));
  CHECK(std::isinf(error(0)));
  for (const double x : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    agrad::finite_difference_jacobian([](const VectorXd& v) { return v[0]; }, VectorXd::Constant(1, x), fx, J, error);
    CHECK(std::isnan(J(0)));
    CHECK(!check_gradient([](const auto& v) { return v[0]; }, VectorXd::Constant(1, x)).ok);
  }
}

TEST_CASE("second derivatives that cancel to rounding errors are zero") {
  const auto f = [](const auto& x) {
    typename std::decay_t<decltype(x)>::Scalar y = x[0] * x[0] / x[0] + exp(log(x[1]));
    return y;
  };
  for (const double scale : {0.3, 1.0, 1.7, 3.3, 1e-5, 1e5}) {
    const agrad::gradient_report report = agrad::check_gradient(f, scale * Eigen::Vector2d(1, 2.1));
    CHECK_MESSAGE(report.ok, report.message);
  }
}

TEST_CASE("a shorter difference that rounding explains does not replace a longer one by chance") {
  const auto one = [](double value, double error, double rounding) {
    return agrad::detail::difference{Eigen::VectorXd::Constant(1, value), Eigen::VectorXd::Constant(1, error),
                                     Eigen::VectorXd::Constant(1, rounding)};
  };
  const auto better_of = [&](agrad::detail::difference best, double value, double error, double rounding) {
    agrad::detail::store_better(best, one(value, error, rounding), 0);
    return best.value[0];
  };
  const auto longer = one(0.5, 4e-15, 1e-16);
  CHECK(better_of(longer, 0.5 + 1e-13, 3.9e-15, 2e-15) == 0.5);          // a contradiction that 100 roundings explain
  CHECK(better_of(longer, 0.5 + 1e-14, 3.9e-15, 2e-15) == 0.5 + 1e-14);  // agreement, and a smaller error
  CHECK(better_of(longer, 0.5 + 1e-14, 4.1e-15, 2e-15) == 0.5);          // agreement, and a larger error
  CHECK(better_of(longer, 0.75, 1e-10, 2e-15) == 0.75);                  // a feature that the longer one has missed
}

}  // namespace test_testing
