"""The kinds of steps: each a function of a library, of what was drawn for it and of its operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["KINDS", "KINKED", "Kind"]

Draw = Callable[[np.random.Generator, list[tuple[int, ...]]], Any]


class Kind(NamedTuple):
    """How many operands a step has, what is drawn once for it (None: it does not suit these shapes), and what it computes."""

    name: str
    operands: int
    draw: Draw
    compute: Callable[..., Any]
    has_forward_mode: bool = True
    """Else it has a first derivative, backwards."""


KINDS: list[Kind] = []


def kind(operands: int, draw: Draw = lambda rng, shapes: 0, *, has_forward_mode: bool = True) -> Callable[[Any], Any]:
    def keep(compute: Any) -> Any:
        KINDS.append(Kind(compute.__name__, operands, draw, compute, has_forward_mode))
        return compute

    return keep


#: What has kinks. A kink on which a point lies may be gone in the program as a whole, as that of abs(x) is in abs(x)^2.
KINKED = {
    "abs", "copysign", "clip", "rectified", "maximum", "minimum", "where", "max", "min", "range", "sorted",
    "interp", "cond", "branch",
}  # fmt: skip


def one_of(choices: dict[str, Any]) -> Draw:
    return lambda rng, shapes: str(rng.choice(list(choices)))


def with_rank(*ranks: int) -> Draw:
    return lambda rng, shapes: 0 if all(len(shape) in ranks and 0 not in shape for shape in shapes) else None


# ---- entry by entry

UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "arctan": np.arctan, "arcsinh": np.arcsinh, "abs": np.abs,
    "square": np.square, "negative": np.negative, "expm1": np.expm1, "exp2": np.exp2,
    "bell": lambda v: np.exp(-v * v), "log1p": lambda v: np.log1p(v * v), "root": lambda v: np.sqrt(1 + v * v),
    "cube": lambda v: v**3, "power": lambda v: (1 + v * v) ** -1.5, "reciprocal": lambda v: 1 / (2 + np.cos(v)),
    "logistic": lambda v: 1 / (1 + np.exp(-v)), "log": lambda v: np.log(3 + np.sin(v)), "cosh": lambda v: np.log(np.cosh(v)),
    "clip": lambda v: np.clip(v, -1.1, 1.3), "rectified": lambda v: np.maximum(v, 0.0), "scaled": lambda v: 0.3 * v - 0.7,
    "arcsin": lambda v: np.arcsin(0.9 * np.sin(v)), "arccos": lambda v: np.arccos(0.9 * np.sin(v)),
    "cbrt": lambda v: np.cbrt(2 + v * v),
    "copysign": lambda v: np.sign(v) * v, "constant": lambda v: v * 0 + 1.5, "log10": lambda v: np.log10(2 + v * v),
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "logaddexp": np.logaddexp, "divide": lambda a, b: a / (2 + b * b), "hypot": lambda a, b: np.hypot(a, 1 + b * b),
    "arctan2": lambda a, b: np.arctan2(a, 2 + np.cos(b)), "power": lambda a, b: (1 + a * a) ** np.sin(b),
    "where": lambda a, b: np.where(a > b, a * a, np.sin(b)), "same": lambda a, b: a * a - b, "fused": lambda a, b: a * b + a,
}  # fmt: skip


@kind(1, one_of(UNARY))
def unary(lib: Any, name: str, a: Any) -> Any:
    return UNARY[name](a)


@kind(2, one_of(BINARY))
def binary(lib: Any, name: str, a: Any, b: Any) -> Any:
    return BINARY[name](a, b)


@kind(2)
def in_place(lib: Any, _: Any, a: Any, b: Any) -> Any:
    result = a + 0 * b
    result *= b
    result -= 0.5
    return result


@kind(1, has_forward_mode=False)
def softplus(lib: Any, _: Any, a: Any) -> Any:
    return lib.softplus(a)


@kind(2)
def sine_product(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.sine_product(a + 0 * b, b + 0 * a)


@kind(2)
def unused(lib: Any, _: Any, a: Any, b: Any) -> Any:
    lib.sine_product(a + 0 * b, b + 0 * a)
    return a - b


# ---- places


def _index(rng: np.random.Generator, shapes: list[tuple[int, ...]]) -> Any:
    (shape,) = shapes
    if not shape:
        return None
    n = shape[0]
    choices: list[Any] = [
        int(rng.integers(-n, n)), slice(None, None, -1), (Ellipsis, None), None, [int(i) for i in rng.integers(0, n, 4)],
        np.arange(n) % 2 == 0, (slice(None, None, 2), ...), (..., 0), (..., [0, -1, 0]), slice(n // 2, None),
    ]  # fmt: skip
    if len(shape) == 2:
        choices += [(slice(None), 0), (0, -1), np.ix_([0, 0], [shape[1] - 1, 0]), ([0, n - 1], [shape[1] - 1, 0])]
    place = choices[int(rng.integers(len(choices)))]
    return (place,)


@kind(1, _index)
def index(lib: Any, place: Any, a: Any) -> Any:
    return a[place[0]]


@kind(2, lambda rng, shapes: int(rng.integers(shapes[0][0])) if len(shapes[0]) == 1 and shapes[1] == () else None)
def written(lib: Any, place: int, a: Any, b: Any) -> Any:
    result = a + 0 * b
    result[place] = b * result[place]
    result[-1] += 1.5
    return result


@kind(3, with_rank(0))
def filled(lib: Any, _: Any, *parts: Any) -> Any:
    return lib.filled(sum(parts) + np.zeros(1), list(parts))


SHAPES: dict[str, Callable[[Any], Any]] = {
    "transpose": np.transpose, "ravel": np.ravel, "flip": np.flip, "column": lambda a: np.reshape(a, (-1, 1)),
    "roll": lambda a: np.roll(a, 1),
    "joined": lambda a: np.concatenate([np.ravel(a), np.ravel(a)[:1]]), "stacked": lambda a: np.stack([a, -a]),
    "repeated": lambda a: np.repeat(a, 2),
    "squeezed": np.squeeze, "broadcast": lambda a: np.broadcast_to(a, (2, *a.shape)),
    "difference": lambda a: np.diff(np.ravel(a)),
    "sorted": lambda a: np.sort(np.ravel(a)), "tiled": lambda a: np.tile(np.ravel(a), 2),
    "raised": lambda a: np.expand_dims(a, 0),
    "swapped": lambda a: np.swapaxes(np.atleast_2d(a), 0, 1), "triangle": lambda a: np.tril(np.atleast_2d(a)),
}  # fmt: skip


@kind(1, one_of(SHAPES))
def shaped(lib: Any, name: str, a: Any) -> Any:
    return SHAPES[name](a)


# ---- reductions

REDUCTIONS: dict[str, Any] = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "var": np.var,
    "norm": lambda a, axis=None: np.sqrt(1 + np.sum(a * a, axis=axis)),
    "spread": lambda a, axis=None: np.sqrt(0.1 + np.var(a, axis=axis)),
    "range": lambda a, axis=None: np.max(a, axis=axis) - np.min(a, axis=axis),
    "kept": lambda a, axis=None: np.sum(a, axis=axis, keepdims=True) - a,
}  # fmt: skip


@kind(
    1,
    lambda rng, shapes: (
        str(rng.choice(list(REDUCTIONS))),
        None if not shapes[0] or rng.random() < 0.3 else int(rng.integers(len(shapes[0]))),
    ),
)
def reduced(lib: Any, how: Any, a: Any) -> Any:
    return REDUCTIONS[how[0]](a, axis=how[1])


@kind(1, with_rank(1, 2))
def prod(lib: Any, _: Any, a: Any) -> Any:
    return np.prod(1 + 0.3 * np.sin(a), axis=-1)


@kind(1, with_rank(1, 2))
def cumprod(lib: Any, _: Any, a: Any) -> Any:
    return np.cumprod(1 + 0.3 * np.sin(a), axis=-1)


@kind(2, lambda rng, shapes: 0 if len(shapes[1]) == 1 and shapes[1][0] > 1 else None)
def interp(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.interp(1.5 * np.sin(a), np.linspace(-1.0, 1.2, len(b)), b)


@kind(3)
def normal(lib: Any, _: Any, y: Any, location: Any, scale: Any) -> Any:
    of_all = 0 * (y + location + scale)  # arrays have one shape
    return lib.normal_lpdf(y + of_all, location + of_all, 1 + scale**2 + of_all)


@kind(1, with_rank(1, 2))
def cumsum(lib: Any, _: Any, a: Any) -> Any:
    return np.cumsum(a, axis=-1)


@kind(1, with_rank(1, 2))
def logsumexp(lib: Any, _: Any, a: Any) -> Any:
    return lib.logsumexp(a, axis=-1)


@kind(1, with_rank(1, 2))
def softmax(lib: Any, _: Any, a: Any) -> Any:
    return lib.softmax(a, axis=-1)


# ---- products

PRODUCTS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, int]]] = {
    "outer": (np.outer, (1, 1)), "inner": (np.inner, (1, 1)), "dot": (np.dot, (2, 1)), "matmul": (np.matmul, (2, 2)),
    "row": (lambda a, b: b @ a, (2, 1)), "gram": (lambda a, b: np.einsum("ij,kj->ik", a, b), (2, 2)),
    "scaled": (lambda a, b: np.einsum("ij,j->ij", a, b), (2, 1)), "form": (lambda a, b: b @ a @ b, (2, 1)),
    "tensordot": (lambda a, b: np.tensordot(a, b, 1), (2, 2)), "diagonal": (lambda a, b: np.diag(a) @ np.diag(b), (1, 1)),
    "trace": (lambda a, b: np.trace(a @ b.T), (2, 2)), "vdot": (np.vdot, (1, 1)), "kron": (np.kron, (1, 1)),
    "rows": (lambda a, b: np.einsum("ij,ij->i", a, b), (2, 2)), "stack": (lambda a, b: a[None] @ b, (2, 2)),
    "batch": (lambda a, b: np.einsum("i,jk->ijk", a, b), (1, 2)),
}  # fmt: skip


def _product(rng: np.random.Generator, shapes: list[tuple[int, ...]]) -> Any:
    suits = [name for name, (_, ranks) in PRODUCTS.items() if tuple(map(len, shapes)) == ranks]
    return str(rng.choice(suits)) if suits else None


@kind(2, _product)
def product(lib: Any, name: Any, a: Any, b: Any) -> Any:
    return PRODUCTS[name][0](a, b)


# ---- linear algebra, of matrices that are well conditioned


def _definite(a: Any) -> Any:
    """A A' + (number of rows) I, of sines, so that condition numbers stay small."""
    a = np.sin(a)
    return a @ a.T + len(a) * np.eye(len(a))


