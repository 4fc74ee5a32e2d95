"""agrad: gradients of programs, through differential equations.

Functions are written with NumPy; agrad records them and gives their derivatives::

    import numpy as np, agrad as ag
    ag.grad(lambda x: np.sum(np.sin(x)))(np.ones(3))
"""

from agrad import _requirements as _requirements  # raises where NumPy is too old

# isort: split
from agrad import _processor as _processor  # raises where the compiled module cannot run, before it is loaded

# isort: split
from agrad import linalg, solve, special, stats, transforms
from agrad._constraints.by_name import *  # noqa: F403
from agrad._constraints.by_name import __all__ as _constraints
from agrad._core import Array, DomainError, LinAlgError, PlaceError, ScopeError, ShapeError, SolverError, __version__
from agrad._dae.dae_solve import DaeResult
from agrad._dae.solve_dae import solve_dae
from agrad._functionals.by_parts import map_rect, reduce_sum, reduce_sum_static
from agrad._functionals.forcing import interpolate
from agrad._functionals.hmm import hmm_hidden_state_prob, hmm_latent_rng, hmm_marginal
from agrad._functionals.integrate_1d import (
    integrate_1d,
    integrate_1d_double_exponential,
    integrate_1d_double_exponential_tol,
    integrate_1d_gauss_kronrod,
    integrate_1d_gauss_kronrod_tol,
)
from agrad._functionals.laplace_any import laplace_latent_rng, laplace_latent_rng_tol, laplace_marginal, laplace_marginal_tol
from agrad._functionals.laplace_counts import (
    laplace_latent_bernoulli_logit_rng,
    laplace_latent_neg_binomial_2_log_rng,
    laplace_latent_poisson_log_rng,
    laplace_latent_tol_bernoulli_logit_rng,
    laplace_latent_tol_neg_binomial_2_log_rng,
    laplace_latent_tol_poisson_log_rng,
    laplace_marginal_bernoulli_logit_lpmf,
    laplace_marginal_neg_binomial_2_log_lpmf,
    laplace_marginal_poisson_log_lpmf,
    laplace_marginal_tol_bernoulli_logit_lpmf,
    laplace_marginal_tol_neg_binomial_2_log_lpmf,
    laplace_marginal_tol_poisson_log_lpmf,
)
from agrad._functionals.minimize import MinimumResult, minimize
from agrad._functionals.quadrature import quad
from agrad._functionals.root import RootResult, root
from agrad._functionals.solvers import (
    algebra_solver,
    algebra_solver_newton,
    solve_newton,
    solve_newton_tol,
    solve_powell,
    solve_powell_tol,
)
from agrad._loops.control_flow import cond, fori, scan
from agrad._loops.while_loop import switch, while_loop
from agrad._many.solve_many import Subject, solve_many
from agrad._numpy.fill import fill
from agrad._numpy.protocol import array, where
from agrad._ode.adjoint import ode_adjoint_tol_ctl
from agrad._ode.doses import Dose
from agrad._ode.events import Event
from agrad._ode.result import OdeResult
from agrad._ode.short_functions import (
    ode_adams,
    ode_adams_tol,
    ode_adjoint_tol,
    ode_bdf,
    ode_bdf_tol,
    ode_ckrk,
    ode_ckrk_tol,
    ode_dop853,
    ode_dop853_tol,
    ode_rk45,
    ode_rk45_tol,
    ode_rodas4,
    ode_rodas4_tol,
    ode_rodas5p,
    ode_rodas5p_tol,
    ode_tsit5,
    ode_tsit5_tol,
)
from agrad._ode.solve_ivp import solve_ivp
from agrad._ode.steady_state import SteadyResult, steady_state
from agrad._record.debug import debug_nans
from agrad._record.nodes import register_tree
from agrad._record.tape import tape, var
from agrad._rule_libraries import load_rules
from agrad._transforms.check import check_grads
from agrad._transforms.compiled.compile import compile
from agrad._transforms.compiled.profile import Profile
from agrad._transforms.custom import custom_jvp, custom_vjp, stop_gradient
from agrad._transforms.gradients import grad, value_and_grad
from agrad._transforms.hessian import hessian, hvp
from agrad._transforms.jacobians import jacfwd, jacobian, jacrev
from agrad._transforms.linearize import linearize
from agrad._transforms.products import jvp, vjp
from agrad._transforms.sparse import Sparsity
from agrad._transforms.vmap import vmap
from agrad.csr import *  # noqa: F403
from agrad.csr import __all__ as _csr
from agrad.density import *  # noqa: F403
from agrad.density import __all__ as _densities
from agrad.elementwise import *  # noqa: F403
from agrad.elementwise import __all__ as _elementwise
from agrad.gaussian_processes import *  # noqa: F403
from agrad.gaussian_processes import __all__ as _gaussian_processes
from agrad.random import *  # noqa: F403
from agrad.random import _names as _random_numbers

