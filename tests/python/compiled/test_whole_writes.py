"""Writing at integers that are arguments: sums into places and assignments are recorded for all contents."""

import numpy as np
import pytest

import agrad as ag

GENERATOR = np.random.default_rng(11)


def paths(compiled):
    return sum(len(each) for _, each in compiled.recorded())


def add(x, key, v):
    np.add.at(x, key, v)


def subtract(x, key, v):
    np.subtract.at(x, key, v)


def assign(x, key, v):
    x[key] = v


def assign_twice(x, key, v):
    x[key] = v
    x[key] += np.sin(v)


#: Keys of an array of shape (5, 4) for labels i and j of four entries.
KEYS = {
    "rows": lambda i, j: i,
    "columns": lambda i, j: (slice(None), j),
    "entries": lambda i, j: (i, j),
    "beside a number": lambda i, j: (2, j),
    "beside a slice": lambda i, j: (slice(1, 4), j[:3]),
    "beside a mask": lambda i, j: (np.arange(5) > 0, j),
    "outer": lambda i, j: (i[:, None], j[:2]),
    "one": lambda i, j: (i[0], j[1]),
    "none": lambda i, j: i[:0],
}
WRITES = {"add": add, "subtract": subtract, "assign": assign, "assign twice": assign_twice}


def changed(write, key, x, i, j, v):
    x = x * 1.0
    shape = np.empty((5, 4))[key(np.zeros(4, int), np.zeros(4, int))].shape
    write(x, key(i, j), v[: int(np.prod(shape))].reshape(shape))
    return x


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("write", WRITES)
def test_writes_at_integers_are_numpys(write, key):
    draws = np.random.default_rng(11)

    def f(x, v, i, j):
        return np.sum(np.cos(np.arange(20.0)).reshape(5, 4) * changed(WRITES[write], KEYS[key], x, i, j, v) ** 3)

    c = ag.compile(ag.value_and_grad(f, argnums=(0, 1)))
    for i, j in (([0, 4, 2, 2], [3, 0, 1, 1]), ([-1, -5, 4, -1], [-4, 3, 3, 3]), ([1, 1, 1, 1], [2, 2, -2, 2])):
        x, v = draws.normal(size=(5, 4)), draws.normal(size=20)
        value, slopes = c(x, v, np.array(i), np.array(j))
        assert value == pytest.approx(f(x, v, np.array(i), np.array(j)), rel=1e-13)
        for n, (at, slope) in enumerate(zip((x, v), slopes, strict=True)):
            along, moved = draws.normal(size=at.shape), [x, v]

            def at_step(h, n=n, at=at, along=along, moved=moved, i=i, j=j):
                moved[n] = at + h * along
                return f(*moved, np.array(i), np.array(j))

            # Cubic in each argument, but for sines: differences of order 6.
            weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
            expected = sum(w * (at_step(k * 4e-3) - at_step(-k * 4e-3)) for k, w in weights.items()) / 4e-3
            assert np.sum(slope * along) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert paths(c) == 1


@pytest.mark.parametrize("write", WRITES)
def test_writes_have_three_orders_and_rows(write):
    def f(q, i):
        x = q[:3] * 1.0
        WRITES[write](x, i, q[2:6] * q[0])
        return np.sum(np.exp(0.3 * x))

    q, i = GENERATOR.normal(size=6), np.array([0, 2, 2, -3])
    by_hand = {
        "add": lambda q, v: [q[0] + v[0] + v[3], q[1], q[2] + v[1] + v[2]],
        "subtract": lambda q, v: [q[0] - v[0] - v[3], q[1], q[2] - v[1] - v[2]],
        "assign": lambda q, v: [v[3], q[1], v[2]],
        "assign twice": lambda q, v: [v[3] + np.sin(v[3]), q[1], v[2] + np.sin(v[2])],
    }[write]

    def plain(q):
        return sum(np.exp(0.3 * each) for each in by_hand(q, q[2:6] * q[0]))

    def third(f):
        return lambda q, *i: ag.jacobian(ag.hessian(f))(q, *i)

    for transform in (ag.grad, ag.jacfwd, ag.hessian, third):
        expected = transform(plain)(q)
        np.testing.assert_allclose(ag.compile(transform(f))(q, i), expected, rtol=1e-11, atol=1e-12)
    rows = np.stack([i, i[::-1], i * 0])
    points = np.stack([q, 2 * q, q[::-1]])
    expected = [ag.grad(f)(*each) for each in zip(points, rows, strict=True)]
    compiled = ag.compile(ag.vmap(ag.grad(f)))
    np.testing.assert_allclose(compiled(points, rows), expected, rtol=1e-12, atol=1e-14)
    expected = [ag.grad(f)(*each) for each in zip(points, rows[::-1], strict=True)]
    np.testing.assert_allclose(compiled(points, rows[::-1].copy()), expected, rtol=1e-12, atol=1e-14)
    assert paths(compiled) == 1


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("bad", [5, -6])
def test_a_place_out_of_range_raises_at_each_call(write, bad):
    c = ag.compile(lambda x, i: np.sum(changed(WRITES[write], lambda i, j: i, x, i, i, np.ones(16))))
    x = np.ones((5, 4))
    c(x, np.array([0, 1, 2, 3]))
    for _ in range(2):
        with pytest.raises(
            ag.PlaceError, match=f"index: place is {bad}, but must be a whole number below the table's length 5"
        ):
            c(x, np.array([0, bad, 2, 3]))


def test_masks_that_are_arguments():
    c = ag.compile(ag.grad(lambda x, mask: np.sum(x.at[mask].multiply(2.0).at[~mask].add(3.0) ** 2)))
    x = GENERATOR.normal(size=6)
    for mask in (x > 0, x < 0, x == 0):
        y = np.where(mask, 2 * x, x + 3)
        np.testing.assert_allclose(c(x, mask), 2 * y * np.where(mask, 2, 1), rtol=1e-14)
    assert paths(c) == 1
    rows = ag.compile(lambda x, mask: np.sum(x.at[mask].add(1.0) ** 2))
    table = GENERATOR.normal(size=(6, 2))
    for mask in (x > 0, x < 0):  # of the rows
        assert rows(table, mask) == pytest.approx(np.sum((table + mask[:, None]) ** 2), rel=1e-14)


def test_sums_by_label():
    c = ag.compile(ag.value_and_grad(lambda v, labels: np.sum(np.bincount(labels, v, 4)[:4] ** 3)))
    v = GENERATOR.normal(size=5)
    for labels in ([0, 1, 3, 3, 1], [2, 2, 2, 2, 2]):
        sums = np.bincount(labels, v, 4)
        value, slope = c(v, np.array(labels))
        assert value == pytest.approx(np.sum(sums**3), rel=1e-14)
        np.testing.assert_allclose(slope, 3 * sums[labels] ** 2, rtol=1e-14)
    assert paths(c) == 1
    longer = np.array([0, 1, 5, 3, 1])  # another length of the result is another path
    np.testing.assert_allclose(c(v, longer)[1], 3 * np.bincount(longer, v)[longer] ** 2 * (longer < 4), rtol=1e-14)
    with pytest.raises(ValueError, match="negative"):
        c(v, np.array([0, 1, -1, 3, 1]))
    assert ag.compile(lambda v, labels: np.sum(np.bincount(labels, v)))(v, np.arange(5)) == pytest.approx(np.sum(v))
    assert ag.compile(lambda v, labels: np.bincount(labels, v, 3))(v[:0], np.arange(0)).tolist() == [0, 0, 0]
