"""The dtypes of vmap's results in one and in several threads, large integers, and calls without rows."""

import numpy as np
import pytest

import agrad as ag

# ---- dtypes


def results(r):
    """Return booleans, integers and numbers, and what is of another kind in some rows."""
    return {
        "truth": r > 0.0,
        "three": 3,
        "number": 2.0 * r,
        "side": 1 if r > 0.2 else 2,
        "mixed": 1 if r > 0.2 else r,
        "whole": True if r > 0.2 else 1,
        "array": (np.arange(2), np.array([r, r]) < 0.5),
    }


@pytest.mark.parametrize("threads", [None, 2])
@pytest.mark.parametrize("n", [10, 256, 257, 700])
def test_results_keep_their_dtypes_in_any_number_of_threads(threads, n):
    rows = np.linspace(-1.0, 1.0, n)
    found = ag.vmap(results, threads=threads)(rows)
    single = [results(float(r)) for r in rows]
    for name in ("truth", "three", "number", "side", "mixed", "whole"):
        right = np.array([each[name] for each in single])  # NumPy's rule for joined booleans, integers and numbers
        assert found[name].dtype == right.dtype
        np.testing.assert_array_equal(found[name], right)
    for part, right in zip(found["array"], zip(*(each["array"] for each in single), strict=True), strict=True):
        assert part.dtype == np.stack(right).dtype
        np.testing.assert_array_equal(part, np.stack(right))


@pytest.mark.parametrize("threads", [None, 2])
def test_dtypes_along_another_axis(threads):
    rows = np.linspace(-1.0, 1.0, 600).reshape(2, 300)
    found = ag.vmap(lambda r: r > 0.0, in_axes=1, out_axes=1, threads=threads)(rows)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, rows > 0.0)


@pytest.mark.parametrize(
    ("f", "argument"),
    [
        (lambda i: i, np.array([1, 2**53 + 1])),
        (lambda i: i, np.array([-(2**63)])),
        (lambda i: {"id": [i]}, np.array([2**63 + 1], np.uint64)),
        (lambda r: np.array([0, 2**60 + 1]), np.ones(2)),
        (lambda r: 2**70, np.ones(2)),
    ],
)
def test_integers_that_float64_has_not_are_refused(f, argument):
    with pytest.raises(
        OverflowError, match=r"vmap\(<lambda>\): result is .*, but must be at most 2\*\*53 in size where it is an"
    ):
        ag.vmap(f)(argument)


def test_the_largest_integers_are_kept():
    i = np.array([2**53, -(2**53), 3])
    found = ag.vmap(lambda i: i)(i)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, i)


# ---- no rows


@pytest.mark.parametrize("made", [lambda f: f, ag.compile], ids=["plain", "compiled"])
@pytest.mark.parametrize(
    ("f", "arguments", "shapes"),
    [
        (lambda r, i: r[i], (np.zeros((0, 3)), np.zeros(0, int)), [(0,)]),
        (lambda r, i: (r, r[i]), (np.zeros((0, 3)), np.zeros((0, 2), int)), [(0, 3), (0, 2)]),
        (np.linalg.cholesky, (np.zeros((0, 2, 2)),), [(0, 2, 2)]),
        (lambda a: np.linalg.cholesky(a - 0.1 * np.eye(2))[0], (np.zeros((0, 3, 2, 2)),), [(0, 2, 2)]),
        (lambda p: ag.beta_lpdf(p, 2.0, 3.0), (np.zeros(0),), [(0,)]),
        (lambda r: r if r > 0 else 1.0 / r, (np.zeros(0),), [(0,)]),
    ],
)
def test_no_rows_have_results_without_rows(made, f, arguments, shapes):
    found = made(ag.vmap(f))(*arguments)
    parts = found if isinstance(found, tuple) else (found,)
    assert [x.shape for x in parts] == shapes


def test_no_rows_keep_their_dtypes():
    found = ag.vmap(lambda r, i: (r > 0.0, i, r))(np.zeros(0), np.zeros(0, int))
    assert [x.dtype for x in found] == [bool, int, float]


def test_no_rows_where_the_shape_is_unknown():
    def refuses(r):
        raise ag.DomainError("refuses: argument is anything, but must be nothing")

    with pytest.raises(ag.ShapeError, match=r"vmap\(refuses\): number of rows is 0, but must be at least 1 where .* nothing"):
        ag.vmap(refuses)(np.zeros(0))
    with pytest.raises(ag.ShapeError, match="number of rows is 0"):
        ag.vmap(lambda r, i: r[i])(np.zeros((0, 0)), np.zeros(0, int))


def test_a_fault_of_the_function_is_no_matter_of_rows():
    def wrong(r):
        raise TypeError("wrong")

    with pytest.raises(TypeError, match="wrong"):
        ag.vmap(wrong)(np.zeros(0))
