"""Defines LogDensity, a log density of named parameters as an object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import optree

from agrad._bridges.c_function import CFunction, c_function
from agrad._core import DomainError, ShapeError
from agrad._posterior.checks import checked_dims, own_data
from agrad._posterior.declared import Declared
from agrad._posterior.evaluate import Evaluated
from agrad._posterior.fit import Fit
from agrad._posterior.joint import Joint
from agrad._posterior.laplace import NormalDraws, draws_of
from agrad._posterior.optimize import maximum_of
from agrad._posterior.sample import Draws, drawn
from agrad._record.arguments import check_callable
from agrad._record.structure import find_recording
from agrad._transforms.compiled.compile import Compiled

__all__ = ["LogDensity"]

_TRIES = 100  # of random starting points, as in Stan


class LogDensity(Evaluated):
    """A log density of named parameters, as a function of one vector of free numbers.

    Parameters
    ----------
    log_joint : callable
        ``log_joint(p)``, or ``log_joint(p, data)`` where data are given: the logarithm of the joint density of data and
        parameters, written with NumPy. `p` is the tree of the parameters' values.
    parameters : tree of Transform
        What values each parameter may have, as in ``{"mu": ag.constraints.real(), "tau": ag.constraints.positive()}``.
        Dictionaries, lists and tuples may be nested. The free numbers are in the order of declaration.
    data : tree of arrays and numbers, optional
        Passed to the functions; integers may be indices of groups. Arrays are copied, so later changes are not seen; columns of
        tables (pandas.Series) become arrays.
    generated : callable, optional
        A function of the same arguments: quantities that are computed from parameters.
    log_likelihood : callable, optional
        A function of the same arguments: the log likelihood of each observation, an array or a tree of arrays.
    dims : dict, optional
        For a variable the names of its dimensions: ``{"theta": ["school"]}``.
    coords : dict, optional
        For a dimension the labels of its entries.

    Attributes
    ----------
    size : int
        How many free numbers there are.
    names, unconstrained_names : list of str
        Of all entries of the values, and of the free numbers: ``mu``, ``theta[0]``, ``school.sd[1,2]``, counted from 0, rows
        first.
    reasons : dict
        Why points were rejected, and how often.

    Raises
    ------
    TypeError
        A function is not callable, or a leaf of `parameters` is not a transform.
    ShapeError
        `dims` or `coords` do not fit the parameters.

    Notes
    -----
    All values and gradients come from one compiled program, so they are equal to the last bit, whichever method or tool asks.
    At a point where the density raises a DomainError or a SolverError, or is not a finite number, the log density is minus
    infinity and the gradient zero, which samplers reject; `reasons` counts such points. Other errors are raised.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> y = np.array([1.2, 0.3, 0.8])
    >>> def log_joint(p, data):
    ...     return stan.normal_lpdf(data, p["mu"], p["sigma"]) + stan.normal_lpdf(p["mu"], 0.0, 5.0)
    >>> parameters = {"mu": ag.constraints.real(), "sigma": ag.constraints.positive()}
    >>> model = ag.LogDensity(log_joint, parameters, data=y)
    >>> model.names
    ['mu', 'sigma']
    >>> value, gradient = model.log_density_gradient(np.zeros(2))
    >>> gradient
    array([2.3 , 0.17])
    """

    def __init__(
        self,
        log_joint: Callable[..., Any],
        parameters: Any,
        *,
        data: Any = None,
        generated: Callable[..., Any] | None = None,
        log_likelihood: Callable[..., Any] | None = None,
        dims: Mapping[str, Any] | None = None,
        coords: Mapping[str, Any] | None = None,
    ) -> None:
        check_callable("LogDensity", "log_joint", log_joint, "p")
        for name, function in {"generated": generated, "log_likelihood": log_likelihood}.items():
            if function is not None:
                check_callable("LogDensity", name, function, "p")
        self._log_joint = log_joint
        self._functions: dict[str, Callable[..., Any] | None] = {"generated": generated, "log_likelihood": log_likelihood}
        self.declared = Declared(parameters)
        self._declaration = parameters
        self.size = self.declared.size
        self.dims, self.coords = checked_dims(
            self.declared, dims or {}, coords or {}, has_others=generated is not None or log_likelihood is not None
        )
        self.names, self.unconstrained_names = self.declared.names(), self.declared.free_names()
        self.data = None if data is None else optree.tree_map(own_data, data)
        self.reasons: Counter[str] = Counter()
        self._compiled: dict[tuple[str, bool], Compiled[..., Any]] = {}

    def with_data(self, data: Any) -> LogDensity:
        """Return the same log density of other data. Data of the same shapes need no further recording."""
        if (self.data is None) != (data is None):
            raise TypeError(f"LogDensity: data is {data!r}, but must be given where the log density was made with data only")
        other = object.__new__(LogDensity)
        vars(other).update(vars(self), data=optree.tree_map(own_data, data), reasons=Counter())
        return other

    def log_density(self, x: Any, *, jacobian: bool = True) -> Any:
        """Compute the log density.

        Parameters
        ----------
        x : array-like or recorded, (size,) or (k, size)
            The free numbers, or rows of them; recorded ones are one vector.
        jacobian : bool
            Whether to add the log Jacobian, which makes the density one of the free numbers. Without it the maximum is that of
            the density of the parameters' values.

        Returns
        -------
        float, numpy.ndarray of shape (k,), or Array
            Minus infinity where a point is rejected.
        """
        if find_recording(x) is not None:
            return Joint(self._log_joint, self.declared, jacobian)(x, *self._data())
        return self.log_density_gradient(x, jacobian=jacobian)[0]

    def log_density_gradient(self, x: Any, *, jacobian: bool = True) -> tuple[Any, Any]:
        """Compute the log density and its gradient with respect to the free numbers.

        Parameters
        ----------
        x : array-like, (size,) or (k, size)
        jacobian : bool
            See :meth:`log_density`.

        Returns
        -------
        value : float or numpy.ndarray of shape (k,)
        gradient : numpy.ndarray
            Of the shape of `x`; zeros where a point is rejected.
        """
        at = self._checked(x)
        if at.ndim == 1:
            return self._value_and_gradient(at, jacobian)
        found = [self._value_and_gradient(row, jacobian) for row in at]
        values = np.array([value for value, _ in found])
        return values, np.reshape([gradient for _, gradient in found], at.shape)

    def hessian(self, x: Any, *, jacobian: bool = True) -> np.ndarray:
        """Compute the Hessian with respect to the free numbers, (size, size), or (k, size, size) for rows of x.

        Raises
        ------
        DomainError, SolverError
            The density is not defined at the point.
        """
        f = self._transformed("hessian", jacobian)
        return self._of_rows(lambda row: f(row, *self._data()), x, (self.size, self.size))

    def hvp(self, x: Any, v: Any, *, jacobian: bool = True) -> np.ndarray:
        """Compute the product of the Hessian at x, (size,), and a vector.

        Raises
        ------
        DomainError, SolverError
            The density is not defined at the point.
        """
        f = self._transformed("hvp", jacobian)
        at, vector = self._checked(x), self._checked(v)
        if at.ndim != 1 or vector.ndim != 1:
            raise ShapeError(f"LogDensity.hvp: x and v are of shapes {at.shape} and {vector.shape}, but must be vectors")
        product: np.ndarray = f(at, *self._data(), vector)
        return product

    def constrain(self, x: Any) -> Any:
        """Return the tree of the parameters' values for free numbers; rows (k, size) give arrays with k values."""
        if find_recording(x) is not None:
            return self.declared.constrain(x)
        return self._called("constrain", x, with_data=False)

    def unconstrain(self, values: Any) -> Any:
        """Return the free numbers, (size,), of a tree of values that satisfy their constraints."""
        return self.declared.unconstrain(values)

    def generated(self, x: Any) -> Any:
        """Return the generated quantities for free numbers, (size,) or rows of them."""
        return self._called("generated", x)

    def log_likelihood(self, x: Any) -> Any:
        """Return the log likelihoods of the observations for free numbers, (size,) or rows of them."""
        return self._called("log_likelihood", x)

    def start(self, seed: Any = None, at: Any = None) -> np.ndarray:
        """Draw a starting point at which the log density and its gradient are finite.

        Parameters
        ----------
        seed : int, numpy.random.Generator or None
        at : dict, optional
            Values of some parameters, by name or in the structure of the parameters; the free numbers of the others are drawn
            from -2 to 2, as in Stan.

        Raises
        ------
        DomainError
            None of 100 points will do; the message has the reasons.
        """
        rng, before = np.random.default_rng(seed), self.reasons.copy()
        for _ in range(_TRIES):
            x = rng.uniform(-2.0, 2.0, self.size)
            if at is not None:
                self.declared.place(x, at)
            if np.isfinite(self.log_density(x)):
                return x
        reasons = "; ".join(f"{reason} ({count} times)" for reason, count in (self.reasons - before).most_common(3))
        raise DomainError(f"LogDensity.start: log density is not finite at any of {_TRIES} random points: {reasons}")

    def optimize(
        self,
        start: Any = None,
        *,
        jacobian: bool = False,
        starts: int = 1,
        seed: Any = None,
        max_iterations: int = 1000,
        tolerance: float = 1e-6,
    ) -> Fit:
        """Find the maximum by a trust region with the exact Hessian.

        Parameters
        ----------
        start : array, (size,), or dict, optional
            Free numbers, or values of some parameters; what is not given is drawn, see :meth:`start`.
        jacobian : bool
            Without it the maximum is that of the density of the parameters' values: of the likelihood, or the mode of the
            posterior, as Stan's ``optimize`` has it. With it, the mode of the density of the free numbers.
        starts : int
            How many starting points to search from; the distinct maxima are in the result's `others`.
        seed : int, numpy.random.Generator or None
        max_iterations : int
        tolerance : float
            The search ends where no derivative is larger.

        Returns
        -------
        Fit
            With `success`, which is False, and `message`, where the gradient is not zero or a direction leads upwards.

        Notes
        -----
        Points at which the log density is not finite are failed steps, which the trust region shortens; the result's `rejected`
        counts them. Up to 200 free numbers the steps use the Hessian (SciPy's "trust-exact"), beyond it products ("trust-ncg").
        """
        if starts < 1:
            raise ShapeError(f"LogDensity.optimize: starts is {starts}, but must be positive")
        rng = np.random.default_rng(seed)
        given = isinstance(start, Mapping)
        first = self.start(rng, start if given else None) if start is None or given else self._checked(start)
        if first.ndim != 1:
            raise ShapeError(f"LogDensity.optimize: start is of shape {first.shape}, but must be of shape ({self.size},)")
        others = [self.start(rng, start if given else None) for _ in range(starts - 1)]
        return maximum_of(self, [first, *others], jacobian, max_iterations, tolerance)

    def laplace(self, draws: int = 1000, *, start: Any = None, seed: Any = None) -> NormalDraws:
        """Draw from the normal approximation of the density of the free numbers at its maximum.

        Parameters
        ----------
        draws : int
        start : array or dict, optional
            See :meth:`optimize`.
        seed : int, numpy.random.Generator or None

        Returns
        -------
        NormalDraws

        Raises
        ------
        DomainError
            The search has found no maximum.
        LinAlgError
            The Hessian there is singular.
        """
        rng = np.random.default_rng(seed)
        return draws_of(self.optimize(start, jacobian=True, seed=rng), draws, rng)

    def sample(
        self, *, chains: int = 4, draws: int = 1000, warmup: int = 1000, start: Any = None, seed: int = 0, sampler: str = "auto"
    ) -> Draws:
        """Draw from the density of the free numbers by a sampler that calls the C function.

        Parameters
        ----------
        chains, draws, warmup : int
            How many chains, draws of each, and steps before them.
        start : dict, optional
            Values of some parameters at the beginning of all chains; see :meth:`start`.
        seed : int
            Of the starting points and of the sampler.
        sampler : {"auto", "owalnuts", "walnutpie"}
            The package to use; "auto" is the first that is installed.

        Returns
        -------
        Draws
            With `values`, arrays of shape (chains, draws, ...), and :meth:`Draws.to_arviz`.

        Raises
        ------
        ImportError
            The sampler is not installed.
        RuntimeError
            A call of the density has failed, by another error than those for which a point is rejected.
        """
        starts = np.stack([self.start([seed, n], start) for n in range(chains)])
        return drawn(self, starts, draws, warmup, seed, sampler)

    def c_function(self, x: Any = None) -> CFunction:
        """Return the log density and its gradient as a C function, see :func:`agrad.c_function`; with the log Jacobian.

        Parameters
        ----------
        x : array-like, (size,), optional
            Where the density is recorded; a starting point unless it is given.
        """
        at = self.start(0) if x is None else self._checked(x)
        return c_function(self._transformed("gradient", True), at, *self._data())

    def __repr__(self) -> str:
        variables = ", ".join(f"{v.name}{list(v.shape) if v.shape else ''}" for v in self.declared.variables)
        return f"<LogDensity of {variables}: {self.size} free numbers>"

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"data": self.data, "dims": self.dims, "coords": self.coords, "_compiled": self._compiled}
        return _unpickled, (self._log_joint, self._declaration, self._functions, state)


def _unpickled(log_joint: Any, parameters: Any, functions: dict[str, Any], state: dict[str, Any]) -> LogDensity:
    model = LogDensity(log_joint, parameters, **functions)
    vars(model).update(state)
    return model
