// A statement of more than 125 variables.
// expect: one statement has too many variables
#include <agrad/tape/var.hpp>

void wrong(const agrad::var& x) {
  const auto two = x * x;
  const auto eight = (two + two) * (two + two);
  const auto sixty_four = (eight * eight) + (eight * eight) + (eight * eight) + (eight * eight);
  const agrad::var y = sixty_four * sixty_four;
}
