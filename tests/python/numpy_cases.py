"""Calls of NumPy's functions, of each a few forms: name -> calls, a call a function of arrays and the arrays.

The functions are smooth at these arrays, so that differences can be taken. Forms that NumPy of some version lacks are left out.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Call = tuple[Callable[..., Any], tuple[Any, ...]]


def array_of(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Any:
    """Numbers that are far from each other, from zero and from whole numbers' halves."""
    count = int(np.prod(shape, dtype=int))
    spaced = np.linspace(low, high, count + 2)[1:-1] + 0.017
    return np.random.default_rng(seed).permutation(spaced).reshape(shape)


V, W, LONG = array_of(4), array_of(4, seed=1), array_of(7, seed=2)
M, N, SQUARE = array_of(3, 4, seed=3), array_of(4, 2, seed=4), array_of(3, 3, seed=5)
T, U = array_of(2, 3, 4, seed=6), array_of(2, 4, 3, seed=7)
POSITIVE, ZERO_D = array_of(5, low=0.5), array_of()
QUOTIENTS, DIVISORS = np.array([[1.03, -2.02, 3.13], [-4.34, 0.51, 2.75]]), np.array([0.7, -1.3, 0.9])  # far from whole ones
MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])

REDUCTIONS: dict[str, list[Call]] = {
    name: [
        (lambda x, f=f: f(x), (M,)),
        (lambda x, f=f: f(x, axis=0), (M,)),
        (lambda x, f=f: f(x, axis=-1, keepdims=True), (T,)),
        (lambda x, f=f: f(x, 1), (T,)),
        (lambda x, f=f: f(x, axis=(0, 2)), (T,)),
        (lambda x, f=f: f(x, axis=(1, 2), keepdims=True), (T,)),
        (lambda x, f=f: f(x), (ZERO_D,)),
        (lambda x, f=f: f(x.T, axis=0), (M,)),
        (lambda x, f=f: f(x[:, ::2], axis=1), (M,)),
    ]
    for name, f in {
        "sum": np.sum, "prod": np.prod, "mean": np.mean, "max": np.max, "min": np.min, "amax": np.amax, "amin": np.amin,
        "ptp": np.ptp, "median": np.median, "add.reduce": np.add.reduce, "multiply.reduce": np.multiply.reduce,
        "maximum.reduce": np.maximum.reduce, "minimum.reduce": np.minimum.reduce,
    }.items()
}  # fmt: skip
REDUCTIONS |= {
    name: [
        (lambda x, f=f: f(x), (M,)),
        (lambda x, f=f: f(x, axis=0, ddof=1), (M,)),
        (lambda x, f=f: f(x, axis=(0, 2), keepdims=True), (T,)),
        (lambda x, f=f: f(x, axis=1, where=MASK), (M,)),
        (lambda x, f=f: getattr(x, f.__name__)(axis=-1), (T,)),
    ]
    for name, f in {"var": np.var, "std": np.std}.items()
}
REDUCTIONS["sum"] += [
    (lambda x: np.sum(x, axis=1, where=MASK), (M,)),
    (lambda x: np.sum(x, initial=2.5, dtype=float), (M,)),
    (lambda x: np.sum(x, where=x > 0), (M,)),
    (lambda x: x.sum(0, keepdims=True), (M,)),
    (lambda x: np.sum(x, axis=()), (M,)),
    (lambda x: np.sum(x, axis=0), (array_of(6, 9, seed=1),)),
]
REDUCTIONS["prod"] += [
    (lambda x: np.prod(x, axis=0, where=MASK, initial=2.0), (M,)),
    (lambda x: x.prod(axis=-1), (T,)),
]
REDUCTIONS["mean"] += [(lambda x: np.mean(x, axis=0, where=MASK), (M,)), (lambda x: x.mean(-1, dtype=np.float64), (M,))]
REDUCTIONS["max"] += [
    (lambda x: np.max(x, axis=0, where=MASK, initial=-9.0), (M,)),
    (lambda x: x.max(axis=1, initial=0.5), (M,)),
]
REDUCTIONS["min"] += [(lambda x: x.min(axis=1, initial=-0.5), (M,))]
REDUCTIONS["median"] += [(lambda x: np.median(x, axis=0), (array_of(5, 2),)), (lambda x: np.median(x), (LONG,))]
REDUCTIONS["average"] = [
    (lambda x: np.average(x), (M,)),
    (lambda x: np.average(x, axis=1), (M,)),
    (lambda x, w: np.average(x, axis=1, weights=w), (M, array_of(4, low=0.5))),
    (lambda x, w: np.average(x, weights=w), (M, array_of(3, 4, low=0.5))),
    (lambda x: np.average(x, axis=0, weights=[1.0, 2.0, 0.5], returned=True), (M,)),
]
REDUCTIONS["quantile"] = [
    (lambda x: np.quantile(x, 0.3), (M,)),
    (lambda x: np.quantile(x, [0.1, 0.5, 1.0], axis=1), (M,)),
    (lambda x: np.quantile(x, [[0.0, 0.77]], axis=(0, 2), keepdims=True), (T,)),
    *[
        (lambda x, method=method: np.quantile(x, [0.2, 0.63], axis=0, method=method), (LONG,))
        for method in ("lower", "higher", "nearest", "midpoint", "hazen", "weibull", "inverted_cdf")
    ],
]
REDUCTIONS["percentile"] = [(lambda x: np.percentile(x, 35.0, axis=1), (M,))]
REDUCTIONS["logaddexp.reduce"] = [
    (lambda x: np.logaddexp.reduce(x), (M,)),
    (lambda x: np.logaddexp.reduce(x, axis=1, keepdims=True), (T,)),
    (lambda x: np.logaddexp.reduce(x, axis=None), (T,)),
]
REDUCTIONS["count_nonzero"] = [(lambda x: np.count_nonzero(x > 0.5, axis=0) * x[0], (M,))]

