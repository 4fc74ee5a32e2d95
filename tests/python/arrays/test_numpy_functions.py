"""Hundreds of calls of NumPy's functions in every mode: values against NumPy, derivatives against differences of values."""

import numpy as np
import pytest

import agrad as ag
from agrad._core import elementwise_rows
from agrad._numpy.protocol import _functions
from numpy_cases import EINSUM
from numpy_cases import TABLES as COMMON
from numpy_cases_missing import MORE
from numpy_cases_structure import CASES as MOVING
from recorded import check_like_numpy

TABLES = COMMON | MORE
CALLS = [
    pytest.param(f, arrays, id=f"{table}-{name}-{n}")
    for table, functions in TABLES.items()
    for name, calls in functions.items()
    for n, (f, arrays) in enumerate(calls)
]


def smooth(f):
    """The parts of f's result as one vector, so that differences of all of them are taken."""

    def joined(*x):
        result = f(*x)
        parts = result if isinstance(result, (list, tuple)) else [result]
        return np.concatenate([np.ravel(part) for part in parts])

    return joined


@pytest.mark.parametrize(("f", "arrays"), CALLS)
def test_values_and_gradients(f, arrays):
    """Recorded and compiled, with respect to all arguments, and to each with the others plain."""
    check_like_numpy(f, *arrays, tolerance=1e-13)
    if len(arrays) > 1:
        for place in range(len(arrays)):
            check_like_numpy(lambda x, p=place: f(*arrays[:p], x, *arrays[p + 1 :]), arrays[place], tolerance=1e-13)


@pytest.mark.parametrize(("f", "arrays"), CALLS)
def test_forward_mode_and_second_derivatives(f, arrays):
    ag.check_grads(smooth(f), *arrays, rtol=2e-6)


def test_every_function_has_a_case():
    tested = {f.__name__ for f in MOVING} | {name.split(".")[0] for table in TABLES.values() for name in table}
    tested |= {"einsum", "allclose", "all", "argmin", "around", "trapz", "correlate", "atleast_1d", "atleast_3d", "ones_like"}
    tested |= {"full_like", "empty_like", "shape", "ndim", "size", "result_type", "iscomplexobj", "isrealobj", "imag"}
    by_other_files = {
        "array_str", "array_repr", "array2string", "put", "put_along_axis", "fill_diagonal", "copyto",  # test_numpy_writing
        "argsort", "argpartition", "searchsorted", "digitize", "nonzero", "flatnonzero", "argwhere",  # test_numpy_edges
    }  # fmt: skip
    elementwise = {row.ufunc for row in elementwise_rows()}
    functions = {f.__name__ for f in _functions if not f.__module__.startswith(("numpy.linalg", "numpy.fft"))}
    assert functions <= tested | by_other_files | elementwise


@pytest.mark.parametrize("text", EINSUM)
def test_einsum_by_lists_of_labels(text):
    if "." in text:
        pytest.skip("letters only")
    given, arrow, wanted = text.replace(" ", "").partition("->")
    operands = [
        part for x, labels in zip(EINSUM[text], given.split(","), strict=True) for part in (x, [ord(c) - 97 for c in labels])
    ]
    last = [[ord(c) - 97 for c in wanted]] if arrow else []
    expected = np.einsum(text, *EINSUM[text])

    def f(x):
        return np.einsum(x, *operands[1:], *last)

    np.testing.assert_allclose(ag.compile(f)(operands[0]), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("optimize", [True, False, "greedy", "optimal"])
def test_einsum_in_any_order(optimize):
    a, b, c = np.sin(np.arange(6.0)).reshape(2, 3), np.cos(np.arange(12.0)).reshape(3, 4), np.arange(8.0).reshape(4, 2)
    expected = np.einsum("ij,jk,kl->il", a, b, c)
    got = ag.compile(lambda *x: np.einsum("ij,jk,kl->il", *x, optimize=optimize))(a, b, c)
    np.testing.assert_allclose(got, expected, rtol=1e-13)
