// Uses agrad::agrad: the gradient of a product, known in closed form.
#include <agrad/agrad.hpp>
#include <cmath>
#include <cstdio>

int main() {
  agrad::var x1 = 10.3, x2 = 1.1;
  agrad::var y = x1 * x2 * 2 + 7;
  y.grad();
  std::printf("y = %g, dy/dx1 = %g, dy/dx2 = %g\n", y.val(), x1.adj(), x2.adj());
  const bool right = std::abs(y.val() - 29.66) < 1e-13 && std::abs(x1.adj() - 2.2) < 1e-14 && std::abs(x2.adj() - 20.6) < 1e-13;
  return right ? 0 : 1;
}
