"""Defines functions of hidden Markov models: the marginal likelihood, probabilities of hidden states, and draws of these.

The forward algorithm sums over hidden states step by step. Each state's weight is a factor, which carries derivatives, times
an exponential of a number that is data: so weights of any size are represented, and a transition probability of zero has its
exact derivative, which logarithms of probabilities have not.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from agrad._core import Array, DomainError, ShapeError
from agrad._functionals.arguments import plain
from agrad._loops.control_flow import scan
from agrad._random.sampler import Seed, generator
from agrad._record.arguments import as_array
from agrad._record.on_demand import scipy_special
from agrad._record.structure import as_one
from agrad._transforms.custom import stop_gradient
from agrad._transforms.gradients import grad
from agrad._transforms.settled import settled

__all__ = ["hmm_hidden_state_prob", "hmm_latent_rng", "hmm_marginal"]

_SUM = 1e-8  # how far sums of probabilities may be from 1
_LARGEST = 700.0  # exponents beyond overflow


def hmm_marginal(log_omega: Any, gamma: Any, rho: Any) -> Any:
    """Compute the logarithm of the likelihood of a hidden Markov model, with the hidden states summed over.

    Parameters
    ----------
    log_omega : array-like or recorded, shape (K, N)
        ``log_omega[k, n]`` is the log density of observation n, given that the hidden state is k; -inf is allowed.
    gamma : array-like or recorded, shape (K, K) or (N - 1, K, K)
        ``gamma[i, j]`` is the probability of a transition from state i to state j; rows sum to 1. Where it changes with time,
        ``gamma[n]`` is that of the transition from observation n to observation n + 1.
    rho : array-like or recorded, shape (K,)
        The probabilities of the first observation's state; they sum to 1.

    Returns
    -------
    float or Array
        The log likelihood; -inf where no sequence of states is possible.

    Raises
    ------
    ShapeError
        The shapes do not fit together.
    DomainError
        Probabilities are negative or do not sum to 1; an entry of log_omega is nan or +inf.

    Notes
    -----
    There are derivatives of all orders with respect to all arguments, exact also where a probability is zero. They are
    derivatives with respect to entries: the constraint that rows sum to 1 is the caller's, see :mod:`agrad.constraints`.

    References
    ----------
    Zucchini, MacDonald and Langrock (2016), Hidden Markov Models for Time Series, section 3.2.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> stay = lambda p: ag.array([[p, 1 - p], [0.1, 0.9]])
    >>> log_omega = np.log([[0.9, 0.8, 0.2], [0.3, 0.4, 0.7]])
    >>> likelihood = lambda p: stan.hmm_marginal(log_omega, stay(p), np.array([0.5, 0.5]))
    >>> round(float(likelihood(0.7)), 6), round(ag.grad(likelihood)(0.7), 6)
    (-1.816462, -0.756458)
    """
    return _marginal(*_checked("hmm_marginal", log_omega, gamma, rho))


def _marginal(log_omega: Any, gamma: Any, rho: Any) -> Any:
    weights = np.transpose(log_omega)
    factors, exponents = _observed(rho, np.zeros(rho.shape[0]), weights[0])
    if weights.shape[0] > 1:
        changes = gamma.ndim == 3

        def step(carry: Any, item: Any) -> tuple[Any, None]:
            observed, here = item if changes else (item, gamma)
            return _observed(*_moved(carry[0], carry[1], here), observed), None

        items = (weights[1:], gamma) if changes else weights[1:]
        (factors, exponents), _ = scan(step, (factors, exponents), items)
    largest = _largest(factors, exponents)
    with np.errstate(divide="ignore"):
        return np.log(np.sum(factors * np.exp(np.minimum(exponents - largest, _LARGEST)))) + largest


def _largest(factors: Any, exponents: Any) -> Any:
    """Returns the largest exponent of a positive factor; the largest of all where there is none."""
    is_positive = stop_gradient(factors) > 0
    largest = np.max(np.where(is_positive, exponents, -np.inf))
    return stop_gradient(np.where(np.isfinite(largest), largest, np.max(exponents)))


def _moved(factors: Any, exponents: Any, gamma: Any) -> tuple[Any, Any]:
    """Returns the weights after a transition."""
    into = np.where(stop_gradient(factors[:, np.newaxis] * gamma) > 0, exponents[:, np.newaxis], -np.inf)
    largest = np.max(into, axis=0)
    largest = stop_gradient(np.where(np.isfinite(largest), largest, np.max(exponents)))
    shares = np.exp(np.minimum(exponents[:, np.newaxis] - largest, _LARGEST))
    return np.sum(factors[:, np.newaxis] * gamma * shares, axis=0), largest


def _observed(factors: Any, exponents: Any, log_density: Any) -> tuple[Any, Any]:
    """Returns the weights times the densities of an observation, with factors of value 1 or 0."""
    data = stop_gradient(log_density)
    is_possible = data > -np.inf
    level = np.where(is_possible, data, 0.0)
    factors = np.where(is_possible, factors * np.exp(np.where(is_possible, log_density, 0.0) - level), 0.0)
    size = stop_gradient(factors)
    size = np.where(size > 0, size, 1.0)
    return factors / size, stop_gradient(exponents + level + np.log(size))


def hmm_hidden_state_prob(log_omega: Any, gamma: Any, rho: Any) -> Any:
    """Compute the probabilities of each hidden state, given all observations.

    Parameters
    ----------
    log_omega, gamma, rho : array-like or recorded
        See :func:`hmm_marginal`.

    Returns
    -------
    numpy.ndarray or Array, shape (K, N)
        Entry (k, n) is the probability that observation n has the hidden state k; columns sum to 1.

    Raises
    ------
    ShapeError, DomainError
        See :func:`hmm_marginal`; no sequence of states is possible.

    Notes
    -----
    These are the derivatives of :func:`hmm_marginal` with respect to log_omega, and can be differentiated further.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> log_omega = np.log([[0.9, 0.8, 0.2], [0.3, 0.4, 0.7]])
    >>> stan.hmm_hidden_state_prob(log_omega, np.array([[0.7, 0.3], [0.1, 0.9]]), np.array([0.5, 0.5])).round(3)
    array([[0.758, 0.568, 0.241],
           [0.242, 0.432, 0.759]])
    """
    function = "hmm_hidden_state_prob"
    checked = _checked(function, log_omega, gamma, rho)
    _check_possible(function, _marginal(*checked))
    return grad(_marginal)(*checked)


def hmm_latent_rng(log_omega: Any, gamma: Any, rho: Any, rng: Seed) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw a sequence of hidden states from its distribution, given all observations.

    Parameters
    ----------
    log_omega, gamma, rho : array-like
        See :func:`hmm_marginal`; plain.
    rng : numpy.random.Generator, seed or None
        A generator, which the draw advances, or what makes one; numbers differ at each call for None.

    Returns
    -------
    numpy.ndarray of int, shape (N,)
        The states, counted from 0.

    Raises
    ------
    TypeError
        An argument is recorded, because a draw has no derivative; `rng` is no seed.
    ShapeError, DomainError
        See :func:`hmm_marginal`; no sequence of states is possible.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> from agrad import stan
    >>> log_omega = np.log([[0.99, 0.98, 0.01], [0.01, 0.01, 0.99]])
    >>> stay = np.array([[0.7, 0.3], [0.1, 0.9]])
    >>> stan.hmm_latent_rng(log_omega, stay, np.array([0.5, 0.5]), np.random.default_rng(1)).tolist()
    [0, 0, 1]
    """
    function = "hmm_latent_rng"
    if any(isinstance(as_one(x), Array) for x in (log_omega, gamma, rho)):
        raise TypeError(f"{function}: an argument is a recorded value, but must be plain; a draw has no derivative")
    ready = generator(function, rng)
    densities, transitions, first = (np.asarray(x) for x in _checked(function, log_omega, gamma, rho))
    with np.errstate(divide="ignore"):
        moves, weights = np.log(transitions), [np.log(first) + densities[:, 0]]
    moves = np.broadcast_to(moves, (densities.shape[1] - 1, *moves.shape[-2:]))
    for observed, move in zip(densities.T[1:], moves, strict=True):
        weights.append(scipy_special.logsumexp(weights[-1][:, np.newaxis] + move, axis=0) + observed)
    _check_possible(function, scipy_special.logsumexp(weights[-1]))
    states = [_draw(weights[-1], ready)]
    for each, move in zip(reversed(weights[:-1]), reversed(moves), strict=True):
        states.append(_draw(each + move[:, states[-1]], ready))
    return np.array(states[::-1], dtype=np.int64)


