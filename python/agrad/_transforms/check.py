"""Defines check_grads, which checks that a function's derivatives agree with each other and with differences of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Program
from agrad._record.recording import name_of
from agrad._record.structure import array
from agrad._record.trees import flatten
from agrad._transforms.base import check_tangents
from agrad._transforms.differences import EPSILON, SMALLEST_SHARE, Differences, worst
from agrad._transforms.parameters import Parameters
from agrad._transforms.products import Recorded

__all__ = ["check_grads"]

Matrix = np.ndarray[Any, np.dtype[np.float64]]
_CLOSE = 1e-12  # allowed difference, relative to the parts, of numbers that differ by rounding errors only
_NUDGE = 2.0**-10  # relative displacement of a point for the estimate of the parts of a derivative


class _Check:
    """A function at a point: the Jacobian, and the names of the entries for messages."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], step: float) -> None:
        self.function, self.args, self.label = function, args, f"check_grads({name_of(function)})"
        self.parameters = Parameters("check_grads", args, range(len(args)))
        recorded = Recorded("check_grads", function, args, self.parameters, False)
        self.outputs = recorded.outputs
        self.program: Program = recorded.engine.program().program
        self.x = np.concatenate([np.zeros(0), *(leaf.ravel() for leaf in self.parameters.leaves)])
        self.scale = np.maximum(1.0, np.abs(self.x))
        self.steps = step * self.scale
        self.y, self.rows = self.run(self.program.adjoint_products, np.eye(self.program.output_size))

    def leaves_at(self, x: Matrix) -> list[Matrix]:
        ends = np.cumsum([leaf.size for leaf in self.parameters.leaves])[:-1]
        parts = np.split(x, ends) if self.parameters.leaves else []
        return [part.reshape(shape) for part, shape in zip(parts, self.parameters.shapes, strict=True)]

    def run(self, product: Callable[..., Any], *vectors: Matrix) -> Any:
        return product(self.parameters.leaves, *vectors)

    def parts(self, derivative: Matrix, at: Callable[[Matrix], Matrix]) -> Matrix:
        """Returns the sizes of the parts whose sum is a derivative; `at` computes the derivative at other points.

        Where the parts cancel, as in a gradient at an optimum, the derivative's size does not tell its rounding errors. At a
        displaced point the parts do not cancel: the change of the derivative, relative to the displacement, is of their size.
        """
        size = np.abs(derivative)
        signs = np.where(np.arange(self.x.size) % 2 == 0, 1.0, -1.0)
        for way in (self.scale, np.abs(self.x)):  # the second where the function is undefined nearby
            with np.errstate(all="ignore"):
                change = np.abs(at(self.x + _NUDGE * signs * way) - derivative) / _NUDGE
            if np.all(np.isfinite(change)):
                return size + change
        return size

    def sum_of_parts(self, value: Matrix, derivative: Matrix) -> Matrix:
        """Returns the sizes of the parts whose sums are values, as far as the parts depend on the parameters."""
        with np.errstate(invalid="ignore"):
            size: Matrix = np.abs(value) + np.abs(derivative) @ np.abs(self.x)
        return size

    def value(self, x: Matrix) -> Matrix:
        """Returns the values of the function, not of the recording, at other parameters."""
        leaves = [leaf if leaf.ndim else float(leaf) for leaf in self.leaves_at(x)]
        results = flatten(self.function(*self.parameters.put(self.args, leaves)))[0]
        return np.concatenate([np.zeros(0), *(np.ravel(array(each)) for each in results)])

    def rows_at(self, x: Matrix, seeds: Matrix) -> Matrix:
        """Returns products of the transposed Jacobian at another point; nan where the recorded path does not hold."""
        found = self.program.adjoint_products(self.leaves_at(x), seeds)
        return np.full((len(seeds), x.size), np.nan) if found is None else found[1]

    def gradient(self, x: Matrix, seeds: Matrix) -> Matrix:
        gradient: Matrix = self.rows_at(x, seeds[np.newaxis])[0]
        return gradient

    def hessian(self, x: Matrix, seeds: Matrix) -> Matrix:
        found = self.program.hessian_products(self.leaves_at(x), seeds, np.eye(x.size))
        return np.full((x.size, x.size), np.nan) if found is None else found[2]

    def input_name(self, j: int) -> str:
        return _entry_name(j, self.parameters.shapes, self.parameters.label)

    def output_name(self, i: int) -> str:
        return _entry_name(i, self.outputs.shapes, lambda n: str(self.outputs.structure.accessors()[n].codify("result")))

    def fail(self, what: str, value: float, other_name: str, other: float, hint: str) -> None:
        raise AssertionError(f"{self.label}: {what} is {value!r}, but must be {other!r} {other_name}; {hint}")


