// The smallest program: a function of two variables and its gradient.
#include <agrad/agrad.hpp>
#include <iostream>

int main() {
  agrad::var x1 = 10.3, x2 = 1.1;
  agrad::var y = x1 * x2 * 2 + 7;
  y.grad();
  std::cout << "y = " << y.val() << '\n'  //
            << "dy/dx1 = " << x1.adj() << '\n'
            << "dy/dx2 = " << x2.adj() << '\n';
}
