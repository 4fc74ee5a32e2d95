// Linear algebra, all of it: operations on whole matrices of doubles, variables or duals.
//
// How an operation is stated: rule.hpp. How it finds its engine: apply.hpp. The words of tangents: algebra.hpp, structure.hpp.
#pragma once

#include <agrad/rules/linalg/determinant.hpp>
#include <agrad/rules/linalg/eigen.hpp>
#include <agrad/rules/linalg/exponential.hpp>
#include <agrad/rules/linalg/forms.hpp>
#include <agrad/rules/linalg/general.hpp>
#include <agrad/rules/linalg/ldlt.hpp>
#include <agrad/rules/linalg/qr.hpp>
#include <agrad/rules/linalg/spd.hpp>
#include <agrad/rules/linalg/svd.hpp>
#include <agrad/rules/linalg/triangular.hpp>