CUMULATIVE: dict[str, list[Call]] = {
    name: [
        (lambda x, f=f: f(x), (M,)),
        (lambda x, f=f: f(x, axis=0), (M,)),
        (lambda x, f=f: f(x, axis=1), (T,)),
        (lambda x, f=f: f(x, axis=-1), (T,)),
        (lambda x, f=f: f(x.T, axis=-1), (M,)),
    ]
    for name, f in {"cumsum": np.cumsum, "cumprod": np.cumprod}.items()
}
CUMULATIVE["add.accumulate"] = [(lambda x: np.add.accumulate(x), (M,)), (lambda x: np.add.accumulate(x, 1), (M,))]
CUMULATIVE["multiply.accumulate"] = [(lambda x: np.multiply.accumulate(x, axis=1), (M,))]
CUMULATIVE["sort"] = [
    (lambda x: np.sort(x), (M,)),
    (lambda x: np.sort(x, axis=0), (T,)),
    (lambda x: np.sort(x, axis=None), (M,)),
    (lambda x: np.sort(x, axis=1, kind="stable"), (T,)),
]
CUMULATIVE["argmax"] = [
    (lambda x: x[np.argmax(x)] * 2.0, (V,)),
    (lambda x: np.take_along_axis(x, np.argmax(x, axis=1, keepdims=True), 1), (M,)),
    (lambda x: x[x.argmin(0), np.arange(4)], (M,)),
    (lambda x: np.ravel(x)[np.argmin(x)] + np.argmax(x, keepdims=True), (T,)),
]