def _general(a: Any) -> Any:
    return 0.5 * np.sin(a @ a.T) + np.diag(np.arange(2.0, 2.0 + len(a)))


def _matrix(rng: np.random.Generator, shapes: list[tuple[int, ...]]) -> Any:
    small = len(shapes[0]) == 2 and 0 < shapes[0][0] <= 4
    return 0 if small and all(shape in (shapes[0][:1], (shapes[0][0], 2)) for shape in shapes[1:]) else None


@kind(2, _matrix)
def solve(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.solve(_general(a), b)


@kind(2, _matrix)
def solve_many(lib: Any, _: Any, a: Any, b: Any) -> Any:
    stack = np.stack([_general(a), _general(-a)])
    return lib.solve_stack(stack, np.stack([b, b]))


@kind(1, _matrix)
def inv(lib: Any, _: Any, a: Any) -> Any:
    return lib.inv(_general(a))


@kind(1, _matrix)
def det(lib: Any, _: Any, a: Any) -> Any:
    return lib.det(_general(a)) / 10


@kind(1, _matrix)
def slogdet(lib: Any, _: Any, a: Any) -> Any:
    return lib.slogdet(_definite(a))


@kind(1, _matrix)
def cholesky(lib: Any, _: Any, a: Any) -> Any:
    return lib.cholesky(_definite(a))


@kind(1, _matrix)
def of_spectrum(lib: Any, _: Any, a: Any) -> Any:
    return lib.of_spectrum(_definite(a) + np.diag(np.arange(1.0, 1.0 + len(a))))


@kind(1, _matrix)
def expm(lib: Any, _: Any, a: Any) -> Any:
    return lib.expm(0.3 * np.sin(a @ a.T))


# ---- loops, branches, rows and derivatives inside


@kind(2, lambda rng, shapes: 0 if len(shapes[0]) in (1, 2) and shapes[1] == shapes[0][1:] and shapes[0][0] > 0 else None)
def scan(lib: Any, _: Any, a: Any, b: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = np.tanh(carry + row * b)
        return carry, carry * row

    end, stacked = lib.scan(step, 0.5 * b, a)
    return end + np.sum(stacked, axis=0)


@kind(2)
def fori(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.fori(0, 5, lambda i, carry: carry - 0.1 * np.sin(carry * b) + 0.01 * i, a + 0 * b)


@kind(2)
def cond(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.cond(np.sum(a) > np.sum(b), lambda v: np.sin(v) * b, lambda v: v * v - b, a)


@kind(2)
def branch(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return a * np.cos(b) if np.sum(a) > 0.1 else a - np.sin(b)


@kind(2, lambda rng, shapes: 0 if len(shapes[0]) in (1, 2) and shapes[0][0] > 0 and len(shapes[1]) < 2 else None)
def rows(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.vmap(lambda row: np.sum(np.sin(row) * np.sum(b)) + (row[0] if row.ndim else row))(a)


@kind(2)
def gradient_inside(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.gradient_of_sines(a + 0 * b, b + 0 * a)


@kind(2)
def tangent_inside(lib: Any, _: Any, a: Any, b: Any) -> Any:
    return lib.tangent_of_sines(a + 0 * b, b + 0 * a)
