// Functions of vectors with adjoints of one's own: one with a variable as result, and one with a vector of them.
#include <agrad/agrad.hpp>
#include <cmath>
#include <iostream>
#include <vector>

// The length of a vector of variables. The closure keeps what the adjoint needs; the vector that it owns is destroyed when the
// tape gives back its memory.
agrad::var length(const std::vector<agrad::var>& x) {
  double square = 0;
  for (const agrad::var& v : x) square += v.val() * v.val();
  return agrad::custom(std::sqrt(square), [x](auto& adjoint, const agrad::var& y) {
    for (const agrad::var& v : x) adjoint[v] += adjoint[y] * v.val() / y.val();
  });
}

// The direction x / |x|, whose adjoint is the part of the result's adjoint that is perpendicular to it, over |x|.
agrad::matrix<agrad::var> direction(const agrad::matrix<agrad::var>& x) {
  const double norm = x.val().norm();
  const agrad::matrix<agrad::var> y(x.val() / norm);
  agrad::push([=](auto& adjoint) {
    const Eigen::VectorXd bar = adjoint[y];
    adjoint[x] += (bar - y.val() * y.val().col(0).dot(bar)) / norm;
  });
  return y;
}

int main() {
  const std::vector<agrad::var> side{3.0, 4.0, 12.0};
  const agrad::var diagonal = length(side) * 2;
  diagonal.grad();
  std::cout << "diagonal = " << diagonal.val() << ", by its sides:";
  for (const agrad::var& s : side) std::cout << ' ' << s.adj();

  const agrad::matrix<agrad::var> x(Eigen::Vector2d(3, 4));
  const agrad::matrix<agrad::var> u = direction(x);
  const agrad::var sum = u(0, 0) + 2 * u(1, 0);
  sum.grad();
  std::cout << "\nsum = " << sum.val() << ", by x: " << x.adj().transpose() << '\n';
}