PRODUCTS: dict[str, list[Call]] = {
    "dot": [
        (lambda a, b: np.dot(a, b), (V, W)),
        (lambda a, b: np.dot(a, b), (M, N)),
        (lambda a, b: np.dot(a, b), (T, N)),
        (lambda a, b: np.dot(a, b), (M, U)),
        (lambda a, b: np.dot(a, b), (ZERO_D, V)),
        (lambda a: np.dot([1.0, 2.0, 3.0], a), (M,)),
        (lambda a: a.dot(W), (T,)),
    ],
    "matmul": [
        (lambda a, b: a @ b, (V, W)),
        (lambda a, b: a @ b, (M, W)),
        (lambda a, b: a @ b, (array_of(3), M)),
        (lambda a, b: np.matmul(a, b), (T, U)),
        (lambda a, b: a @ b, (T, N)),
        (lambda a, b: a @ b, (M, U)),
        (lambda a, b: a @ b, (T[:, None], U)),
        (lambda a, b: a @ b, (V, U)),
        (lambda a, b: a @ b, (T, W)),
        (lambda a: a @ [[1.0], [2.0], [3.0], [4.0]], (T,)),
        (lambda a: np.ones((2, 1, 5, 3)) @ a, (T,)),
    ],
    "inner": [
        (lambda a, b: np.inner(a, b), (V, W)),
        (lambda a, b: np.inner(a, b), (M, T)),
        (lambda a, b: np.inner(a, b), (V, ZERO_D)),
    ],
    "vdot": [(lambda a, b: np.vdot(a, b), (M, M[::-1]))],
    "outer": [
        (lambda a, b: np.outer(a, b), (V, M)),
        (lambda a, b: np.multiply.outer(a, b), (V, M)),
        (lambda a, b: np.subtract.outer(a, b), (V, W)),
    ],
    "tensordot": [
        (lambda a, b: np.tensordot(a, b), (T, array_of(3, 4, 2))),
        (lambda a, b: np.tensordot(a, b, 1), (M, N)),
        (lambda a, b: np.tensordot(a, b, 0), (V, W)),
        (lambda a, b: np.tensordot(a, b, axes=([0, 2], [0, 1])), (T, U)),
        (lambda a, b: np.tensordot(a, b, axes=(-1, 1)), (T, U)),
    ],
    "kron": [
        (lambda a, b: np.kron(a, b), (V, W)),
        (lambda a, b: np.kron(a, b), (SQUARE, N)),
        (lambda a, b: np.kron(a, b), (V, SQUARE)),
    ],
    "cross": [
        (lambda a, b: np.cross(a, b), (array_of(3), array_of(3, seed=1))),
        (lambda a, b: np.cross(a, b), (SQUARE, array_of(3, seed=1))),
        (lambda a, b: np.cross(a, b, axis=1), (T, T[::-1])),
        (lambda a, b: np.cross(a, b, axisa=1, axisb=1, axisc=0), (T, T[::-1])),
    ],
    "trace": [
        (lambda a: np.trace(a), (SQUARE,)),
        (lambda a: np.trace(a, 1, axis1=1, axis2=2), (T,)),
        (lambda a: a.trace(), (T,)),
    ],
    "convolve": [
        *[
            (lambda a, b, mode=mode, f=f: f(a, b, mode), arrays)
            for f in (np.convolve, np.correlate)
            for mode in ("full", "same", "valid")
            for arrays in ((LONG, array_of(3)), (V, LONG), (V, W), (LONG, V))
        ],
        (lambda a: np.convolve(a, [1.0, -1.0]), (LONG,)),
        (lambda a, b: np.convolve(a, b), (V, ZERO_D)),
    ],
    "cov": [
        (lambda a: np.cov(a), (M,)),
        (lambda a, b: np.cov(a, b), (V, W)),
        (lambda a: np.cov(a, rowvar=False, bias=True), (M,)),
        (lambda a: np.cov(a, ddof=0), (V,)),
    ],
    "corrcoef": [(lambda a: np.corrcoef(a)[np.triu_indices(3, 1)], (M,)), (lambda a, b: np.corrcoef(a, b)[0, 1], (V, W))],
    "vecdot": [
        (lambda a, b, name=name: getattr(np, name)(a, b), arrays)
        for name, arrays in {"vecdot": (M, W), "matvec": (T, W), "vecmat": (array_of(2, 3), T)}.items()
        if hasattr(np, name)
    ]
    + [(lambda a, b, axis=axis: np.vecdot(a, b, axis=axis), (T, T)) for axis in (-1, 0, 1)],
}

