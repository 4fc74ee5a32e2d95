"""Entries of integer and boolean arguments of compiled functions: arithmetic, types and overflow are NumPy's."""

import numpy as np
import pytest

import agrad as ag

GENERATOR = np.random.default_rng(8)
INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def paths(compiled):
    return sum(len(each) for _, each in compiled.recorded())


ARITHMETIC = {
    "numbers": lambda x, y, m: x * y + y / 2 - 2.0**y * 0.5,
    "quotients": lambda x, y, m: (y // 2, y % 2, y // 2.5, divmod(y, 3)[1], np.abs(-y)),
    "integers": lambda x, y, m: (y + 1, 2 * y - y, y * y, y**2, np.maximum(y, 2), np.sign(y), 3 - y),
    "comparisons": lambda x, y, m: (y > 1, (y == 2) | m, ~m, m & (y < 3), m ^ (y != 0), np.logical_not(m)),
    "masks": lambda x, y, m: (m * x, m + 1, m * 2.0, np.where(m, x, y), np.where(y > 1, y, -1), np.where(m & (x > 0), 1.0, x)),
    "sums": lambda x, y, m: (
        np.sum(m),
        np.sum(y),
        y.sum(),
        y.mean(),
        np.cumsum(y),
        m.any(),
        np.all(m),
        np.max(y),
        np.count_nonzero(y),
    ),
    "moved": lambda x, y, m: (
        y[::-1],
        y.reshape(2, 2).T,
        np.concatenate([y, y[:1]]),
        np.stack([y, y]),
        y[1:] * x[1:],
        np.flip(m),
    ),
    "types": lambda x, y, m: (y.astype(float) / 4, m.astype(int) + y, y.astype(bool), np.ones_like(y) / 2, np.zeros(y.shape)),
    "functions": lambda x, y, m: (
        np.exp(y * 0.1),
        np.sqrt(y + 0.5),
        np.interp(y, [0.0, 9.0], [1.0, 2.0]),
        np.float64(2) ** y,
        np.dot(y, x),
    ),
    "in place": lambda x, y, m: (_written(y), y),
}


def _written(y):
    y = y.copy()
    y[1] = 2
    y += 1
    return y


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_entries_are_numpys_values(name, dtype):
    f, x = ARITHMETIC[name], GENERATOR.normal(size=4)
    flat = ag.compile(lambda x, y, m: f(x, y, m))
    for y, m in (([0, 1, 2, 7], [True, False, True, True]), ([3, 3, 1, 0], [False] * 4), ([9, 0, 5, 2], [True] * 4)):
        y, m = np.array(y, dtype), np.array(m)
        expected = f(x, y.copy(), m)
        for got, each in zip(_parts(flat(x, y, m)), _parts(expected), strict=True):
            np.testing.assert_allclose(got, np.asarray(each, float), rtol=1e-14, atol=1e-300)
    wraps = dtype().dtype.kind == "u" and name in ("quotients", "integers", "masks")
    assert paths(flat) == 1 or wraps


def _parts(x):
    return x if isinstance(x, tuple) else (x,)


TYPES = {
    "y + 1": lambda y, m: y + 1, "y / 2": lambda y, m: y / 2, "y // 2": lambda y, m: y // 2, "m + m": lambda y, m: m + m,
    "m.sum()": lambda y, m: m.sum(), "y > 0": lambda y, m: y > 0, "y[0]": lambda y, m: y[0], "y * m": lambda y, m: y * m,
    "-y": lambda y, m: -y, "y.T": lambda y, m: y.T, "y.sum()": lambda y, m: y.sum(), "~m": lambda y, m: ~m,
    "~y": lambda y, m: ~y,
    "np.where": lambda y, m: np.where(m, y, 0), "y.astype": lambda y, m: y.astype(np.int64), "y + y": lambda y, m: y + y,
    "y + 1.5": lambda y, m: y + 1.5, "concatenated": lambda y, m: np.concatenate([y, m]), "y & 1": lambda y, m: y & 1,
}  # fmt: skip


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", TYPES)
def test_results_have_numpys_dtype_and_entries(name, dtype):
    f, seen = TYPES[name], []

    def noted(y, m):
        seen.append(np.dtype(f(y, m).dtype))
        return f(y, m) * 1.0

    c = ag.compile(noted)
    for y in ([1, 0, 3], [5, 2, 2]):
        y, m = np.array(y, dtype), np.array([True, False, True])
        np.testing.assert_array_equal(c(y, m), f(y, m) * 1.0)
        assert seen[-1] == f(y, m).dtype


@pytest.mark.parametrize("dtype", INTEGERS)
def test_overflow_is_numpys(dtype):
    info = np.iinfo(dtype)
    c = ag.compile(lambda y: ((y + y) * 1.0, (y * y) * 1.0, (y - y[0]) * 1.0))
    for y in ([1, 2, 3], [info.max, info.max, 1], [info.min, 1, 2], [info.max // 2, 1, info.max]):
        y = np.array(y, dtype)
        with np.errstate(over="ignore"):
            expected = ((y + y) * 1.0, (y * y) * 1.0, (y - y[0]) * 1.0)
        for got, each in zip(c(y), expected, strict=True):
            np.testing.assert_array_equal(got, each)


def test_integers_that_float64_has_not_are_constants():
    c = ag.compile(lambda y: (y % 10) * 1.0)
    for y in ([1, 12], [2**60 + 7, 3], [2**60 + 8, 3], [4, 5]):
        np.testing.assert_array_equal(c(np.array(y)), np.array(y) % 10)


def test_a_division_by_zero_is_numpys():
    c = ag.compile(lambda y, z: (y // z) * 1.0)
    y = np.array([4, 5])
    np.testing.assert_array_equal(c(y, np.array([2, 3])), [2, 1])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.testing.assert_array_equal(c(y, np.array([2, 0])), [2, 0])
    np.testing.assert_array_equal(c(y, np.array([1, 3])), [4, 1])
