"""What a step of a random program is made of besides NumPy: once by agrad, once for extended precision and without agrad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agrad as ag

__all__ = ["Agrad", "Extended"]


@ag.custom_vjp
def softplus_by_vjp(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


softplus_by_vjp.defvjp(lambda x: (np.logaddexp(x, 0.0), x), lambda x, adjoint: (adjoint / (1 + np.exp(-x)),))


@ag.custom_jvp
def product_by_jvp(x: Any, y: Any) -> Any:
    return np.sin(x) * y


@product_by_jvp.defjvp
def _product_tangent(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return np.sin(x) * y, np.cos(x) * y * dx + np.sin(x) * dy


class Agrad:
    """Loops, branches, factorisations and derivatives by agrad."""

    solve = staticmethod(np.linalg.solve)
    interp = staticmethod(np.interp)
    normal_lpdf = staticmethod(ag.normal_lpdf)
    inv = staticmethod(np.linalg.inv)
    det = staticmethod(np.linalg.det)
    cholesky = staticmethod(np.linalg.cholesky)
    expm = staticmethod(ag.linalg.expm)
    logsumexp = staticmethod(ag.special.logsumexp)
    softmax = staticmethod(ag.special.softmax)
    softplus = staticmethod(softplus_by_vjp)
    sine_product = staticmethod(product_by_jvp)
    scan = staticmethod(ag.scan)
    fori = staticmethod(ag.fori)
    cond = staticmethod(ag.cond)
    vmap = staticmethod(ag.vmap)

    @staticmethod
    def solve_stack(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b if b.ndim == 3 else b[..., None])

    @staticmethod
    def slogdet(a: Any) -> Any:
        return np.linalg.slogdet(a)[1]

    @staticmethod
    def of_spectrum(a: Any) -> Any:
        """The square root of a symmetric positive definite matrix."""
        values, vectors = np.linalg.eigh(a)
        return (vectors * np.sqrt(values)) @ vectors.T

    @staticmethod
    def gradient_of_sines(a: Any, b: Any) -> Any:
        """Of sum(sin(a b)^2) with respect to b."""
        return ag.grad(lambda q: np.sum(np.sin(a * q) ** 2))(b)

    @staticmethod
    def tangent_of_sines(a: Any, b: Any) -> Any:
        """Of sin(a b) with respect to b, along a."""
        return ag.jvp(lambda q: np.sin(a * q), (b,), (a,))[1]

    @staticmethod
    def filled(like: Any, parts: list[Any]) -> Any:
        """An array whose entries are written one after the other."""
        result = np.zeros(len(parts), like=like)
        for i, part in enumerate(parts):
            result[i] = part
        return result


def _eliminated(a: Any, b: Any) -> tuple[Any, Any]:
    """The solution of a x = b and the determinant, by Gauss with partial pivots."""
    a, b, determinant = a.copy(), b.copy(), np.longdouble(1)
    n = len(a)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        if pivot != k:
            a[[k, pivot]], b[[k, pivot]], determinant = a[[pivot, k]], b[[pivot, k]], -determinant
        determinant *= a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] = b[i] - factor * b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k]
    return b, determinant


class Extended:
    """The same in extended precision, by loops of Python and textbook formulas."""

    @staticmethod
    def solve(a: Any, b: Any) -> Any:
        return _eliminated(a, b)[0]

    @staticmethod
    def solve_stack(a: Any, b: Any) -> Any:
        return np.stack([_eliminated(one, of if of.ndim == 2 else of[:, None])[0] for one, of in zip(a, b, strict=True)])

    @staticmethod
    def interp(x: Any, places: Any, values: Any) -> Any:
        last = len(places) - 2
        k = np.clip(np.searchsorted(places, x, side="right") - 1, 0, last)
        part = np.clip((x - places[k]) / (places[k + 1] - places[k]), 0, 1)
        return values[k] + part * (values[k + 1] - values[k])

    @staticmethod
    def normal_lpdf(y: Any, location: Any, scale: Any) -> Any:
        z, root = (y - location) / scale, np.sqrt(2 * np.longdouble("3.14159265358979323846264338327950288"))
        return np.sum(-z * z / 2 - np.log(scale * root))

    @staticmethod
    def inv(a: Any) -> Any:
        return _eliminated(a, np.eye(len(a), dtype=a.dtype))[0]

    @staticmethod
    def det(a: Any) -> Any:
        return _eliminated(a, a[:, 0])[1]

    @staticmethod
    def slogdet(a: Any) -> Any:
        return np.log(np.abs(_eliminated(a, a[:, 0])[1]))

    @staticmethod
    def cholesky(a: Any) -> Any:
        factor = np.zeros_like(a)
        for i in range(len(a)):
            for j in range(i + 1):
                rest = a[i, j] - factor[i, :j] @ factor[j, :j]
                factor[i, j] = np.sqrt(rest) if i == j else rest / factor[j, j]
        return factor

    @staticmethod
    def of_spectrum(a: Any) -> Any:
        """Newton's iteration of Denman and Beavers."""
        root, inverse = a, np.eye(len(a), dtype=a.dtype)
        for _ in range(25):
            root, inverse = (root + Extended.inv(inverse)) / 2, (inverse + Extended.inv(root)) / 2
        return root

    @staticmethod
    def expm(a: Any) -> Any:
        term = result = np.eye(len(a), dtype=a.dtype)
        for k in range(1, 30):
            term = term @ (a / 64) / k
            result = result + term
        for _ in range(6):
            result = result @ result
        return result

    @staticmethod
    def logsumexp(x: Any, axis: Any = None) -> Any:
        return np.log(np.sum(np.exp(x), axis=axis))

    @staticmethod
    def softmax(x: Any, axis: Any = None) -> Any:
        return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)

    @staticmethod
    def softplus(x: Any) -> Any:
        return np.log(1 + np.exp(x))

    @staticmethod
    def sine_product(x: Any, y: Any) -> Any:
        return np.sin(x) * y

    @staticmethod
    def scan(f: Callable[..., Any], init: Any, xs: Any) -> Any:
        carry, stacked = init, []
        for x in xs:
            carry, y = f(carry, x)
            stacked.append(y)
        return carry, np.stack(stacked)

    @staticmethod
    def fori(lower: int, upper: int, body: Callable[..., Any], init: Any) -> Any:
        carry = init
        for i in range(lower, upper):
            carry = body(i, carry)
        return carry

    @staticmethod
    def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
        return true_fun(*operands) if pred else false_fun(*operands)

    @staticmethod
    def vmap(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *rows: np.stack([f(*row) for row in zip(*rows, strict=True)])

    @staticmethod
    def gradient_of_sines(a: Any, b: Any) -> Any:
        return a * np.sin(2 * a * b)

    @staticmethod
    def tangent_of_sines(a: Any, b: Any) -> Any:
        return a * a * np.cos(a * b)

    @staticmethod
    def filled(like: Any, parts: list[Any]) -> Any:
        return np.stack(parts)