EINSUM: dict[str, tuple[Any, ...]] = {
    "ij,jk->ik": (M, N), "ij,jk": (M, N), "ij,kj->ik": (M, SQUARE @ M), "i,i": (V, W), "i,i->i": (V, W), "i,j->ij": (V, W),
    "i,j->ji": (V, W), "ii": (SQUARE,), "ii->i": (SQUARE,), "ij->ji": (M,), "ij->": (M,), "ij->j": (M,), "ba": (M,),
    "bij,bjk->bik": (T, U), "bij,bjk": (T, U), "bij,jk->ibk": (T, N), "bij,bij->b": (T, T[::-1]), "bij,cij->bc": (T, T[::-1]),
    "...ij,...jk->...ik": (T, U), "...ij,...jk": (T, N), "...i->...": (T,), "i...->...": (T,), "...,...": (M, array_of(4)),
    "...i,i": (T, W), "i...,i...->i...": (M, array_of(3, 1)), "ij,jk,kl->il": (M, N, array_of(2, 3)),
    "i,ij,j": (array_of(3), M, W), "ij,ik,il->jkl": (M, SQUARE, M), "iij,jk->ik": (array_of(3, 3, 4), N), "ijk,ikj->": (T, U),
    "i,j,k->kji": (V, array_of(2), array_of(3)), "ij,ij,ij->ij": (M, -M, M), "a,b->": (V, W), "ab,b->a": (M, array_of(1)),
    " i j , j -> i": (M, W), "i,i,i,i": (V, W, V, W), "...ii->...i": (array_of(2, 3, 3),),
    ",": (ZERO_D, ZERO_D), ",i": (ZERO_D, V),    "ijkl,ijkl->": (array_of(2, 1, 3, 2), array_of(2, 2, 3, 2)),
}  # fmt: skip

CALCULUS: dict[str, list[Call]] = {
    "diff": [
        (lambda x: np.diff(x), (LONG,)),
        (lambda x: np.diff(x, 2, axis=0), (M,)),
        (lambda x: np.diff(x, prepend=0.5, append=x[:, :1]), (M,)),
        (lambda x: np.diff(x, n=0), (V,)),
    ],
    "ediff1d": [(lambda x: np.ediff1d(x), (M,)), (lambda x: np.ediff1d(x, to_begin=[1.0, 2.0], to_end=9.0), (V,))],
    "gradient": [
        (lambda x: np.gradient(x), (LONG,)),
        (lambda x: np.gradient(x, 0.5, edge_order=2), (LONG,)),
        (lambda x: np.gradient(x), (M,)),
        (lambda x: np.gradient(x, 0.3, [0.0, 1.0, 1.5, 3.0], edge_order=2), (M,)),
        (lambda x: np.gradient(x, axis=-1), (T,)),
        (lambda x, h: np.gradient(x, np.sort(h)), (LONG, array_of(7, seed=9))),
    ],
    "interp": [
        (lambda x: np.interp(x, [-1.0, 0.0, 0.5, 2.5], [2.0, -1.0, 0.3, 4.0]), (M,)),
        (lambda x, fp: np.interp(x, [-1.0, 0.0, 0.5, 2.5], fp), (V, W)),
        (lambda x, xp, fp: np.interp(x, np.sort(xp), fp), (array_of(2, 6, seed=8) * 0.9, V, W)),
        (lambda fp: np.interp([-3.0, 0.2, 7.0], [-1.0, 0.0, 0.5, 2.5], fp, left=-1.0, right=2.0), (V,)),
        (lambda x: np.interp(x, [-1.0, 0.0], [1.0, 2.0], left=0.0), (V,)),
        (lambda x, fp: np.interp(x, [0.1, 0.5, 0.3, 0.9], fp, period=1.0), (M, V)),
    ],
    "polyval": [(lambda p, x: np.polyval(p, x), (V, M)), (lambda x: np.polyval([1, -2, 3], x), (V,))],
    "vander": [
        (lambda x: np.vander(x), (V,)),
        (lambda x: np.vander(x, 3, increasing=True), (V,)),
        (lambda x: np.vander(x, 1), (V,)),
    ],
    "round": [
        (lambda x: np.round(x, 1) * x, (V,)),
        (lambda x: x.round() + x, (V,)),
        (lambda x: np.round(x * 30, -1) * x, (V,)),
    ],
    "fix": [(lambda x: np.fix(x) * x, (V,))],
    "bincount": [
        (lambda w: np.bincount([0, 2, 2, 5], weights=w), (V,)),
        (lambda w: np.bincount([0, 1, 1, 0], w, minlength=4), (V,)),
    ],
    "linspace": [
        (lambda a, b: np.linspace(a, b, 5), (V, W)),
        (lambda a: np.linspace(a, 3.0, 4, endpoint=False), (ZERO_D,)),
        (lambda a, b: np.linspace(a, b, 3, axis=-1), (V, W)),
        (lambda a: np.linspace(0.0, a, 1), (V,)),
        (lambda a, b: np.linspace(a, b, 4, retstep=True), (V, W)),
    ],
    **{
        name: [
            (lambda y, f=f: f(y), (M,)),
            (lambda y, f=f: f(y, dx=0.5, axis=0), (M,)),
            (lambda y, x, f=f: f(y, x), (M, V)),
            (lambda y, x, f=f: f(y, x, axis=0), (M, array_of(3))),
            (lambda x, f=f: f([1.0, 2.0, 4.0, 1.0], x), (V,)),
        ]
        for name, f in {name: np.__dict__[name] for name in ("trapezoid",) if name in np.__dict__}.items()
    },
}

