"""Functions of NumPy that write into integers that are arguments: what they write is in the array, as in a plain call."""

import numpy as np
import pytest

import agrad as ag

WRITERS = {
    "add.at": lambda z, i: np.add.at(z, i, 1),
    "maximum.at": lambda z, i: np.maximum.at(z, i, 3),
    "negative.at": lambda z, i: np.negative.at(z, i),
    "out of a ufunc": lambda z, i: np.add(z, 1, out=z),
    "where of a ufunc": lambda z, i: np.multiply(z, 3, out=z, where=z > 1),
    "out of a part": lambda z, i: np.add.reduce(z, axis=0, out=z[1]),
    "out of a function": lambda z, i: np.clip(z, 1, 3, out=z),
    "sum into a row": lambda z, i: np.sum(z, axis=0, out=z[0]),
    "of a row": lambda z, i: np.add.at(z[1], i, 1),
    "fill_diagonal": lambda z, i: np.fill_diagonal(z, 9),
    "copyto": lambda z, i: np.copyto(z, 5, where=z > 1),
    "put": lambda z, i: np.put(z, i, 7),
    "place": lambda z, i: np.place(z, z > 1, [4, 3]),
    "putmask": lambda z, i: np.putmask(z, z > 1, 4),
    "put_along_axis": lambda z, i: np.put_along_axis(z, z % 2, 5, 0),
    "fill": lambda z, i: z.fill(3),
    "sort": lambda z, i: z.sort(axis=0),
    "assignment": lambda z, i: z.__setitem__(i, 5),
}


@pytest.mark.parametrize("name", WRITERS)
def test_functions_that_write_into_integers(name):
    def f(x, y, i):
        z = y.copy()
        WRITERS[name](z, i)
        return x * np.sum(np.arange(9.0).reshape(3, 3) * z)

    c = ag.compile(f)
    for t in range(3):
        arguments = (1.5, np.array([[t, 1, 2], [3, 4, 1], [5, 6, 0]]), np.array([0, t, 1]))
        before = arguments[1].copy()
        assert c(*arguments) == f(*arguments)
        np.testing.assert_array_equal(arguments[1], before)


def test_a_copy_that_would_be_the_array_in_numpy_is_not_written_into():
    for function in (
        lambda x, y: np.asarray(y).__setitem__(0, 5),
        lambda x, y: y.view().__setitem__(0, 5),
        lambda x, y: y.byteswap(inplace=True),
    ):
        with pytest.raises(ValueError, match="read-only"):
            ag.compile(function)(1.0, np.array([1, 2]))

    def of_copies(x, y):
        copy, real = np.array(y), np.asarray(y, dtype=float)
        copy[0], real[1] = 5, 0.5
        return x * np.sum(copy * real)

    assert ag.compile(of_copies)(2.0, np.array([3, 4])) == of_copies(2.0, np.array([3, 4])) == 34.0
