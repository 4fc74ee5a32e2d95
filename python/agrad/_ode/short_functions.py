"""Defines the functions of Stan's design document 0027 for each method: with default tolerances, and with arguments (_tol)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agrad._core import ConfiguredMethod
from agrad._ode.initial_value import states_after
from agrad._ode.method_table import METHODS, MULTISTEP, Method
from agrad._ode.methods import method_of
from agrad._ode.options import Tolerances, step_options, tolerances_of
from agrad._record.arguments import RightHandSide

__all__ = [
    "ode_adams",
    "ode_adams_tol",
    "ode_adjoint_tol",
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
]

_F = TypeVar("_F", bound=Callable[..., Any])

_TEXT = """Solve an initial value problem by {what}.
{about}
    Parameters
    ----------
    f : callable
        The right-hand side ``f(t, y, *args)``, written with NumPy; see :func:`ode_adjoint_tol_ctl`.
    y0 : array-like, shape (n,)
        The state at t0.
    t0 : float
        The initial time.
    times : array-like, shape (k,)
        The output times, increasing and after t0.
{tolerances}    *args
        Further arguments of f: any nested structures of numbers and arrays.

    Returns
    -------
    numpy.ndarray or Array, shape (k, n)
        The states at the output times; recorded if y0, t0, times or one of args is recorded.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`ode_adjoint_tol_ctl`.

    Notes
    -----
    {notes}{rest}
{references}    """

_TOLERANCES = """    relative_tolerance, absolute_tolerance : float, float or array-like of shape (n,)
        {of}
    max_num_steps : int
        The most steps between two output times{directions}.
"""


class FunctionWithDefaults(Protocol):
    """A function with default tolerances."""

    def __call__(self, f: RightHandSide, y0: Any, t0: Any, times: Any, *args: Any) -> Any: ...


class FunctionWithTolerances(Protocol):
    """A function with tolerances as arguments."""

    def __call__(
        self,
        f: RightHandSide,
        y0: Any,
        t0: Any,
        times: Any,
        relative_tolerance: float,
        absolute_tolerance: Tolerances,
        max_num_steps: int,
        *args: Any,
    ) -> Any: ...


@dataclass(frozen=True)
class _Solver:
    """The method of the functions `name` and `name`_tol, and the parts of their docstrings."""

    name: str
    method: Method
    sensitivities: str
    what: str
    tolerances_of: str
    notes: str
    about: str = ""
    references: str = ""
    directions: str = ""

    def with_defaults(self) -> FunctionWithDefaults:
        """Returns the function with default tolerances."""

        def solve(f: RightHandSide, y0: Any, t0: Any, times: Any, *args: Any) -> Any:
            return self._states(self.name, f, y0, t0, times, 1e-6, 1e-6, 1_000_000, args)

        rest = f"\n    Tolerances are 1e-6 and max_num_steps is 1e6; :func:`{self.name}_tol` has them as arguments."
        return self._named(solve, self.name, "", rest)

    def with_tolerances(self) -> FunctionWithTolerances:
        """Returns the function with tolerances as arguments."""
        name = f"{self.name}_tol"

        def solve(
            f: RightHandSide,
            y0: Any,
            t0: Any,
            times: Any,
            relative_tolerance: float,
            absolute_tolerance: Tolerances,
            max_num_steps: int,
            *args: Any,
        ) -> Any:
            return self._states(name, f, y0, t0, times, relative_tolerance, absolute_tolerance, max_num_steps, args)

        return self._named(solve, name, _TOLERANCES.format(of=self.tolerances_of, directions=self.directions), "")

    def _states(
        self,
        function: str,
        f: RightHandSide,
        y0: Any,
        t0: Any,
        times: Any,
        relative: Any,
        absolute: Any,
        max_num_steps: Any,
        args: tuple[Any, ...],
    ) -> Any:
        def method_for(size: int) -> ConfiguredMethod:
            names = ("relative_tolerance", "absolute_tolerance")
            options = step_options(function, size, tolerances_of(function, size, names, relative, absolute), max_num_steps)
            return method_of(function, self.method, options, self.sensitivities, in_units_of_loss=False)

        return states_after(function, f, y0, t0, times, args, method_for)

    def _named(self, solve: _F, name: str, tolerances: str, rest: str) -> _F:
        solve.__name__ = solve.__qualname__ = name
        solve.__doc__ = _TEXT.format(
            what=self.what, about=self.about, tolerances=tolerances, notes=self.notes, rest=rest, references=self.references
        )
        return solve


def _one_step(method: Method) -> _Solver:
    where = " where fun's Jacobian can be recorded" if method.has_factors else ""
    return _Solver(
        f"ode_{method.name.lower()}",
        method,
        "adjoint",
        method.text,
        "Of the error of each step.",
        "The gradient is the exact one of the computed solution for the accepted step sizes (a discrete adjoint); there are\n"
        f"    second derivatives{where}.\n"
        f"    Method {method.name!r} of :func:`solve_ivp`.",
    )


def _forward(method: Method) -> _Solver:
    return _Solver(
        f"ode_{method.name.lower()}",
        method,
        "forward",
        f"CVODES' {method.text}, with forward sensitivities",
        "Of the states, and of x times each sensitivity to x, which is in the units of the states.",
        "Because the sensitivities take part in the error control, a solve without derivatives takes other steps, and its\n"
        "    values differ within the tolerances.",
        """
    The n states are integrated together with their n sensitivities to each initial value and each parameter for which a
    derivative is wanted, and sensitivities take part in the error control. A reverse pass is one product with the
    sensitivities, so all rows of a Jacobian cost one integration. For the gradient of a loss with respect to many parameters
    :func:`ode_adjoint_tol` costs less.
