// Custom: operations that separate a value from its derivative; derivatives by hand are made of these operations.
//
// A derivative by hand is a function T(x, v), linear in v, that replaces the Jacobian times v. Let v be a zero that has the
// tangent of x and passes its adjoint on to x (`perturbation`); then the derivatives of T with respect to v are the wanted
// derivatives, in forward and reverse mode. In forward mode, T runs at an x without derivatives (`stop_gradient`), so that the
// derivatives of T with respect to x are not added. In the reverse pass, T runs at an x that has tangents but gets no adjoint
// (`hold`), so that the tangents of the adjoints, the second derivatives, are right too. `with_derivative` joins three
// operands: the result has the value of the first and the tangent of the second, and its adjoint goes to the third.
// Read next: python/agrad/_transforms/custom.py, which records these operations; program/machine/structure.hpp.
#pragma once

#include <agrad/program/machine/structure.hpp>

namespace agrad::kernels {

extern const kernel stop_gradient;
extern const kernel hold;
extern const kernel perturbation;
extern const kernel with_derivative;

}  // namespace agrad::kernels

#ifndef AGRAD_COMPILED
#include <agrad/program/machine/custom.ipp>
#endif
