// agrad's constraining transforms: bijections between free numbers and values that satisfy a constraint, under Stan's names,
// with log Jacobians, for numbers, duals and variables. Free numbers are those of Python's agrad.transforms.
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/constraints/bounds.hpp>
#include <agrad/constraints/matrices.hpp>
#include <agrad/constraints/stochastic.hpp>
#include <agrad/constraints/vectors.hpp>
