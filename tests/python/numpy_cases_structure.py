"""Calls of NumPy's functions that move the entries of arrays about."""

import numpy as np


def array_of(shape):
    return np.sin(1.0 + np.arange(int(np.prod(shape)), dtype=float)).reshape(shape)


A = array_of((2, 3, 2))
ROW, SQUARE = array_of(4), array_of((3, 3))

#: Calls of functions that move the entries of one array, or of a sequence of arrays; others are in numpy_cases.MOVING.
CASES = {
    np.reshape: [(A, (3, 4)), (A, -1), (A, (2, -1)), (A, (6, 2), "F")],
    np.ravel: [(A,), (A, "F"), (array_of(()),)],
    np.transpose: [(A,), (A, (1, 2, 0)), (ROW,)],
    np.swapaxes: [(A, 0, 2)],
    np.moveaxis: [(A, 0, -1), (A, [0, 1], [1, 0])],
    np.rollaxis: [(A, 2)],
    np.squeeze: [(A[:1],), (A[:, :1], 1)],
    np.expand_dims: [(A, 1), (ROW, (0, 2))],
    np.broadcast_to: [(ROW, (3, 4)), (array_of(()), (2, 2))],
    np.flip: [(A,), (A, 1), (A, (0, 2))],
    np.fliplr: [(A,)],
    np.flipud: [(A,)],
    np.roll: [(A, 1), (A, -1, 1), (A, (1, 2), (0, 1))],
    np.rot90: [(SQUARE,), (A, 2, (1, 2))],
    np.tile: [(ROW, 2), (SQUARE, (2, 1, 2))],
    np.repeat: [(SQUARE, 2), (SQUARE, [1, 0, 2], 1)],
    np.take: [(A, [0, 3]), (A, [[1, 0]], 2), (ROW, 2)],
    np.take_along_axis: [(SQUARE, np.array([[2, 0, 1]]), 0)],
    np.diagonal: [(SQUARE,), (SQUARE, 1), (A, 0, 1, 2)],
    np.diag: [(ROW,), (ROW, -1), (SQUARE, 1)],
    np.tril: [(SQUARE,), (SQUARE, 1)],
    np.triu: [(SQUARE,), (SQUARE, -1)],
    np.atleast_1d: [(array_of(()),), (SQUARE,)],
    np.atleast_2d: [(ROW,)],
    np.atleast_3d: [(SQUARE,)],
    np.split: [(ROW, 2), (A, [1], 1)],
    np.array_split: [(ROW, 3), (SQUARE, 2, 1)],
    np.hsplit: [(SQUARE, 3)],
    np.vsplit: [(SQUARE, 3)],
    np.delete: [(ROW, 1), (SQUARE, [0, 2], 1)],
    np.compress: [([True, False, True], SQUARE, 0), ([False, True, True, False], ROW)],
    np.concatenate: [([ROW, ROW[:2]],), ([SQUARE, SQUARE[:1]], 0), ([SQUARE, A[0]], 1), ([A, SQUARE], None)],
    np.stack: [([ROW, ROW],), ([SQUARE, SQUARE], -1), ([array_of(()), 2.0],)],
    np.hstack: [([ROW, ROW[:1]],), ([SQUARE, SQUARE],)],
    np.vstack: [([ROW, ROW],)],
    np.dstack: [([SQUARE, SQUARE],)],
    np.column_stack: [([ROW, ROW],)],
    np.block: [([[SQUARE, np.ones((3, 1))], [ROW[None, :3], 2.0]],)],
}
