// Stan's functions under Stan's names, as agrad::stan::normal_lpdf: all but the solvers, which <agrad/ode.hpp> and
// <agrad/dae.hpp> add. docs/coming_from_stan.md has them side by side with agrad's.
//
// A program that uses few functions compiles quicker with the headers of their subjects, such as
// <agrad/families/line/normal.hpp>; in namespace agrad they have the same names.
#pragma once

#include <agrad/agrad.hpp>
#include <agrad/base/reject.hpp>
#include <agrad/constraints.hpp>
#include <agrad/functionals/algebra_solver.hpp>
#include <agrad/functionals/by_parts.hpp>
#include <agrad/functionals/hidden_states.hpp>
#include <agrad/functionals/laplace_draws.hpp>
#include <agrad/functionals/quadrature.hpp>
#include <agrad/gaussian_processes.hpp>
#include <agrad/probability.hpp>
#include <agrad/random.hpp>
#include <agrad/rules/arrays/joining.hpp>
#include <agrad/rules/arrays/moments.hpp>
#include <agrad/rules/arrays/sorting.hpp>
#include <agrad/rules/linalg/compressed_rows.hpp>
#include <agrad/rules/linalg/matrix_power.hpp>
#include <agrad/rules/lists/stan_names.hpp>
#include <agrad/tape/matrix/append.hpp>

namespace agrad {

/// Stan's functions, spelled as in Stan.
namespace stan {
using namespace agrad;
}

}  // namespace agrad
