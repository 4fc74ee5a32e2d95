"""What SciPy's users write: it works as it does there, or an error says what to write instead."""

import math

import numpy as np
import pytest
import scipy.integrate

import agrad as ag

FINE = {"rtol": 1e-10, "atol": 1e-12}


# ---- right-hand sides --------------------------------------------------------------------------------------------------


def filled(t, y, k):
    d = np.zeros(2)
    d[0] = y[0] * k
    return d


def unpacked(t, y, k):
    d = np.empty(2)
    d[0], d[1] = y
    return d


@pytest.mark.parametrize("fun", [filled, unpacked])
@pytest.mark.parametrize("method", ["Tsit5", "BDF"])
def test_a_plain_array_that_is_filled_is_refused_in_plain_words(fun, method):
    message = (
        rf"^solve_ivp\({fun.__name__}\): the value of an item assignment is recorded, but must be a plain number where the "
        r"array is NumPy's own; write the list \[a, b\], ag.array\(\[a, b\]\), or np.zeros\(n, like=x\)"
    )
    with pytest.raises(TypeError, match=message):
        ag.solve_ivp(fun, (0.0, 1.0), [1.0, 2.0], method, args=(0.5,))
    with pytest.raises(TypeError, match=message.replace("solve_ivp", "ode_tsit5")):
        ag.ode_tsit5(fun, [1.0, 2.0], 0.0, [1.0], 0.5)
    with pytest.raises(TypeError, match=message.replace("solve_ivp", "solve_many")):
        ag.solve_many(fun, [ag.Subject((0.0, 1.0), [1.0, 2.0], args=(0.5,))], method)


def test_what_the_message_says_works():
    def by_zeros(t, y, k):
        d = np.zeros(2, like=y)
        d[0] = y[0] * k
        return d

    def end(k, fun):
        return ag.solve_ivp(fun, (0.0, 1.0), [1.0, 2.0], args=(k,), **FINE).y[0, -1]

    for fun in (by_zeros, lambda t, y, k: [y[0] * k, 0.0], lambda t, y, k: ag.array([y[0] * k, 0.0])):
        np.testing.assert_allclose(ag.value_and_grad(end)(0.5, fun), [math.exp(0.5)] * 2, rtol=1e-8)


def test_a_function_of_math_is_refused_with_numpys_name():
    with pytest.raises(TypeError, match=r"^float: argument is a recorded value, .*\(np\.exp, not math\.exp\)$"):
        ag.solve_ivp(lambda t, y: [math.exp(-y[0])], (0.0, 1.0), [1.0])


def test_another_error_of_a_right_hand_side_comes_out_unchanged():
    def ragged(t, y):
        return np.array([[1.0], [1.0, 2.0]])

    with pytest.raises(ValueError, match=r"^setting an array element with a sequence") as caught:
        ag.solve_ivp(ragged, (0.0, 1.0), [1.0])
    assert caught.type is ValueError


# ---- results -----------------------------------------------------------------------------------------------------------


def decay(t, y, k=1.0):
    return -k * y


@pytest.mark.parametrize("method", ["Tsit5", "BDF"])
def test_a_result_is_a_mapping_as_scipys_is(method):
    event = ag.Event(lambda t, y: y[0] - 0.5)
    result = ag.solve_ivp(decay, (0.0, 2.0), [1.0], method, events=event, dense_output=True)
    theirs = scipy.integrate.solve_ivp(decay, (0.0, 2.0), [1.0], events=lambda t, y: y[0] - 0.5, dense_output=True)
    assert set(theirs.keys()) <= set(result.keys()) == set(result)
    for name in result:
        assert result[name] is getattr(result, name) or np.all(np.equal(result[name], getattr(result, name)))
        assert not name.startswith("_")
    assert len(result) == len(result.items()) == len(result.values())
    assert {**result}["t_events"][0] == pytest.approx([np.log(2)], rel=1e-4)
    assert result.get("y") is result.y
    assert result.get("x") is None
    assert "x" not in result
    with pytest.raises(KeyError, match="_hits"):
        result["_hits"]
    for name, counted in (("nfev", "rhs_evaluations"), ("njev", "jacobian_evaluations"), ("nlu", "factorizations")):
        assert result[name] == result.stats[counted]


def test_a_result_that_is_differentiated_is_a_mapping():
    def end(k):
        result = ag.solve_ivp(decay, (0.0, 1.0), [1.0], args=(k,), **FINE)
        assert result["y"] is result.y
        return result["y"][0, -1]

    np.testing.assert_allclose(ag.grad(end)(0.5), -math.exp(-0.5), rtol=1e-7)
    many = ag.solve_many(decay, [ag.Subject((0.0, 1.0), [1.0])])
    assert many[0]["success"]
    assert many[0]["t_events"] is None


# ---- arguments' names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("events", [None, lambda t, y: y[0]])
def test_messages_name_the_right_hand_side_as_its_caller_does(events):
    with pytest.raises(TypeError, match=r"^solve_ivp: fun is 3, but must be callable as fun\(t, y, \.\.\.\)$"):
        ag.solve_ivp(3, (0.0, 1.0), [1.0], events=events)
    with pytest.raises(TypeError, match=r"^solve_many: fun is None, but must be callable as fun\(t, y, \.\.\.\)$"):
        ag.solve_many(None, [ag.Subject((0.0, 1.0), [1.0])])
    with pytest.raises(TypeError, match=r"^ode_tsit5: f is 3, but must be callable as f\(t, y, \.\.\.\)$"):
        ag.ode_tsit5(3, [1.0], 0.0, [1.0])
    with pytest.raises(ag.ShapeError, match=r"^solve_ivp: the result of fun is of shape \(1, 1\), but must be a vector$"):
        ag.grad(lambda t0: ag.solve_ivp(lambda t, y: [[1.0]], (t0, 1.0), [1.0], t_eval=[0.0]).y[0, 0])(0.0)
