"""The ways in which agrad takes derivatives of a function of a vector: what each of them finds, to be compared."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import agrad as ag

__all__ = ["FIRST", "SECOND", "THIRD"]

Mode = Callable[[Any, Any, Any], Any]


def _away(x: Any) -> Any:
    """Another point, at which a compiled function may have to take other branches."""
    return -0.7 * x + 0.1


def _again(compiled: Any, x: Any) -> Any:
    """What a compiled function says at x where it was first called elsewhere, and then at x."""
    compiled(_away(x))
    return compiled(x)


def _bound(function: Any, x: Any) -> Any:
    return ag.compile(function).bind(np.array(x))()


def _pickled(function: Any, x: Any) -> Any:
    compiled = ag.compile(function)
    compiled(x)
    return pickle.loads(pickle.dumps(compiled))(x)


def _row(function: Any, x: Any) -> Any:
    """The middle one of three rows."""
    return ag.vmap(function)(np.stack([_away(x), x, 0.5 * x]))[1]


def _by_tape(f: Any, x: Any) -> Any:
    with ag.tape():
        variable = ag.var(x)
        return f(variable).grad(variable)


def _by_scan(function: Any, x: Any) -> Any:
    """In the body of a loop, at the second of two points."""
    return ag.scan(lambda carry, point: (carry, function(point)), 0.0, np.stack([_away(x), x]))[1][1]


def _columns(push: Callable[[Any], Any], x: Any) -> Any:
    return np.stack([push(column) for column in np.eye(len(x))], axis=-1)


#: Gradients.
FIRST: dict[str, Mode] = {
    "grad": lambda f, x, v: ag.grad(f)(x),
    "value_and_grad": lambda f, x, v: ag.value_and_grad(f)(x)[1],
    "compiled": lambda f, x, v: ag.compile(ag.grad(f))(x),
    "compiled elsewhere": lambda f, x, v: _again(ag.compile(ag.grad(f)), x),
    "compiled and then grad": lambda f, x, v: ag.grad(ag.compile(f))(x),
    "bound": lambda f, x, v: _bound(ag.grad(f), x),
    "pickled": lambda f, x, v: _pickled(ag.grad(f), x),
    "jacfwd": lambda f, x, v: ag.jacfwd(f)(x),
    "jacrev": lambda f, x, v: ag.jacrev(f)(x),
    "jvp": lambda f, x, v: _columns(lambda e: ag.jvp(f, (x,), (e,))[1], x),
    "vjp": lambda f, x, v: ag.vjp(f, x)[1](1.0)[0],
    "vmap": lambda f, x, v: _row(ag.grad(f), x),
    "compiled vmap": lambda f, x, v: _row(ag.compile(ag.grad(f)), x),
    "grad of vmap": lambda f, x, v: ag.grad(lambda rows: np.sum(ag.vmap(f)(rows)))(np.stack([_away(x), x]))[1],
    "tape": lambda f, x, v: _by_tape(f, x),
    "scan": lambda f, x, v: _by_scan(ag.grad(f), x),
}
#: Hessians.
SECOND: dict[str, Mode] = {
    "hessian": lambda f, x, v: ag.hessian(f)(x),
    "compiled hessian": lambda f, x, v: ag.compile(ag.hessian(f))(x),
    "compiled elsewhere": lambda f, x, v: _again(ag.compile(ag.hessian(f)), x),
    "pickled hessian": lambda f, x, v: _pickled(ag.hessian(f), x),
    "sparse": lambda f, x, v: ag.hessian(f, sparse=True)(x).toarray(),
    "hvp": lambda f, x, v: _columns(lambda e: ag.hvp(f)(x, e), x),
    "jacobian of grad": lambda f, x, v: ag.jacobian(ag.grad(f))(x),
    "jacfwd of grad": lambda f, x, v: ag.jacfwd(ag.grad(f))(x),
    "jacrev of grad": lambda f, x, v: ag.jacrev(ag.grad(f))(x),
    "jacfwd of jacfwd": lambda f, x, v: ag.jacfwd(ag.jacfwd(f))(x),
    "jacrev of jacfwd": lambda f, x, v: ag.jacrev(ag.jacfwd(f))(x),
    "jvp of grad": lambda f, x, v: _columns(lambda e: ag.jvp(ag.grad(f), (x,), (e,))[1], x),
    "grad of grad": lambda f, x, v: _columns(lambda e: ag.grad(lambda q: ag.grad(f)(q) @ e)(x), x),
    "grad of jvp": lambda f, x, v: _columns(lambda e: ag.grad(lambda q: ag.jvp(f, (q,), (e,))[1])(x), x),
    "vmap of hessian": lambda f, x, v: _row(ag.hessian(f), x),
    "compiled vmap of hessian": lambda f, x, v: ag.compile(lambda q: _row(ag.hessian(f), q))(x),
    "hessian of vmap": lambda f, x, v: ag.hessian(lambda q: ag.vmap(f)(np.stack([q, q]))[1])(x),
    "scan of hessian": lambda f, x, v: _by_scan(ag.hessian(f), x),
}
#: Gradients of v' H v.
THIRD: dict[str, Mode] = {
    "grad of hvp": lambda f, x, v: ag.grad(lambda q: ag.hvp(f)(q, v) @ v)(x),
    "grad of hessian": lambda f, x, v: ag.grad(lambda q: v @ ag.hessian(f)(q) @ v)(x),
    "grad thrice": lambda f, x, v: ag.grad(lambda q: ag.grad(lambda r: ag.grad(f)(r) @ v)(q) @ v)(x),
    "jvp of hessian": lambda f, x, v: _columns(lambda e: v @ ag.jvp(ag.hessian(f), (x,), (e,))[1] @ v, x),
    "compiled": lambda f, x, v: ag.compile(ag.grad(lambda q: ag.hvp(f)(q, v) @ v))(x),
}
