#include "library.hpp"

#include <agrad/rules/lists/elementwise.hpp>
#include <agrad/tape/custom.hpp>
#include <agrad/tape/scope.hpp>

// Half of it in statements, half in a closure, after a gradient of its own.
void cube(const agrad::var& x, agrad::var& to) {
  {
    const agrad::isolated_scope own;
    const agrad::var u = x.val();
    const agrad::var v = u * u;
    v.grad();
  }
  const agrad::var square = x * x;
  to = agrad::custom(square.val() * x.val(), [x, square](auto& adjoint, const agrad::var& y) {
    adjoint[x] += adjoint[y] * square.val();
    adjoint[square] += adjoint[y] * x.val();
  });
}