__all__ = [
    "Array",
    "DaeResult",
    "DomainError",
    "Dose",
    "Event",
    "LinAlgError",
    "MinimumResult",
    "OdeResult",
    "PlaceError",
    "Profile",
    "RootResult",
    "ScopeError",
    "ShapeError",
    "SolverError",
    "Sparsity",
    "SteadyResult",
    "Subject",
    "__version__",
    "algebra_solver",
    "algebra_solver_newton",
    "array",
    "check_grads",
    "compile",
    "cond",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "fill",
    "fori",
    "grad",
    "hessian",
    "hmm_hidden_state_prob",
    "hmm_latent_rng",
    "hmm_marginal",
    "hvp",
    "integrate_1d",
    "integrate_1d_double_exponential",
    "integrate_1d_double_exponential_tol",
    "integrate_1d_gauss_kronrod",
    "integrate_1d_gauss_kronrod_tol",
    "interpolate",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "laplace_latent_bernoulli_logit_rng",
    "laplace_latent_neg_binomial_2_log_rng",
    "laplace_latent_poisson_log_rng",
    "laplace_latent_rng",
    "laplace_latent_rng_tol",
    "laplace_latent_tol_bernoulli_logit_rng",
    "laplace_latent_tol_neg_binomial_2_log_rng",
    "laplace_latent_tol_poisson_log_rng",
    "laplace_marginal",
    "laplace_marginal_bernoulli_logit_lpmf",
    "laplace_marginal_neg_binomial_2_log_lpmf",
    "laplace_marginal_poisson_log_lpmf",
    "laplace_marginal_tol",
    "laplace_marginal_tol_bernoulli_logit_lpmf",
    "laplace_marginal_tol_neg_binomial_2_log_lpmf",
    "laplace_marginal_tol_poisson_log_lpmf",
    "linalg",
    "linearize",
    "load_rules",
    "map_rect",
    "minimize",
    "ode_adams",
    "ode_adams_tol",
    "ode_adjoint_tol",
    "ode_adjoint_tol_ctl",
    "ode_bdf",
    "ode_bdf_tol",
    "ode_ckrk",
    "ode_ckrk_tol",
    "ode_dop853",
    "ode_dop853_tol",
    "ode_rk45",
    "ode_rk45_tol",
    "ode_rodas4",
    "ode_rodas4_tol",
    "ode_rodas5p",
    "ode_rodas5p_tol",
    "ode_tsit5",
    "ode_tsit5_tol",
    "quad",
    "reduce_sum",
    "reduce_sum_static",
    "register_tree",
    "root",
    "scan",
    "solve",
    "solve_dae",
    "solve_ivp",
    "solve_many",
    "solve_newton",
    "solve_newton_tol",
    "solve_powell",
    "solve_powell_tol",
    "special",
    "stats",
    "steady_state",
    "stop_gradient",
    "switch",
    "tape",
    "transforms",
    "value_and_grad",
    "var",
    "vjp",
    "vmap",
    "where",
    "while_loop",
]
__all__ += _constraints + _csr + _densities + _elementwise + _gaussian_processes + _random_numbers
