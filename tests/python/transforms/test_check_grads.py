"""check_grads: silent for right derivatives, and for each kind of wrong one a sentence with the coordinate and both values."""

import numpy as np
import pytest

import agrad as ag
from agrad import _core


def of_tree(p, scale):
    return {"first": p["a"] * np.sum(np.sin(p["b"])) * scale, "rest": [p["b"] ** 3 / scale, p["a"]]}


P = {"a": 2.0, "b": np.array([[1.0, -3.0]])}
X = np.array([1.2, -0.7, 0.4])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (of_tree, (P, 3.0)),
        (lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), (X,)),
        (lambda x: np.exp(x) @ np.ones(3), (X,)),
        (lambda x: 1e8 * x - 1e8 * x, (0.3,)),
        (lambda x: 1e6 * np.exp(x), (X,)),
        (lambda x: 5.0, (1.0,)),
        (lambda x: x[:0], (X,)),
        (lambda x: 1.0, (np.zeros((0, 2)),)),
        (lambda: 1.0, ()),
        (lambda x: x if x > 0 else -(x**2), (-2.0,)),
        (lambda y, sigma: ag.normal_lpdf(y, 0.0, sigma), (X, 1.3)),
    ],
)
def test_right_derivatives_pass(function, args):
    assert ag.check_grads(function, *args) is None
    assert ag.check_grads(function, *args, order=1) is None


def test_a_compiled_function_may_be_checked():
    ag.check_grads(ag.compile(of_tree), P, 3.0)


def test_a_kink_is_found_with_its_coordinate_and_both_values():
    with pytest.raises(AssertionError) as caught:
        ag.check_grads(lambda p: {"y": [p["x"], np.where(p["x"] > 0, 2 * p["x"], p["x"])]}, {"x": np.array([[1.0, 0.0]])})
    message = str(caught.value)
    assert message.startswith(
        "check_grads(<lambda>): derivative of result['y'][1][0, 1] with respect to argument 0['x'][0, 1] is 1.0, but must be "
    )
    assert message.endswith(" as by central differences; the step is 0.001; the function must be smooth and defined within it")


def test_a_function_that_reads_more_than_its_arguments_is_found():
    def f(x):
        return x * float(np.sum(x.recorded_values)) if isinstance(x, ag.Array) else x * float(np.sum(x))

    with pytest.raises(AssertionError, match=r"derivative of result with respect to argument 0 is 3.0, but must be (6.0|5.99)"):
        ag.check_grads(f, 3.0)


def test_a_value_outside_of_the_domain_is_found():
    with pytest.raises(AssertionError, match="but must be nan as by central differences"):
        ag.check_grads(lambda x: np.sqrt(x) * 1.0, 0.0)


@pytest.mark.parametrize("x", [1e-3, 1e-9, 1e9])
def test_steps_are_scaled_to_the_point(x):
    ag.check_grads(np.log, x)
    ag.check_grads(lambda p: p["a"] ** 3 / p["b"], {"a": x, "b": 2.0})


@pytest.mark.parametrize("seed", range(40))
def test_optima_are_no_faults(seed):
    """The gradient is zero there, and what is left of it is rounding."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((5, 5)), rng.standard_normal(5)
    a = a @ a.T + np.eye(5)
    ag.check_grads(lambda x: 0.5 * x @ a @ x - b @ x, np.linalg.solve(a, b))
    ag.check_grads(lambda x: np.sum(np.exp(x) - x + 1e6 * np.cos(x)), 1e-17 * b)


def test_a_wrong_derivative_at_an_optimum_is_found(monkeypatch):
    def change(result):
        result += 1e-9

    wrong(monkeypatch, "jacobian_products", change)
    with pytest.raises(AssertionError, match="the first value is by forward mode"):
        ag.check_grads(lambda x: np.sum((x - np.array([1.0, 2.0])) ** 2), np.array([1.0, 2.0]))


def wrong(monkeypatch, name, change):
    """Let a product of all programs come out changed."""
    right = getattr(_core.Program, name)

    def changed(self, *args):
        result = right(self, *args)
        change(result[-1])
        return result

    monkeypatch.setattr(_core.Program, name, changed)


def test_forward_mode_that_differs_from_reverse_mode_is_found(monkeypatch):
    def change(products):  # by 1e-10 of the derivative of output 1 with respect to input 2
        if products.shape == (3, 3):
            products[2, 1] += 1e-10
        else:
            products[0, 1] += 1e-10

    wrong(monkeypatch, "jacobian_products", change)
    with pytest.raises(
        AssertionError, match=r"result\[1\] with respect to argument 0\[2\] is 1e-10, but must be 0.0 as by reverse"
    ):
        ag.check_grads(lambda x: x**2, X)


def test_a_wrong_first_derivative_is_found(monkeypatch):
    wrong(monkeypatch, "adjoint_products", lambda products: products.__imul__(1 + 1e-5))
    wrong(monkeypatch, "jacobian_products", lambda products: products.__imul__(1 + 1e-5))
    with pytest.raises(AssertionError, match=r"derivative of result\[0\] with respect to argument 0\[0\] is 2.400024"):
        ag.check_grads(lambda x: x**2, X)


def test_a_hessian_that_is_not_symmetric_is_found(monkeypatch):
    def change(products):
        products[0, 2] += 1e-10

    wrong(monkeypatch, "hessian_products", change)
    message = r"second derivative of result with respect to argument 0\[[02]\] and argument 0\[[02]\] is .*in the other order"
    with pytest.raises(AssertionError, match=message):
        ag.check_grads(lambda x: np.sum(x) ** 2, X)
    ag.check_grads(lambda x: np.sum(x) ** 2, X, order=1)


def test_a_wrong_second_derivative_is_found(monkeypatch):
    wrong(monkeypatch, "hessian_products", lambda products: products.__imul__(1 + 1e-5))
    with pytest.raises(
        AssertionError, match=r"a combination of the results with respect to .* as by differences of the gradient"
    ):
        ag.check_grads(lambda x: x**3, X)


def test_differential_equations_have_first_order_only():
    def end(rate):
        solution = ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), [1.0], method="BDF", args=(rate,), rtol=1e-10, atol=1e-12)
        return solution.y[0, -1]

    with pytest.raises(NotImplementedError, match=r"^check_grads: solve_ivp has first derivatives only, .*; write order=1$"):
        ag.check_grads(end, 0.5)
    ag.check_grads(end, 0.5, order=1, step=1e-2, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ag.check_grads(3, 1.0), TypeError, "check_grads: function is 3, but must be callable"),
        (lambda: ag.check_grads(np.sin, 1.0, order=3), ValueError, "check_grads: order is 3, but must be 1 or 2"),
        (lambda: ag.check_grads(np.sin, 1.0, step=0.0), ValueError, "check_grads: step is 0.0, but must be positive"),
        (lambda: ag.check_grads(np.sin, 1), TypeError, "check_grads: argument 0 is of dtype int64, but must be floating-point"),
    ],
)
def test_misuse_is_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()
