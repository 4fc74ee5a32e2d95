"""Stan's functions, spelled as in Stan, and further forms in the same spelling: ``from agrad import stan``.

Densities, distribution functions, quantiles and draws have a name for each family (``stan.normal_lpdf``, ``stan.normal_lcdf``,
``stan.normal_qf``, ``stan.normal_rng``). Differential equations, integrals, equations, hidden Markov models, Laplace's
approximation, constraints, covariances of Gaussian processes, sparse matrices and elementwise functions have Stan's arguments,
in Stan's order::

    from agrad import stan
    stan.normal_lpdf([1.2, 0.7], 1.0, 0.5)

Results of densities are sums over all entries; `agrad.stats` has them entry by entry, with SciPy's parameters. The same
functions are found as attributes of `agrad`, which does not list them.
"""

import typing as _typing

from agrad._constraints.by_name import *  # noqa: F403
from agrad._functionals.by_parts import *  # noqa: F403
from agrad._functionals.hmm import *  # noqa: F403
from agrad._functionals.integrate_1d import *  # noqa: F403
from agrad._functionals.laplace_any import *  # noqa: F403
from agrad._functionals.laplace_counts import *  # noqa: F403
from agrad._functionals.solvers import *  # noqa: F403
from agrad._ode.adjoint import *  # noqa: F403
from agrad._ode.short_functions import *  # noqa: F403
from agrad._stan.csr import *  # noqa: F403
from agrad._stan.density import *  # noqa: F403
from agrad._stan.elementwise import *  # noqa: F403
from agrad._stan.gaussian_processes import *  # noqa: F403
from agrad.random import *  # noqa: F403

_names: list[str] = [name for name in list(globals()) if not name.startswith("_")]
if not _typing.TYPE_CHECKING:  # mypy does not read sums of lists, and takes the names for private
    __all__ = _names
for _name in _names:
    globals()[_name].__module__ = __name__


def __dir__() -> list[str]:
    return sorted(_names)
