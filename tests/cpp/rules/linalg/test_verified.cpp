// Every function of matrices against mpmath, to a few units in the last place of what can be known, and against itself in every
// mode. What is tested is listed in test_verified_*.cpp; the numbers are tests/python/matrix_reference.py's.
#include "verified.hpp"

#include <doctest/doctest.h>

#include <agrad/functionals/products.hpp>
#include <agrad/testing.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace test_verified {

namespace {

using agrad::scope;
using Eigen::VectorXd;
using verified::dual;
using verified::Index;
using verified::shapes;
using verified::var;
using verified::vector_of;

// ---- against mpmath ------------------------------------------------------------------------------------------------------

/// Numbers that are known, and what each may be wrong by for arguments that are wrong in the last place.
struct quantity {
  VectorXd numbers, units;
};

struct truth {
  std::string function, point;
  verified::shapes shapes;
  VectorXd x, w, v;
  quantity value, gradient, curvature;  // curvature: the second derivative of the weighted sum along v
};

/// The numbers of the next line, which must begin with the label.
VectorXd read(std::istream& in, const std::string& label) {
  std::string line, word;
  std::getline(in, line);
  std::istringstream words(line);
  words >> word;
  REQUIRE(word == label);
  std::vector<double> numbers;
  while (words >> word) numbers.push_back(std::stod(word));
  return Eigen::Map<const VectorXd>(numbers.data(), static_cast<Index>(numbers.size()));
}
quantity read_quantity(std::istream& in, const std::string& label) {
  VectorXd numbers = read(in, label);
  return {numbers, read(in, label + ".unit")};
}

std::vector<truth> read_truths() {
  std::ifstream in(AGRAD_REFERENCE_DIR "/matrix.txt");
  REQUIRE_MESSAGE(in, "there must be " AGRAD_REFERENCE_DIR "/matrix.txt");
  std::vector<truth> truths;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    truth t;
    const auto colon = line.find(": ");
    t.function = line.substr(0, colon);
    t.point = line.substr(colon + 2);
    const VectorXd sizes = read(in, "shapes");
    for (Index k = 0; k < sizes.size(); k += 2)
      t.shapes.emplace_back(static_cast<Index>(sizes[k]), static_cast<Index>(sizes[k + 1]));
    t.x = read(in, "x"), t.w = read(in, "w"), t.v = read(in, "v");
    t.value = read_quantity(in, "value"), t.gradient = read_quantity(in, "gradient");
    t.curvature = read_quantity(in, "curvature");
    truths.push_back(std::move(t));
  }
  return truths;
}

/// The largest error in units in the last place, and in the units of the quantity.
double error_of(const VectorXd& actual, const quantity& expected) {
  REQUIRE(actual.size() == expected.numbers.size());
  double worst = 0;
  for (Index i = 0; i < actual.size(); ++i) {
    const double error = std::abs(actual[i] - expected.numbers[i]);
    if (error == 0) continue;
    const double units = error / (std::numeric_limits<double>::epsilon() * expected.units[i]);
    worst = units > worst || std::isnan(units) ? units : worst;
  }
  return worst;
}

template <class T>
T weighed(const vector_of<T>& y, const VectorXd& w) {
  T sum = 0.0;
  for (Index i = 0; i < y.size(); ++i) sum += w[i] * y[i];
  return sum;
}
VectorXd adjoints(const vector_of<var>& x) {
  VectorXd g(x.size());
  for (Index i = 0; i < x.size(); ++i) g[i] = x[i].adj();
  return g;
}
VectorXd gradient(const verified::flat<var>& f, const truth& t) {
  const scope own;
  const vector_of<var> x = t.x.cast<var>();
  weighed(f(x, t.shapes), t.w).grad();
  return adjoints(x);
}
VectorXd curvature(const verified::flat<dual<var>>& f, const truth& t) {
  const scope own;
  const vector_of<var> x = t.x.cast<var>();
  vector_of<dual<var>> moving(x.size());
  for (Index i = 0; i < x.size(); ++i) moving[i] = dual<var>(x[i], {var(t.v[i])});
  const dual<var> y = weighed(f(moving, t.shapes), t.w);
  y.tangent[0].grad();
  return adjoints(x);
}

// ---- against itself ------------------------------------------------------------------------------------------------------

/// A function of entries at one point's shapes, of every scalar, as users' functions are.
struct erased {
  const verified::function& f;
  verified::shapes shapes;
  vector_of<double> operator()(const vector_of<double>& x) const { return f.on_numbers(x, shapes); }
  vector_of<var> operator()(const vector_of<var>& x) const { return f.on_variables(x, shapes); }
  vector_of<dual<double>> operator()(const vector_of<dual<double>>& x) const { return f.on_duals(x, shapes); }
  vector_of<dual<var>> operator()(const vector_of<dual<var>>& x) const { return f.on_second_order(x, shapes); }
};

}  // namespace

TEST_CASE("functions of matrices, their gradients and second derivatives against mpmath") {
  const std::vector<truth> truths = read_truths();
  for (const verified::function& f : verified::functions()) {
    int points = 0;
    for (const truth& t : truths) {
      if (t.function != f.name) continue;
      ++points;
      CAPTURE(f.name);
      CAPTURE(t.point);
      const double limit = 8;
      CHECK(error_of(f.on_numbers(t.x, t.shapes), t.value) <= limit);
      CHECK(error_of(gradient(f.on_variables, t), t.gradient) <= limit);
      CHECK(error_of(gradient(f.on_handles, t), t.gradient) <= limit);
      CHECK(error_of(curvature(f.on_second_order, t), t.curvature) <= limit);
    }
    CHECK_MESSAGE(points > 0, f.name << " has no points in matrix.txt");
  }
  for (const truth& t : truths)
    CHECK_MESSAGE(std::any_of(verified::functions().begin(), verified::functions().end(),
                              [&](const verified::function& f) { return f.name == t.function; }),
                  t.function << " of matrix.txt is not tested");
}

TEST_CASE("functions of matrices in every mode") {
  for (const verified::function& f : verified::functions()) {
    for (const verified::arguments& point : f.points) {
      CAPTURE(f.name);
      CAPTURE(point[0].rows());
      // Larger random spectra have gaps that differences of no step see; what is left of them is against mpmath.
      if (f.noise > 1 && point[0].rows() > 5) continue;
      erased g{f, {}};
      Index n = 0;
      for (const Eigen::MatrixXd& a : point) {
        g.shapes.emplace_back(a.rows(), a.cols());
        n += a.size();
      }
      VectorXd x(n);
      Index start = 0;
      for (const Eigen::MatrixXd& a : point) {
        x.segment(start, a.size()) = Eigen::Map<const VectorXd>(a.data(), a.size());
        start += a.size();
      }
      agrad::check_options options;
      options.difference_factor *= f.noise;
      const agrad::gradient_report report = agrad::check_gradient(g, x, options);
      CHECK_MESSAGE(report.ok, report.message);
      CHECK(report.forward_checked);
      CHECK(report.second_order_checked);
    }
  }
}

}  // namespace test_verified