CHOOSING: dict[str, list[Call]] = {
    "where": [
        (lambda x, y: np.where(x > y, x, y * 2), (M, V)),
        (lambda x: np.where(MASK, x, 3.0), (M,)),
        (lambda x: np.where((x > -1) & (x < 1) | (x > 1.5), x * x, 0.0), (M,)),
        (lambda x: np.where(~(x > 0) ^ MASK, x, -x), (M,)),
        (lambda x: np.where(MASK & (x > 0), x, 1.0), (M,)),
    ],
    "select": [(lambda x: np.select([x < -1, x < 1], [x * 2, x * x], 7.0), (M,)), (lambda x: np.select([MASK], [x]), (M,))],
    "clip": [
        (lambda x: np.clip(x, -0.5, 0.7), (M,)),
        (lambda x: x.clip(max=0.7), (M,)),
        (lambda x: np.clip(x, None, V), (M,)),
        (lambda x, low: np.clip(x, low, 1.0), (M, ZERO_D)),
        (lambda x: x.clip(-1), (M,)),
    ],
    "nan_to_num": [(lambda x: np.nan_to_num(np.where(x > 1.5, np.inf, np.where(x < -1, np.nan, x)), posinf=3.0), (M,))],
    "isclose": [(lambda x: np.where(np.isclose(x, V, rtol=0.5), x, 0.0), (M,)), (lambda x: x * np.allclose(x, x), (V,))],
    "array_equal": [(lambda x: x * np.array_equal(x, x), (V,)), (lambda x: x * np.array_equal(x, [1.0]), (V,))],
    "any": [
        (lambda x: np.where(np.any(x > 1, axis=0), x, 2 * x), (M,)),
        (lambda x: x * np.all(x > -1, axis=1, keepdims=True), (M,)),
        (lambda x: x if np.any(x > 1) and not np.all(x > 1) and (x > 1).any() else -x, (M,)),
    ],
    "maximum": [
        (lambda x, y: np.maximum(x, y) - np.minimum(x, 0.3), (M, V)),
        (lambda x: np.fmax(x, 0.1) + np.fmin(x, 0.2), (V,)),
    ],
    "logaddexp": [(lambda x, y: np.logaddexp(x, y), (M, V))],
    "floor_divide": [
        (lambda x, y: x // y + x, (QUOTIENTS, DIVISORS)),
        (lambda x: 7.3 // x + x, (DIVISORS,)),
        (lambda x: np.floor_divide(x, 0.3) * x, (QUOTIENTS,)),
    ],
    "divmod": [
        (lambda x, y: list(divmod(x, y)), (QUOTIENTS, DIVISORS)),
        (lambda x: divmod(5.0, x)[1], (DIVISORS,)),
        (lambda x: np.divmod(x, 0.3)[1], (QUOTIENTS,)),
    ],
    "zeros_like": [
        (lambda x: np.zeros_like(x) + x, (M,)),
        (lambda x: np.ones_like(x, shape=(2, 4)) * x[:2], (M,)),
        (lambda x: np.full_like(x, x[0, 0]) * x, (M,)),
        (lambda x: np.empty_like(x).shape[0] * x, (M,)),
        (lambda x: x[np.zeros_like(x, dtype=int)[0]], (M,)),
        (lambda x: np.zeros(4, like=x) + np.arange(4.0, like=x) * x, (V,)),
        (lambda x: np.array([x[0], 2.0], like=x), (V,)),
    ],
    "real": [(lambda x: np.real(x) + np.imag(x) + np.conj(x) + x.conj() + x.real, (V,))],
}

MOVING: dict[str, list[Call]] = {
    "pad": [
        (lambda x: np.pad(x, 1), (M,)),
        (lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=3.0), (M,)),
        (lambda x: np.pad(x, 1, constant_values=x[0, 0]), (M,)),
        *[(lambda x, mode=mode: np.pad(x, ((1, 1), (2, 0)), mode), (M,)) for mode in ("edge", "reflect", "symmetric", "wrap")],
    ],
    "insert": [(lambda x, v: np.insert(x, 1, v, axis=0), (M, V)), (lambda x: np.insert(x, [0, 2], 5.0), (V,))],
    "append": [(lambda x, v: np.append(x, v), (M, V)), (lambda x: np.append(x, x[:1], axis=0), (M,))],
    "meshgrid": [
        (lambda x, y: np.meshgrid(x, y), (V, array_of(3))),
        (lambda x: np.meshgrid(x, [1.0, 2.0], indexing="ij", sparse=True), (V,)),
    ],
    "broadcast_arrays": [(lambda x, y: np.broadcast_arrays(x, y, 1.0), (M, V))],
    "atleast_2d": [(lambda x, y: np.atleast_2d(x, y), (V, ZERO_D)), (lambda x: np.atleast_3d(x), (V,))],
    "extract": [(lambda x: np.extract(MASK, x), (M,))],
    "resize": [(lambda x: np.resize(x, (2, 3)), (V,))],
    "diagflat": [(lambda x: np.diagflat(x, 1), (V,))],
    "dsplit": [(lambda x: np.dsplit(x, 2), (T,))],
    "matrix_transpose": [(lambda x: np.matrix_transpose(x), (T,))],
    **({"unstack": [(lambda x: np.unstack(x), (T,))]} if hasattr(np, "unstack") else {}),  # of NumPy 2.1
    "copy": [(lambda x: np.copy(x) + x.copy(), (V,))],
    "sliding_window_view": [(lambda x: np.lib.stride_tricks.sliding_window_view(x, 3), (LONG,))],
    "trees": [(lambda x: np.concatenate([x, [1.0, 2.0], np.ones(1)]), (V,)), (lambda x: np.stack([x, np.zeros(4)]).T, (V,))],
    "methods": [
        (lambda x: x.swapaxes(0, 1), (M,)),
        (lambda x: x.mT, (T,)),
        (lambda x: x.take([0, 2]) + x.repeat(2)[:2], (V,)),
        (lambda x: x.diagonal(1), (SQUARE,)),
        (lambda x: x.compress([True, False, True], axis=0), (M,)),
        (lambda x: sum(row[0] * 2 for row in x.tolist()), (M,)),
        (lambda x: x.astype(float) * (x > 0).astype(float), (V,)),
        (lambda x: sum(each * n for n, each in enumerate(x.flat)), (M,)),
        (lambda x: round(x[0], 1) * x + round(x[1]), (V,)),
        (lambda x: x.flatten("F") + x.ravel(order="F"), (M,)),
        (lambda x: x.reshape((2, 6), order="F"), (M,)),
    ],
}

TABLES = {
    "reductions": REDUCTIONS, "cumulative": CUMULATIVE, "products": PRODUCTS, "calculus": CALCULUS, "choosing": CHOOSING,
    "moving": MOVING,
    "einsum": {text: [(lambda *x, text=text: np.einsum(text, *x), arrays)] for text, arrays in EINSUM.items()},
}  # fmt: skip
