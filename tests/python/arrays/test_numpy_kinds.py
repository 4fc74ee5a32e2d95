"""NumPy's arrays of other kinds beside recorded values: masked ones, matrices, and booleans as results."""

import numpy as np
import pytest

import agrad as ag

MASKED = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.sum(x * MASKED), r"^multiply: argument is a masked array, but must be a plain one, .* m.filled\(value\)"),
        (lambda x: np.dot(x, MASKED), r"a masked array, but must be a plain one"),
        (lambda x: np.sum(np.where(x > 0, MASKED, x)), r"a masked array, but must be a plain one"),
        (lambda x: np.sum(np.concatenate([x, MASKED])), r"a masked array, but must be a plain one"),
        (lambda x: np.sum(np.matrix(np.eye(3)) * x), r"^multiply: argument is an np.matrix, but must be an array, .* @"),
        (lambda x: np.sum(x * np.matrix(np.eye(3))), r"^multiply: argument is an np.matrix, but must be an array"),
        (lambda x: np.sum(np.matrix(np.eye(3)) @ x), r"an np.matrix, but must be an array"),
    ],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_masked_arrays_and_matrices_are_refused(f, message):
    for transform in (ag.grad, ag.compile, ag.jacfwd, ag.vmap):
        with pytest.raises(TypeError, match=message):
            transform(f)(X if transform is not ag.vmap else X[None])


def test_numpys_masked_operators_keep_the_mask():
    np.testing.assert_array_equal(ag.grad(lambda x: np.sum(MASKED * x))(X), [1.0, 0.0, 3.0])


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_masked_arguments_are_refused():
    def f(x):
        return np.sum(x**2)

    known = ag.compile(f)
    assert known(X) == 14.0
    for function in (ag.grad(f), ag.jacobian(f), ag.hessian(f), ag.compile(f), known, ag.compile(ag.grad(f))):
        with pytest.raises(TypeError, match=r": argument 0 is a masked array, but must be a plain one"):
            function(MASKED)
        with pytest.raises(TypeError, match=r": argument 0 is an np.matrix, but must be an array"):
            function(np.matrix(X))
    with pytest.raises(TypeError, match=r"^grad: argument 0\['a'\] is a masked array"):
        ag.grad(lambda p: np.sum(p["a"]))({"a": MASKED})
    with pytest.raises(TypeError, match="is a masked array"):
        ag.jvp(f, (MASKED,), (X,))


def test_a_truth_has_no_derivative():
    message = r"^{}\(<lambda>\): result is a boolean or an array of booleans, but must be real numbers"
    for transform in (ag.grad, ag.value_and_grad, ag.hessian, ag.jacobian, ag.jacfwd, ag.jacrev):
        for f in (lambda x: x > 1.0, lambda x: (x > 1.0) & (x < 2.0), lambda x: True, lambda x: np.isfinite(x)):
            for run in (transform(f), ag.compile(transform(f))):
                with pytest.raises(TypeError, match=message.format(transform.__name__)):
                    run(1.5)
    assert ag.compile(lambda x: x > 1.0)(1.5)
    assert ag.grad(lambda x: (2.0 * x, x > 1.0), has_aux=True)(1.5) == (2.0, True)
    assert ag.grad(lambda x: np.where(x > 1.0, x, 0.0))(1.5) == 1.0
