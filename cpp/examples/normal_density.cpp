// A normal log density term by term, and the three ways to its gradient: adjoints, a gradient vector, the library's density.
#include <agrad/agrad.hpp>
#include <cmath>
#include <iostream>
#include <vector>

int main() {
  const double y = 1.3, log_two_pi = std::log(2 * 3.141592653589793);
  agrad::var mu = 0.5, sigma = 1.2;

  agrad::var lp = 0;
  lp -= 0.5 * log_two_pi;
  lp -= log(sigma);
  lp -= 0.5 * pow((y - mu) / sigma, 2.0);
  lp.grad();
  std::cout << "lp = " << lp.val() << ", by mu: " << mu.adj() << ", by sigma: " << sigma.adj() << '\n';

  const std::vector<agrad::var> theta{mu, sigma};
  std::vector<double> g;
  lp.grad(theta, g);
  std::cout << "lp = " << lp.val() << ", by mu: " << g[0] << ", by sigma: " << g[1] << '\n';

  const agrad::var same = agrad::normal_lpdf(y, mu, sigma);
  same.grad(theta, g);
  std::cout << "lp = " << same.val() << ", by mu: " << g[0] << ", by sigma: " << g[1] << '\n';
}