def _entry_name(place: int, shapes: list[tuple[int, ...]], label: Callable[[int], str]) -> str:
    """Returns the name, for messages, of an entry of leaves that are joined to a vector."""
    for n, shape in enumerate(shapes):
        size = int(np.prod(shape, dtype=int))
        if place < size:
            index = ", ".join(str(k) for k in np.unravel_index(place, shape))
            return f"{label(n)}[{index}]" if shape else label(n)
        place -= size
    raise IndexError(place)


def _check_forward(check: _Check, generator: np.random.Generator, rtol: float, atol: float | None) -> None:
    """Checks <w, J v> by forward mode against <J' w, v> by reverse mode; on failure the columns tell which entry differs.

    The two numbers differ by rounding, unless each comes from an integration of its own.
    """
    m, n = check.rows.shape
    w, v = generator.standard_normal(m), generator.standard_normal(n)
    forward = float(w @ check.run(check.program.jacobian_products, v[np.newaxis])[1][0])
    reverse = float(check.run(check.program.adjoint_products, w[np.newaxis])[1][0] @ v)
    parts = check.parts(check.rows, lambda x: check.rows_at(x, np.eye(m)))
    scale = float(np.abs(w) @ (parts @ np.abs(v) + EPSILON * np.abs(check.y)))
    allowed = _CLOSE * scale
    if check.program.first_without_tangents(0):
        smallest = SMALLEST_SHARE if atol is None else atol
        allowed = rtol * scale + smallest * float(np.abs(w).sum() * np.abs(v).sum())
    if abs(forward - reverse) <= allowed or forward == reverse or not np.isfinite(scale):
        return
    columns = check.run(check.program.jacobian_products, np.eye(n))[1].T
    i, j = worst(columns, check.rows, np.full((m, n), 1e-300)) or (0, 0)
    what = f"derivative of {check.output_name(i)} with respect to {check.input_name(j)}"
    check.fail(what, float(columns[i, j]), "as by reverse mode", float(check.rows[i, j]), "the first value is by forward mode")


def _check_differences(check: _Check, rtol: float, atol: float | None) -> None:
    parts = check.sum_of_parts(check.y, check.rows)
    differences = Differences(check.value, check.x, check.steps, check.rows, parts, rtol, atol)
    if (entry := differences.worst()) is not None:
        i, j = entry
        what = f"derivative of {check.output_name(i)} with respect to {check.input_name(j)}"
        hint = f"the step is {differences.steps[i, j]:.1g}; the function must be smooth and defined within it"
        if np.isnan(check.rows[i, j]):
            hint += ", and debug_nans() names the operation with the nan"
        check.fail(what, float(check.rows[i, j]), "as by central differences", float(differences.matrix[i, j]), hint)


