"""SciPy's names of methods, and the arguments of its solve_ivp that help its own methods."""

import re

import numpy as np
import pytest
import scipy.integrate

import agrad as ag

FINE = {"rtol": 1e-9, "atol": 1e-11}


def decay(t, y, k=1.0):
    return -k * y


@pytest.mark.parametrize(("theirs", "ours"), [("Radau", "Rodas5P"), ("LSODA", "auto"), ("RK23", "Tsit5")])
def test_a_method_of_scipys_is_served_by_one_that_is_here(theirs, ours):
    got = ag.solve_ivp(decay, (0.0, 2.0), [1.0, 2.0], theirs, args=(0.7,))
    same = ag.solve_ivp(decay, (0.0, 2.0), [1.0, 2.0], ours, args=(0.7,))
    np.testing.assert_array_equal(got.y, same.y)
    assert got.message == f"{same.message} {ours!r} was used instead of {theirs!r}."
    many = ag.solve_many(decay, [ag.Subject((0.0, 2.0), [1.0, 2.0], args=(0.7,))], theirs)[0]
    np.testing.assert_array_equal(many.y, got.y)
    assert many.message == got.message
    assert got.explain().method == ours
    end = lambda k: ag.solve_ivp(decay, (0.0, 2.0), [1.0], theirs, args=(k,), **FINE).y[0, -1]  # noqa: E731
    np.testing.assert_allclose(ag.grad(end)(0.7), -2 * np.exp(-1.4), rtol=1e-7)


def test_names_are_as_they_are_written():
    for function in (ag.solve_ivp, lambda *a: ag.solve_many(decay, [ag.Subject((0.0, 1.0), [1.0])], a[3])):
        with pytest.raises(ValueError, match="method is 'lsoda', but must be one of 'Adams', 'BDF', 'auto', 'Tsit5'"):
            function(decay, (0.0, 1.0), [1.0], "lsoda")


def robertson(t, y):
    slow, back, fast = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [back - slow, slow - back - fast, fast]


@pytest.mark.parametrize("jac", [lambda t, y: np.zeros((3, 3)), np.eye(3)], ids=["callable", "matrix"])
@pytest.mark.parametrize("method", ["Radau", "BDF", "Tsit5"])
def test_a_jacobian_is_taken_and_not_used(jac, method):
    end = 40.0 if method != "Tsit5" else 0.01
    got = ag.solve_ivp(robertson, (0.0, end), [1.0, 0.0, 0.0], method, jac=jac)
    np.testing.assert_array_equal(got.y, ag.solve_ivp(robertson, (0.0, end), [1.0, 0.0, 0.0], method).y)
    assert got.message.endswith(" The exact Jacobian of fun is used, jac is not.")


def heat(t, y, k=1.0):
    return k * (np.concatenate([y[1:], [0.0]]) - 2 * y + 0.5 * np.concatenate([[0.0], y[:-1]]))


@pytest.mark.parametrize("method", ["LSODA", "Rodas4", "BDF"])
def test_half_bandwidths(method):
    y0 = np.linspace(1.0, 2.0, 30)
    got = ag.solve_ivp(heat, (0.0, 1.0), y0, method, lband=1, uband=1, linear_solver="banded", **FINE)
    theirs = scipy.integrate.solve_ivp(heat, (0.0, 1.0), y0, "LSODA", lband=1, uband=1, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(got.y[:, -1], theirs.y[:, -1], rtol=1e-6)
    upper = ag.solve_ivp(lambda t, y: np.concatenate([y[1:], [0.0]]) - y, (0.0, 1.0), y0, method, uband=1, **FINE)
    np.testing.assert_allclose(upper.y[-1, -1], 2.0 * np.exp(-1.0), rtol=1e-7)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"method": "Tsit5", "lband": 1},
            ValueError,
            "solve_ivp: linear_solver or (lband, uband) is given, but must",
        ),
        (
            {"method": "BDF", "lband": 1, "jac_sparsity": (1, 1)},
            ValueError,
            "solve_ivp: jac_sparsity is given, but must not be",
        ),
        ({"method": "BDF", "lband": 0.5}, TypeError, "solve_ivp: (lband, uband) is (0.5, 0), but must be whole numbers"),
        ({"method": "BDF", "lband": 1}, ValueError, "solve_ivp: (lband, uband)"),
    ],
)
def test_half_bandwidths_that_are_refused(options, error, message):
    """The last one misses entries above the diagonal."""
    with pytest.raises(error, match="^" + re.escape(message)):
        ag.solve_ivp(heat, (0.0, 1.0), np.ones(30), **options)


@pytest.mark.parametrize(
    "fun",
    [
        lambda t, y, k: np.vstack([y[1], -k * y[0]]),
        lambda t, y, k: [y[1], -k * y[0]],
        lambda t, y, k: y[::-1] * np.array([[1.0], [-1.0]]) * np.stack([1.0 + 0.0 * k, k])[:, None],
    ],
)
@pytest.mark.parametrize("t_span", [(0.0, 1.5), (1.5, 0.0)])
def test_a_vectorized_right_hand_side_gets_a_column(fun, t_span):
    shapes = []

    def seen(t, y, k):
        shapes.append(y.shape)
        return fun(t, y, k)

    def end(k):
        return ag.solve_ivp(seen, t_span, [1.0, 0.0], "Tsit5", args=(k,), vectorized=True, **FINE).y[0, -1]

    np.testing.assert_allclose(ag.value_and_grad(end)(1.44), [np.cos(1.8), -np.sin(1.8) * 1.5 / 2.4], rtol=1e-7)
    assert set(shapes) == {(2, 1)}
    theirs = scipy.integrate.solve_ivp(
        lambda t, y: np.reshape(fun(t, y, 1.44), y.shape), t_span, [1.0, 0.0], vectorized=True, method="Radau", rtol=1e-8
    )
    np.testing.assert_allclose(end(1.44), theirs.y[0, -1], rtol=1e-4)


def test_a_vectorized_right_hand_side_is_named_in_messages():
    def nothing(t, y):
        return None

    with pytest.raises(TypeError, match=r"^solve_ivp\(nothing\): result is None"):
        ag.solve_ivp(nothing, (0.0, 1.0), [1.0], vectorized=True)