""",
        """
    References
    ----------
    Hindmarsh and Serban, User Documentation for CVODES, section 2.6.
""",
    )


_ADJOINT = _Solver(
    "ode_adjoint",
    MULTISTEP["BDF"],
    "adjoint",
    "CVODES' BDF; the gradient is one adjoint integration back in time",
    "Positive. A vector has an entry for each state, and the smallest entry holds for the quadrature.",
    "As :func:`ode_adjoint_tol_ctl`, with one pair of tolerances. The absolute tolerance is divided by 10 for the forward and\n"
    "    by 3 for the reverse pass, and not changed for the quadrature; checkpoints are 250 steps apart; interpolation is\n"
    "    Hermite; both passes use BDF.",
    references="""
    References
    ----------
    Stan design document 0027, adjoint ODE.
""",
    directions=", in each direction",
)
_SOLVERS = [*(_one_step(each) for name, each in METHODS.items() if name != "auto"), *map(_forward, MULTISTEP.values())]
_WITH_DEFAULTS = {each.name: each.with_defaults() for each in _SOLVERS}
_WITH_TOLERANCES = {each.name: each.with_tolerances() for each in (*_SOLVERS, _ADJOINT)}

#: The functions by their names: two of each method, and one with the adjoint method of CVODES.
FUNCTIONS: dict[str, Callable[..., Any]] = _WITH_DEFAULTS | {f"{name}_tol": solve for name, solve in _WITH_TOLERANCES.items()}

# The names once more, for type checkers; a test compares them with the table of methods.
ode_adams, ode_adams_tol = _WITH_DEFAULTS["ode_adams"], _WITH_TOLERANCES["ode_adams"]
ode_adjoint_tol = _WITH_TOLERANCES["ode_adjoint"]
ode_bdf, ode_bdf_tol = _WITH_DEFAULTS["ode_bdf"], _WITH_TOLERANCES["ode_bdf"]
ode_ckrk, ode_ckrk_tol = _WITH_DEFAULTS["ode_ckrk"], _WITH_TOLERANCES["ode_ckrk"]
ode_dop853, ode_dop853_tol = _WITH_DEFAULTS["ode_dop853"], _WITH_TOLERANCES["ode_dop853"]
ode_rk45, ode_rk45_tol = _WITH_DEFAULTS["ode_rk45"], _WITH_TOLERANCES["ode_rk45"]
ode_rodas4, ode_rodas4_tol = _WITH_DEFAULTS["ode_rodas4"], _WITH_TOLERANCES["ode_rodas4"]
ode_rodas5p, ode_rodas5p_tol = _WITH_DEFAULTS["ode_rodas5p"], _WITH_TOLERANCES["ode_rodas5p"]
ode_tsit5, ode_tsit5_tol = _WITH_DEFAULTS["ode_tsit5"], _WITH_TOLERANCES["ode_tsit5"]
