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


def with_rule(f, rule):
    """Gives f a derivative by hand."""

    @ag.custom_vjp
    def g(x):
        return f(x)

    g.defvjp(lambda x: (f(x), x), lambda x, c: (rule(x) * c,))
    return g


PEAK = 1e-4, lambda u: np.exp(-(u**2)), lambda u: -2 * u * np.exp(-(u**2))
SINE = 1e-12, np.sin, np.cos
WIDE = 1e9, np.sin, np.cos


@pytest.mark.parametrize("height", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("u", [0.7, 0.0, -1.3])
@pytest.mark.parametrize(("width", "f", "slope"), [PEAK, SINE, WIDE])
def test_functions_of_any_width_and_height(width, f, slope, u, height):
    """A step of 1e-3 sees nothing of a narrow peak, and whole periods of a fast oscillation."""
    right = with_rule(lambda x: height * f(x / width), lambda x: height / width * slope(x / width))
    ag.check_grads(right, u * width, order=1)
    ag.check_grads(lambda x: height * f(x / width), u * width)
    ag.check_grads(lambda x: 1.0 + f((x - 1.0) / 1e-4), 1.0 + u * 1e-4)
    if slope(u) == 0:
        return
    for factor in (0.0, 1 + 1e-4, -5.0):
        rule = lambda x, factor=factor: factor * height / width * slope(x / width)  # noqa: E731
        with pytest.raises(AssertionError, match=r"^check_grads\(g\): derivative of result with respect to argument 0 is "):
            ag.check_grads(with_rule(lambda x: height * f(x / width), rule), u * width, order=1)


def test_a_peak_that_the_first_step_misses():
    peak = with_rule(lambda x: np.exp(-((x / 1e-4) ** 2)), lambda x: 0.0 * x)
    with pytest.raises(AssertionError, match=r"is 0.0, but must be -8576.76.* as by central differences"):
        ag.check_grads(peak, 0.7e-4, order=1)
    off_zero = with_rule(lambda x: 1 + np.exp(-(((x - 1) / 1e-4) ** 2)), lambda x: 0.0 * x)
    with pytest.raises(AssertionError, match=r"is 0.0, but must be -8576.76"):
        ag.check_grads(off_zero, 1 + 0.7e-4, order=1)


def test_a_step_of_a_whole_period():
    """All values are equal at the first step."""
    wave = with_rule(lambda x: np.sin(2e3 * np.pi * x), lambda x: 0.0 * x)
    with pytest.raises(AssertionError, match=r"is 0.0, but must be 6283.1"):
        ag.check_grads(wave, 0.0, order=1)


def test_small_derivatives_are_not_passed_by_atol_unless_it_is_given():
    small = with_rule(lambda x: 1e-9 * np.sin(x), lambda x: -5e-9 * np.cos(x))
    with pytest.raises(AssertionError, match=r"is -2.70.*e-09, but must be 5.40.*e-10 as by central differences"):
        ag.check_grads(small, 1.0, order=1)
    ag.check_grads(small, 1.0, order=1, atol=1e-8)


def test_noise_of_values_is_allowed_up_to_1e_8():
    """Rounding errors of 1e-16, of the cancelled 1, are large beside values of 1e-9."""
    ag.check_grads(lambda x: (1.0 + 1e-9 * np.cos(x)) - 1.0, 1.0)
    ag.check_grads(lambda x: (1.0 + 1e-12 * np.cos(x)) - 1.0, 1.0, order=1)


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
    with pytest.raises(AssertionError, match=r"derivative of result with respect to argument 0 is 2.400024"):
        ag.check_grads(lambda x: x**2, 1.2)
    with pytest.raises(AssertionError, match=r"derivative of result\[([012])\] with respect to argument 0\[\1\] is "):
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
