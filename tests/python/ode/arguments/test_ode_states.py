"""States that are matrices or trees of arrays: what the right-hand side sees, results, events, tolerances and derivatives."""

import dataclasses
import re

import numpy as np
import pytest

import agrad as ag

FINE = {"rtol": 1e-10, "atol": 1e-12}
SPINS = np.array([[0.0, 1.0], [-1.0, 0.0]])
Y0 = np.array([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]])


def rotation(t):
    return np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]])


def spin(t, y, k=1.0):
    return k * (SPINS @ y)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
@pytest.mark.parametrize("t_span", [(0.0, 1.5), (1.5, 0.0)])
@pytest.mark.parametrize("y0", [Y0, Y0.tolist()], ids=["array", "lists"])
def test_a_matrix(method, t_span, y0):
    times = [t_span[0], 0.5, 0.5, t_span[1]]
    got = ag.solve_ivp(spin, t_span, y0, method, times, args=(1.2,), **FINE)
    expected = np.stack([rotation(1.2 * (t - t_span[0])) @ Y0 for t in times], axis=-1)
    assert got.y.shape == (2, 3, 4)
    np.testing.assert_allclose(got.y, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("make", [lambda f: f, ag.compile], ids=["plain", "compiled"])
def test_a_matrix_is_differentiated(make):
    def end(y0, k):
        return ag.solve_ivp(spin, (0.0, 1.5), y0, "Tsit5", args=(k,), **FINE).y[:, :, -1]

    to_y0, to_k = make(ag.jacobian(end, argnums=(0, 1)))(Y0, 1.2)
    np.testing.assert_allclose(to_y0, np.einsum("ia,jb->ijab", rotation(1.8), np.eye(3)), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(to_k, 1.5 * SPINS @ rotation(1.8) @ Y0, rtol=1e-8, atol=1e-9)
    hessian = make(ag.hessian(lambda k: np.sum(end(Y0, k))))(1.2)
    np.testing.assert_allclose(hessian, -2.25 * np.sum(rotation(1.8) @ Y0), rtol=1e-7)


def linked(t, y, k):
    """A pendulum's angle and speed beside two amounts, of which one flows into the other."""
    assert y["turn"].shape == (2,)
    assert y["rest"][0].shape == ()
    flow = k * y["rest"][0]
    return {"turn": [y["turn"][1], -y["turn"][0]], "rest": (-flow, flow * np.ones((1, 2)))}


TREE = {"turn": [1.0, 0.0], "rest": (2.0, np.zeros((1, 2)))}


def test_a_tree():
    times = np.array([0.0, 0.5, 2.0])

    def solved(k, y0=None, **options):
        return ag.solve_ivp(linked, (0.0, 2.0), y0 or TREE, "Tsit5", times, args=(k,), **FINE, **options)

    y = solved(0.7).y
    assert isinstance(y["rest"], tuple)
    np.testing.assert_allclose(y["turn"], [np.cos(times), -np.sin(times)], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(y["rest"][0], 2 * np.exp(-0.7 * times), rtol=1e-8)
    assert y["rest"][1].shape == (1, 2, 3)
    np.testing.assert_allclose(y["rest"][1][0, 1], 2 - 2 * np.exp(-0.7 * times), rtol=1e-8)

    def last(y0, k):
        y = solved(k, y0).y
        return y["rest"][1][0, 0, -1] + y["turn"][0, -1]

    y0 = {"turn": np.array([1.0, 0.0]), "rest": (2.0, np.zeros((1, 2)))}
    to_y0, to_k = ag.grad(last, argnums=(0, 1))(y0, 0.7)
    np.testing.assert_allclose(to_k, 4 * np.exp(-1.4), rtol=1e-7)
    np.testing.assert_allclose(to_y0["turn"], [np.cos(2.0), np.sin(2.0)], rtol=1e-7)
    np.testing.assert_allclose(to_y0["rest"][0], 1 - np.exp(-1.4), rtol=1e-7)
    np.testing.assert_allclose(to_y0["rest"][1], [[1.0, 0.0]], rtol=1e-7)
    sol = solved(0.7, dense_output=True).sol
    np.testing.assert_allclose(sol(1.1)["turn"], [np.cos(1.1), -np.sin(1.1)], rtol=1e-8)
    assert sol([1.1, 0.2])["rest"][1].shape == (1, 2, 2)


@dataclasses.dataclass
class Ball:
    height: float
    speed: float


def test_events_and_resets_of_a_dataclass():
    def solved(r):
        floor = ag.Event(lambda t, y: y.height, reset=lambda t, y: Ball(0.0, -r * y.speed), direction=-1)
        return ag.solve_ivp(lambda t, y: Ball(y.speed, -9.81), (0.0, 2.0), Ball(2.0, 0.0), "Tsit5", events=floor, **FINE)

    result = solved(0.8)
    fall = np.sqrt(4 / 9.81)
    np.testing.assert_allclose(result.t_events[0], [fall, 2.6 * fall], rtol=1e-8)
    np.testing.assert_allclose(result.y_events[0].speed, -9.81 * fall * np.array([1.0, 0.8]), rtol=1e-8)
    np.testing.assert_allclose(ag.grad(lambda r: solved(r).t_events[0][1])(0.8), 2 * fall, rtol=1e-7)
    assert result.y.height.shape == (2,)


def test_tolerances_of_a_tree():
    given = {"turn": [1e-9, 1e-8], "rest": (1e-7, 1e-6)}
    got = ag.solve_ivp(linked, (0.0, 2.0), TREE, "Tsit5", args=(0.7,), atol=given)
    flat = ag.solve_ivp(
        lambda t, y: [-0.7 * y[0], 0.7 * y[0], 0.7 * y[0], y[4], -y[3]],
        (0.0, 2.0), [2.0, 0.0, 0.0, 1.0, 0.0], "Tsit5", atol=[1e-7, 1e-6, 1e-6, 1e-9, 1e-8],
    )  # fmt: skip
    np.testing.assert_allclose(got.y["turn"], flat.y[3:], rtol=1e-13)
    each = np.array([1e-8, 1e-7, 1e-6])
    same = ag.solve_ivp(spin, (0.0, 1.0), Y0, atol=np.stack([each, each]))
    np.testing.assert_array_equal(ag.solve_ivp(spin, (0.0, 1.0), Y0, atol=each).y, same.y)


def test_doses_count_the_flattened_states():
    doses = [ag.Dose(0.5, 5, 3.0)]
    got = ag.solve_ivp(lambda t, y: 0.0 * y, (0.0, 1.0), Y0, "Tsit5", doses=doses).y[..., -1]
    np.testing.assert_array_equal(got - Y0, [[0, 0, 0], [0, 0, 3.0]])


@pytest.mark.parametrize("y0", [1.0, [1.0], (1.0,), np.array(1.0), np.array([1.0]), (np.float64(1.0),), [np.array(1.0)]])
def test_a_vector_is_one_as_before(y0):
    got = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0)
    assert got.y.shape == (1, 2)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"fun": lambda t, y: np.ones(6)}, ag.ShapeError, "result is of shape (6,), but must be of shape (2, 3)"),
        ({"fun": lambda t, y: None}, TypeError, "result is None, but must be the derivatives of the states"),
        ({"y0": {"a": 1.0}, "fun": lambda t, y: [1.0]}, TypeError, "result is [1.0], but must be of the struc"),
        ({"y0": {"a": 1.0}, "fun": lambda t, y: {"a": [1.0]}}, ag.ShapeError, "result['a'] is of shape (1,)"),
        ({"y0": {"a": "no"}}, TypeError, "y0['a'] is of dtype <U2, but must be real numbers"),
        ({"y0": {}}, ag.ShapeError, "y0 is of length 0, but must be of length 1 or more"),
        ({"y0": [[1.0], [1.0, 2.0]]}, ag.ShapeError, "y0 is ragged, but must be an array of real numbers"),
        ({"atol": np.ones(2)}, ag.ShapeError, "atol is of shape (2,), but must be of shape (2, 3); a number, or one"),
        ({"y0": {"a": 1.0}, "atol": {"b": 1.0}}, TypeError, "atol is {'b': 1.0}, but must be of the structure of y0"),
        ({"vectorized": True}, ValueError, "vectorized is True, but must be False where y0 is no vector"),
    ],
)
def test_refused(changes, error, message):
    with pytest.raises(error, match=r"^solve_ivp(\(<lambda>\))?: " + re.escape(message)):
        ag.solve_ivp(**({"fun": spin, "t_span": (0.0, 1.0), "y0": Y0} | changes))
