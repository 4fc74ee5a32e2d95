"""One check for functions written with NumPy: recorded, they do what NumPy does, and their gradients are right."""

from collections.abc import Callable
from typing import Any

import numpy as np

import agrad as ag
from differences import jacobian_by_differences


def _parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def check_like_numpy(f: Callable[..., Any], *arrays: Any, tolerance: float = 0.0, step: float = 1e-3) -> None:
    """Compare f on recorded arrays with f on plain ones.

    Values and shapes, in a recorded and in a compiled call; and the gradient of a fixed linear functional of f with respect
    to each argument with central differences of NumPy's f in a relative step, within which f must be smooth. f returns an
    array or a list of arrays.
    """
    plain = [np.asarray(part, dtype=float) for part in _parts(f(*arrays))]
    weights = [np.cos(np.arange(part.size) + n).reshape(part.shape) for n, part in enumerate(plain)]

    def functional(*arguments: Any) -> Any:
        parts = _parts(f(*arguments))
        return sum(np.sum(w * part) for w, part in zip(weights, parts, strict=True)), parts

    places = tuple(range(len(arrays)))
    for transform in (lambda g: ag.grad(g, places, has_aux=True), _compiled(places)):
        gradients, values = transform(functional)(*arrays)
        for got, expected in zip(values, plain, strict=True):
            assert np.shape(got) == expected.shape
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
        for place, gradient in zip(places, gradients, strict=True):

            def of_one(x: Any, place: int = place) -> Any:
                return functional(*arrays[:place], x, *arrays[place + 1 :])[0]

            expected = jacobian_by_differences(of_one, arrays[place], step)
            assert np.shape(gradient) == np.shape(arrays[place])
            np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-8)


def _compiled(places: tuple[int, ...]) -> Callable[..., Any]:
    """The same as grad with aux, by compiled functions."""

    def transform(functional: Callable[..., Any]) -> Callable[..., Any]:
        gradient = ag.compile(ag.grad(lambda *a: functional(*a)[0], places))
        values = ag.compile(lambda *a: functional(*a)[1])
        return lambda *a: (gradient(*a), values(*a))

    return transform