def _check_second(check: _Check, generator: np.random.Generator, rtol: float, atol: float | None) -> None:
    """Checks that the Hessian of a combination of the outputs is symmetric and the derivative of the gradient."""
    m, n = check.rows.shape
    w = np.ones(1) if m == 1 else generator.standard_normal(m)
    _, gradient, products = check.run(check.program.hessian_products, w, np.eye(n))
    of = check.output_name(0) if m == 1 else "a combination of the results"

    def what(i: int, j: int) -> str:
        return f"second derivative of {of} with respect to {check.input_name(i)} and {check.input_name(j)}"

    parts = check.parts(products, lambda x: check.hessian(x, w))
    largest = np.max(parts, initial=0.0, where=np.isfinite(parts))
    if entry := worst(products, products.T, np.full((n, n), _CLOSE * largest + 1e-300)):
        i, j = entry
        check.fail(
            what(i, j),
            float(products[i, j]),
            "as in the other order",
            float(products[j, i]),
            "second derivatives are not symmetric",
        )
    of_gradient = check.sum_of_parts(gradient, products)
    differences = Differences(lambda x: check.gradient(x, w), check.x, check.steps, products, of_gradient, rtol, atol)
    if entry := differences.worst():
        i, j = entry
        hint = f"the step is {differences.steps[i, j]:.1g}"
        check.fail(
            what(i, j), float(products[i, j]), "as by differences of the gradient", float(differences.matrix[i, j]), hint
        )


def check_grads(
    function: Callable[..., Any], *args: Any, order: int = 2, step: float = 1e-3, rtol: float = 1e-6, atol: float | None = None
) -> None:
    """Check the derivatives of `function` at a point; returns nothing when all is well.

    Reverse mode is checked against forward mode by a dot product, ``<w, J v> = <J' w, v>`` to 1e-12 of its parts, or to rtol
    and atol where each mode is an integration of its own (a solve by CVODES and its adjoint problem); each entry of the
    Jacobian against central differences of the function's values; and the Hessian of the value, or of a random combination of
    several values, for symmetry to 1e-12 of its largest part and against differences of the gradient. Parts are the summands
    of a derivative, which cancel at an optimum; their size is measured at a point nearby.

    Parameters
    ----------
    function : callable
        Returns numbers and arrays in any nested structure. The function is also called with plain NumPy arrays.
    *args : floating-point numbers, arrays, nested structures of them
        The point; all are parameters.
    order : {1, 2}
        1 checks reverse mode and, where all operations have tangents, forward mode; 2 also checks second derivatives.
    step : float
        First step of the differences, relative to the parameter where the parameter is larger than 1. Where the function
        changes within a step, or the differences do not agree, shorter steps are tried, down to rounding.
    rtol, atol : float
        The allowed distance of a derivative from its difference, relative to the larger and absolute; rounding errors of the
        differentiated values are allowed in addition. Without atol, the absolute distance is 1e-8, but where values are small
        beside their parameters, 1e-8 of the value over the parameter (or over 1, if that is larger) and what noise of the
        values explains, so that derivatives of small functions are checked, too.

    Raises
    ------
    AssertionError
        Two derivatives differ: the message has the coordinate and both values.
    NotImplementedError
        `order` is 2 and an operation has first derivatives only, as a solve by CVODES has.

    Notes
    -----
    The differences are of sixth order and reach 3 steps to both sides: where the function is not defined or not smooth there,
    the check fails even if the derivative is right. The fifth and the sixth difference of the values tell whether a step
    resolves the function, so a wrong derivative of a narrow peak fails wherever the peak is seen at the point itself.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.check_grads(lambda p: p["a"] * np.sin(p["b"]), {"a": 2.0, "b": np.ones(3)})
    """
    if not callable(function):
        raise TypeError(f"check_grads: function is {function!r}, but must be callable")
    if order not in (1, 2):
        raise ValueError(f"check_grads: order is {order!r}, but must be 1 or 2")
    if not step > 0:
        raise ValueError(f"check_grads: step is {step!r}, but must be positive")
    check = _Check(function, args, step)
    if order == 2:
        check_tangents("check_grads", check.program, "write order=1")
    if 0 in check.rows.shape:
        return
    generator = np.random.default_rng(20120229)
    if not check.program.first_without_tangents(1):
        _check_forward(check, generator, rtol, atol)
    _check_differences(check, rtol, atol)
    if order == 2:
        _check_second(check, generator, rtol, atol)
