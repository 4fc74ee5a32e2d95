"""Calls of NumPy's functions that leave out nans, run along an array or fit: cases as in numpy_cases."""

import numpy as np

from numpy_cases import LONG, MASK, POSITIVE, SQUARE, Call, M, T, V

HOLES = np.where(MASK, 0.0, np.nan)  # added, so that nans stay where they are

NANS: dict[str, list[Call]] = {
    name: [
        (lambda x, f=f: f(x + HOLES), (M,)),
        (lambda x, f=f: f(x + HOLES, axis=0), (M,)),
        (lambda x, f=f: f(x + HOLES, axis=1), (M,)),
        (lambda x, f=f: f(x), (T[0],)),
    ]
    for name, f in {
        "nansum": np.nansum, "nanprod": np.nanprod, "nanmax": np.nanmax, "nanmin": np.nanmin, "nanmean": np.nanmean,
        "nanvar": np.nanvar, "nanstd": np.nanstd, "nancumsum": np.nancumsum, "nancumprod": np.nancumprod,
    }.items()
}  # fmt: skip
NANS["nansum"] += [(lambda x: np.nansum(x + HOLES, axis=(0, 1), keepdims=True), (M,))]
NANS["nanvar"] += [(lambda x: np.nanvar(x + HOLES, axis=1, ddof=1, keepdims=True), (M,))]

RUNNING: dict[str, list[Call]] = {
    f"{name}.accumulate": [
        (lambda x, f=f: f.accumulate(x), (LONG,)),
        (lambda x, f=f: f.accumulate(x), (M,)),
        (lambda x, f=f: f.accumulate(x, axis=-1), (T,)),
    ]
    for name, f in {"maximum": np.maximum, "minimum": np.minimum}.items()
}

PIECES: dict[str, list[Call]] = {
    "piecewise": [
        (lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda v: v**3, 2.5]), (LONG,)),
        (lambda x: np.piecewise(x, [x < -1, x > 1], [np.sin, np.exp, np.cos]), (M,)),
        (lambda x: np.piecewise(x, [x < 0], [lambda v, a: a * v], 3.0), (LONG,)),
    ]
}

GRIDS: dict[str, list[Call]] = {
    "logspace": [
        (lambda x: np.logspace(x[0], x[1], 5), (V,)),
        (lambda x: np.logspace(x[0], 1.5, 4, endpoint=False, base=2.0), (V,)),
        (lambda x: np.logspace(x[:2], x[2:], 3, axis=1), (V,)),
    ],
    "geomspace": [
        (lambda x: np.geomspace(x[0], x[1], 5), (POSITIVE,)),
        (lambda x: np.geomspace(-x[0], -x[1], 4, endpoint=False), (POSITIVE,)),
        (lambda x: np.geomspace(x[:2], x[2:4], 3), (POSITIVE,)),
    ],
    "polyfit": [
        (lambda y: np.polyfit(np.array([0.1, 0.9, 2.2, 3.0]), y, 2), (V,)),
        (lambda x: np.polyfit(x, np.array([1.0, -0.5, 2.0, 0.3, 1.1]), 1), (POSITIVE,)),
        (lambda y: np.polyfit(np.array([0.1, 0.9, 2.2]), y, 1, w=np.array([1.0, 2.0, 0.5])), (SQUARE,)),
    ],
}

MORE = {"nans": NANS, "running": RUNNING, "pieces": PIECES, "grids": GRIDS}