def _draw(log_weights: Any, rng: np.random.Generator) -> int:
    shares = np.exp(log_weights - np.max(log_weights))
    return int(rng.choice(len(shares), p=shares / np.sum(shares)))


def _check_possible(function: str, likelihood: Any) -> None:
    def complain() -> NoReturn:
        raise DomainError(
            f"{function}: likelihood is {plain(likelihood)}, but must be positive; no sequence of states is possible"
        )

    settled(likelihood > -np.inf, likelihood, complain)


def _checked(function: str, log_omega: Any, gamma: Any, rho: Any) -> tuple[Any, Any, Any]:
    """Returns the arguments as arrays; raises where shapes or values are wrong, also in each run of a compiled function."""
    densities, transitions, first = _of_axes(function, (log_omega, gamma, rho))
    k, n = densities.shape
    if densities.size == 0:
        raise ShapeError(f"{function}: log_omega is of shape {densities.shape}, but must have a state and an observation")
    moves = (k, k) if transitions.ndim == 2 else (n - 1, k, k)
    for name, x, shape in (("gamma", transitions, moves), ("rho", first, (k,))):
        if x.shape != shape:
            raise ShapeError(
                f"{function}: {name} is of shape {x.shape}, but must be of shape {shape}, as log_omega is of shape {(k, n)}"
            )
        total = np.sum(x, axis=-1)
        is_good = np.all(x >= 0) & np.all(np.abs(total - 1) <= _SUM)
        settled(is_good, x, lambda name=name, x=x: _complain(function, name, x))  # type: ignore[misc]
    is_good = np.all(densities < np.inf)

    def complain() -> NoReturn:
        values = plain(densities)
        place = tuple(map(int, np.argwhere(~(values < np.inf))[0]))
        raise DomainError(f"{function}: log_omega{list(place)} is {values[place]}, but must be a number or -inf")

    settled(is_good, densities, complain)
    return densities, transitions, first


def _of_axes(function: str, given: tuple[Any, Any, Any]) -> list[Any]:
    """Returns the arguments as arrays; raises where one has a wrong number of axes."""
    arrays = [as_array(function, name, x) for name, x in zip(("log_omega", "gamma", "rho"), given, strict=True)]
    for name, x, allowed in zip(("log_omega", "gamma", "rho"), arrays, ((2,), (2, 3), (1,)), strict=True):
        if x.ndim not in allowed:
            axes = " or ".join(map(str, allowed))
            raise ShapeError(f"{function}: {name} is of shape {x.shape}, but must have {axes} axes")
    return arrays


def _complain(function: str, name: str, x: Any) -> NoReturn:
    """Raises for probabilities that are negative or do not sum to 1."""
    values = plain(x)
    if np.all(values >= 0):
        sums = np.sum(values, axis=-1)
        row = tuple(map(int, np.unravel_index(np.argmax(np.abs(sums - 1)), sums.shape)))
        raise DomainError(f"{function}: sum of {name}{list(row) if row else ''} is {float(sums[row])}, but must be 1")
    place = tuple(map(int, np.argwhere(~(values >= 0))[0]))
    raise DomainError(f"{function}: {name}{list(place)} is {values[place]}, but must not be negative")
