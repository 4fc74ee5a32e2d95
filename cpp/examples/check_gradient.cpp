// A function with an adjoint of its own, checked: once right, once with a wrong sign.
#include <agrad/agrad.hpp>
#include <agrad/testing.hpp>
#include <cmath>
#include <iostream>

/// x0 J0(x1), with Bessel's function of order 0, whose derivative is -J1.
struct scaled_bessel {
  double sign;  // of the derivative: -1 is right

  double operator()(const Eigen::VectorXd& x) const { return x[0] * std::cyl_bessel_j(0, x[1]); }
  agrad::var operator()(const agrad::vector_of<agrad::var>& x) const {
    const agrad::var b = x[1];
    const double slope = sign * std::cyl_bessel_j(1, b.val());
    return x[0] * agrad::custom(std::cyl_bessel_j(0, b.val()),
                                [b, slope](auto& adjoint, const agrad::var& y) { adjoint[b] += adjoint[y] * slope; });
  }
};

int main() {
  const Eigen::Vector2d x(1.5, 0.8);
  const agrad::gradient_report right = agrad::check_gradient(scaled_bessel{-1}, x);
  std::cout << "the right adjoint: " << (right.ok ? "ok" : right.message) << '\n';
  const agrad::gradient_report wrong = agrad::check_gradient(scaled_bessel{+1}, x);
  std::cout << "the wrong adjoint: " << (wrong.ok ? "ok" : "not ok at " + wrong.where) << '\n';
  try {
    agrad::expect_gradient(scaled_bessel{+1}, x);
  } catch (const agrad::GradientError&) {
    std::cout << "expect_gradient throws\n";
  }
}
