// Custom: adjoints written by the user.
//
//     var y = custom(std::cyl_bessel_j(0, x.val()),
//                    [x](auto& adjoint, const var& y) { adjoint[x] -= adjoint[y] * std::cyl_bessel_j(1, x.val()); });
//
// `custom(value, closure)` returns a variable with that value; in the reverse pass the closure propagates the variable's
// adjoint to the variables that the value depends on. `push(closure)` is for closures with results of their own. A closure must
// be linear in the adjoints and change nothing else: several lanes and careful passes (tape/careful.hpp) call it several times.
#pragma once

#include <utility>

#include <agrad/tape/var.hpp>

namespace agrad {

template <int Lanes>
adjoint_view<Lanes>::adjoint_view(tape& on, int lane) : tape_(on), first_(on.first_reached()), lane_(lane) {}
template <int Lanes>
double& adjoint_view<Lanes>::operator[](const var& x) const {
#ifdef AGRAD_CHECKS_OPERANDS
  detail::tape_access::check_operand("adjoint", x);
#endif
  return at(x.index());
}
template <int Lanes>
double& adjoint_view<Lanes>::at(tape::index_type index) const {
  if (AGRAD_UNLIKELY(!reaches(index))) index = 0;
  if constexpr (Lanes == 1)
    return tape_.adjoint(index);
  else
    return tape_.lane_adjoints(index)[lane_];
}

/// Stores `f(adjoint)` on the current tape; the reverse pass calls f when the pass reaches this place.
template <class F>
void push(F f) {
  tape::current().push(std::move(f));
}

/// Returns a variable with the given value. In the reverse pass `f(adjoint, y)` propagates the adjoint of y to the variables
/// that y depends on; f is not called if that adjoint is zero.
template <class F>
var custom(double value, F f) {
  tape& t = tape::current();
  const var y = detail::tape_access::variable(value, t.leaf(), t);
  t.push([f = std::move(f), y](auto& adjoint) mutable {
    if (adjoint[y] != 0) f(adjoint, std::as_const(y));
  });
  return y;
}

}  // namespace agrad
