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


# ---- times and tolerances ----------------------------------------------------------------------------------------------


def square(t, y, k=1.0):
    """The right-hand side of y = 1 / (1 + k (t - t0))."""
    return -k * y**2


@pytest.mark.parametrize("method", ["Tsit5", "BDF"])
@pytest.mark.parametrize("options", [{}, {"doses": [ag.Dose(1.5, 0, 1.0)]}, {"tstops": [0.7]}], ids=["plain", "doses", "stops"])
def test_times_may_be_repeated(method, options):
    times = np.array([0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.5, 2.0, 2.0])
    once, back = np.unique(times, return_inverse=True)
    got = ag.solve_ivp(square, (0.0, 2.0), [1.0, 2.0], method, times, **options)
    np.testing.assert_array_equal(got.t, times)
    np.testing.assert_array_equal(got.y, ag.solve_ivp(square, (0.0, 2.0), [1.0, 2.0], method, once, **options).y[:, back])
    loss = lambda k: np.sum(ag.solve_ivp(square, (0.0, 2.0), [1.0], method, times, args=(k,), **FINE).y)  # noqa: E731
    np.testing.assert_allclose(ag.grad(loss)(0.8), np.sum(-times / (1 + 0.8 * times) ** 2), rtol=1e-6)


def test_repeated_times_beyond_a_terminal_event_are_cut_off():
    event = ag.Event(lambda t, y: y[0] - 0.4, terminal=True)
    got = ag.solve_ivp(square, (0.0, 3.0), [1.0], "Tsit5", [1.0, 1.0, 1.2, 2.0, 2.0], events=event)
    np.testing.assert_array_equal(got.t, [1.0, 1.0, 1.2])
    partial = ag.solve_ivp(lambda t, y: y**2, (0.0, 3.0), [1.0], "Tsit5", [0.0, 0.0, 0.5, 0.5, 2.0], return_partial=True)
    np.testing.assert_array_equal(partial.t, [0.0, 0.0, 0.5, 0.5])
    np.testing.assert_allclose(partial.y[0], [1.0, 1.0, 2.0, 2.0], rtol=1e-5)
    nothing = ag.solve_ivp(lambda t, y: np.log(-y), (0.0, 3.0), [1.0], "Tsit5", [0.0, 0.0, 0.5], return_partial=True)
    np.testing.assert_array_equal(nothing.y, [[1.0, 1.0]])


@pytest.mark.parametrize("method", ["Tsit5", "BDF"])
@pytest.mark.parametrize("t_span", [(0.0, 4.0), (4.0, 0.0)])
def test_repeated_times_are_differentiated_each_by_itself(method, t_span):
    times = np.array([0.0, 0.0, 1.0, 1.0, 2.0]) if t_span[0] == 0 else np.array([4.0, 4.0, 3.5, 3.5, 3.2])

    def states(times):
        return ag.solve_ivp(square, t_span, [1.0], method, times, **FINE).y[0]

    slopes = np.diag(-1 / (1 + times - t_span[0]) ** 2)
    np.testing.assert_allclose(ag.jacobian(states)(times), slopes, rtol=1e-6, atol=1e-12)
    compiled = ag.compile(states)
    for moved in (times, times[0] + (times - times[0]) * [1, 1, 0.9, 1, 1]):
        moved = np.sort(moved) if t_span[0] == 0 else np.sort(moved)[::-1]
        np.testing.assert_allclose(compiled(moved.copy()), 1 / (1 + moved - t_span[0]), rtol=1e-7)


def test_subjects_may_repeat_their_times():
    subjects = [ag.Subject(span, [1.0], [0.5, 0.5, 1.0, 1.0][::step]) for span, step in (((0.0, 2.0), 1), ((2.0, 0.4), -1))]
    for subject, result in zip(subjects, ag.solve_many(decay, subjects, **FINE), strict=True):
        np.testing.assert_array_equal(result.t, subject.t_eval)
        np.testing.assert_allclose(result.y[0], np.exp(subject.t_span[0] - result.t), rtol=1e-8)


def turning(t, y, k=1.0):
    return [k * y[1], -k * y[0]]


@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas4", "Rodas5P", "auto", "BDF", "Adams"])
@pytest.mark.parametrize("atol", [0, 0.0, [0.0, 1e-9]])
def test_atol_may_be_zero(method, atol):
    """A state that begins at zero takes some steps more; SciPy divides by zero there."""

    def end(k):
        return ag.solve_ivp(turning, (0.0, 1.0), [1.0, 0.0], method, args=(k,), rtol=1e-8, atol=atol).y[0, -1]

    np.testing.assert_allclose(end(1.2), np.cos(1.2), rtol=1e-6)
    np.testing.assert_allclose(ag.grad(end)(1.2), -np.sin(1.2), rtol=1e-5)
    many = ag.solve_many(turning, [ag.Subject((0.0, 1.0), [1.0, 0.0])], method, rtol=1e-8, atol=atol)[0]
    np.testing.assert_allclose(many.y[:, -1], [np.cos(1.0), -np.sin(1.0)], rtol=1e-6)


@pytest.mark.parametrize("sensitivities", ["forward", "auto"])
def test_atol_may_be_zero_with_forward_sensitivities(sensitivities):
    def end(k):
        return ag.solve_ivp(decay, (0.0, 1.0), [1.0], "BDF", args=(k,), rtol=1e-8, atol=0, sensitivities=sensitivities).y[0, -1]

    np.testing.assert_allclose(ag.grad(end)(1.2), -np.exp(-1.2), rtol=1e-6)
