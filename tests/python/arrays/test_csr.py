"""Sparse matrices under Stan's names against dense ones and SciPy's, with derivatives; faults."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import agrad as ag

A = np.array([[0.0, 1.5, 0.0, -2.0], [0.0, 0.0, 0.0, 0.0], [0.7, 0.0, 3.0, 0.0]])
W, V, U = ag.csr_extract(A)
B = np.array([0.3, -1.0, 2.0, 0.5])


def test_entries_are_those_of_scipy_and_lead_back():
    of_scipy = scipy.sparse.csr_array(A)
    for mine, theirs in zip((W, V, U), (of_scipy.data, of_scipy.indices, of_scipy.indptr), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for k, part in enumerate((ag.csr_extract_w, ag.csr_extract_v, ag.csr_extract_u)):
        np.testing.assert_array_equal(part(A), (W, V, U)[k])
    np.testing.assert_array_equal(ag.csr_to_dense_matrix(3, 4, W, V, U), A)
    np.testing.assert_allclose(ag.csr_matrix_times_vector(3, 4, W, V, U, B), A @ B, rtol=1e-15)
    assert ag.csr_to_dense_matrix(2, 2, [], [], [0, 0, 0]).tolist() == [[0, 0], [0, 0]]


def test_derivatives_are_those_of_the_dense_product():
    def loss(w, b):
        return np.sum(np.sin(ag.csr_matrix_times_vector(3, 4, w, V, U, b))) + np.sum(ag.csr_to_dense_matrix(3, 4, w, V, U) ** 3)

    def dense(w, b):
        matrix = np.concatenate([w, np.zeros(1)])[np.array([[4, 0, 4, 1], [4, 4, 4, 4], [2, 4, 3, 4]])]
        return np.sum(np.sin(matrix @ b)) + np.sum(matrix**3)

    for transform in (ag.grad, ag.hessian):
        exact = transform(dense, (0, 1))(W, B)
        for found in (transform(loss, (0, 1))(W, B), ag.compile(transform(loss, (0, 1)))(W, B)):
            for x, y in zip(found, exact, strict=True):
                np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-13, atol=1e-14)
    tangent = ag.jvp(lambda w: ag.csr_matrix_times_vector(3, 4, w, V, U, B), (W,), (np.ones(4),))[1]
    np.testing.assert_allclose(tangent, (A != 0) @ B, rtol=1e-15)


def test_values_at_one_place_are_added():
    np.testing.assert_array_equal(ag.csr_to_dense_matrix(1, 2, [1.0, 2.0], [1, 1], [0, 2]), [[0, 3]])
    assert ag.csr_matrix_times_vector(1, 2, [1.0, 2.0], [1, 1], [0, 2], [5.0, 7.0]) == 21


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64, np.int8])
def test_places_of_every_type_of_whole_numbers(kind):
    columns, places = V.astype(kind), U.astype(kind)
    np.testing.assert_array_equal(ag.csr_to_dense_matrix(3, 4, W, columns, places), A)
    np.testing.assert_array_equal(ag.csr_matrix_times_vector(3, 4, W, columns, places, B), A @ B)
    with pytest.raises(ag.DomainError, match=r"u\[2\] is 2, but must be at least u\[1\] = 3"):
        ag.csr_to_dense_matrix(3, 4, W, columns, np.array([0, 3, 2, 4], dtype=kind))
    largest = np.iinfo(kind).max
    with pytest.raises(ag.DomainError, match=rf"v\[0\] is {largest}, but must be a column, 0 to 3"):
        ag.csr_to_dense_matrix(1, 4, [1.0], np.array([largest]), np.array([0, 1], dtype=kind))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ag.csr_extract(np.ones(3)), ag.ShapeError, r"csr_extract: a has shape \(3,\), but must have shape \(m, n\)"),
        (lambda: ag.grad(lambda a: ag.csr_extract_w(a)[0])(A), TypeError, "a is recorded, but must be plain"),
        (lambda: ag.csr_to_dense_matrix(3, 4, W, V[:2], U), ag.ShapeError, r"v has shape \(2,\), but must have shape \(4,\)"),
        (lambda: ag.csr_to_dense_matrix(2, 4, W, V, U), ag.ShapeError, r"u has shape \(4,\), but must have shape \(3,\)"),
        (lambda: ag.csr_to_dense_matrix(3, 3, W, V, U), ag.DomainError, r"v\[1\] is 3, but must be a column, 0 to 2"),
        (lambda: ag.csr_to_dense_matrix(3, 5, W, V + 0.5, U), ag.DomainError, "v is of type float64, but must be of whole"),
        (lambda: ag.csr_to_dense_matrix(3, 4, W, V, U + 1), ag.DomainError, "u is from 1 to 5, but must be from 0 to 4"),
        (
            lambda: ag.csr_to_dense_matrix(3, 4, W, V, [0, 3, 2, 4]),
            ag.DomainError,
            r"u\[2\] is 2, but must be at least u\[1\] = 3",
        ),
        (lambda: ag.csr_matrix_times_vector(3, 4, W, V, U, B[:3]), ag.ShapeError, r"b has shape \(3,\), but must have shape"),
    ],
)
def test_faults(call, error, message):
    with pytest.raises(error, match=message):
        call()
