"""agrad: gradients of programs, through differential equations.

Functions are written with NumPy; agrad records them and gives their derivatives::

    import numpy as np, agrad as ag
    ag.grad(lambda x: np.sum(np.sin(x)))(np.ones(3))

Stan's functions, densities among them, are in `agrad.stan`, distributions in SciPy's spelling in `agrad.stats`.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from agrad import _requirements as _requirements  # raises where NumPy is too old

# isort: split
from agrad import _processor as _processor  # raises where the compiled module cannot run, before it is loaded

# isort: split
from agrad._bridges.c_function import c_function
from agrad._core import Array, DomainError, LinAlgError, PlaceError, ScopeError, ShapeError, SolverError, __version__
from agrad._dae.dae_solve import DaeResult
from agrad._dae.solve_dae import solve_dae
from agrad._functionals.forcing import interpolate
from agrad._functionals.minimize import MinimumResult, minimize
from agrad._functionals.quadrature import quad
from agrad._functionals.root import RootResult, root
from agrad._loops.control_flow import cond, fori, scan
from agrad._loops.while_loop import switch, while_loop
from agrad._many.solve_many import Subject, solve_many
from agrad._numpy.fill import fill
from agrad._numpy.protocol import array, where
from agrad._ode.doses import Dose
from agrad._ode.events import Event
from agrad._ode.result import OdeResult
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

if TYPE_CHECKING:
    from agrad import constraints, linalg, random, special, stan, stats
    from agrad._posterior.log_density import LogDensity
    from agrad.stan import *  # noqa: F403

__all__ = [
    "Array",
    "DaeResult",
    "DomainError",
    "Dose",
    "Event",
    "LinAlgError",
    "LogDensity",
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
    "array",
    "c_function",
    "check_grads",
    "compile",
    "cond",
    "constraints",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "fill",
    "fori",
    "grad",
    "hessian",
    "hvp",
    "interpolate",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linalg",
    "linearize",
    "load_rules",
    "minimize",
    "quad",
    "random",
    "register_tree",
    "root",
    "scan",
    "solve_dae",
    "solve_ivp",
    "solve_many",
    "special",
    "stan",
    "stats",
    "steady_state",
    "stop_gradient",
    "switch",
    "tape",
    "value_and_grad",
    "var",
    "vjp",
    "vmap",
    "where",
    "while_loop",
]

#: Modules by the names under which agrad has them, or had them before; they are imported when they are first used.
_MODULES = {name: f"agrad.{name}" for name in ("constraints", "linalg", "random", "special", "stan", "stats")}
_MODULES |= {"solve": "agrad._ode.explain", "transforms": "agrad.constraints"}
#: Classes by their names, whose modules are imported as late.
_CLASSES = {"LogDensity": "agrad._posterior.log_density"}


if not TYPE_CHECKING:  # checkers shall refuse unknown names

    def __getattr__(name: str) -> Any:
        """Return a module, a class, or a function of `agrad.stan`, which `agrad` has, too, but does not list; keep it."""
        if name in _MODULES:
            found = importlib.import_module(_MODULES[name])
        elif name in _CLASSES:
            found = getattr(importlib.import_module(_CLASSES[name]), name)
        elif not name.startswith("__") and name in dir(importlib.import_module("agrad.stan")):
            found = getattr(sys.modules["agrad.stan"], name)
        else:
            raise AttributeError(f"module 'agrad' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
