"""solve_ivp(dense_output=...) and solve_ivp(return_partial=...)."""

import numpy as np
import pytest

import agrad as ag

METHODS = ["BDF", "Adams", "Tsit5", "DOP853", "Rodas4", "Rodas5P", "auto"]
TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def decay(t, y, k):
    return -k * y


def blow_up(t, y, a):
    """Y = a / (1 - a t) from y(0) = a."""
    return y**2


# ---- dense output


@pytest.mark.parametrize("method", METHODS)
def test_the_solution_at_any_times(method):
    result = ag.solve_ivp(decay, (0.0, 2.0), [1.0, 3.0], method, args=(0.7,), dense_output=True, **TIGHT)
    t = np.array([1.5, 0.0, 0.3, 1.5, 2.0])
    expected = np.array([[1.0], [3.0]]) * np.exp(-0.7 * t)
    np.testing.assert_allclose(result.sol(t), expected, rtol=1e-7)
    np.testing.assert_allclose(result.sol(0.3), expected[:, 2], rtol=1e-7)
    np.testing.assert_array_equal(result.sol(0.0), [1.0, 3.0])
    assert result.sol([]).shape == (2, 0)


def test_there_is_none_unless_asked_for():
    assert ag.solve_ivp(decay, (0.0, 2.0), [1.0], args=(0.7,)).sol is None


def test_it_is_differentiable_and_compiles():
    def late(k):
        return ag.solve_ivp(decay, (0.0, 2.0), [1.0], "Tsit5", args=(k,), dense_output=True, **TIGHT).sol(1.25)[0]

    expected = -1.25 * np.exp(-1.25 * 0.7)
    assert ag.grad(late)(0.7) == pytest.approx(expected, rel=1e-7)
    assert ag.compile(ag.grad(late))(0.7) == pytest.approx(expected, rel=1e-7)
    assert ag.hessian(late)(0.7) == pytest.approx(1.25**2 * np.exp(-1.25 * 0.7), rel=1e-6)


def test_it_has_the_doses():
    result = ag.solve_ivp(
        decay, (0.0, 2.0), [0.0], "Tsit5", args=(0.7,), doses=[ag.Dose(1.0, 0, 5.0)], dense_output=True, **TIGHT
    )
    np.testing.assert_allclose(result.sol([0.5, 1.5])[0], [0.0, 5 * np.exp(-0.35)], atol=1e-8)


def test_times_that_it_does_not_have():
    event = ag.Event(lambda t, y, k: y[0] - 0.5, terminal=True)
    result = ag.solve_ivp(decay, (0.0, 2.0), [1.0], "Tsit5", args=(0.7,), events=event, dense_output=True)
    with pytest.raises(ag.DomainError, match=r"sol: t is 3.0, but must be within t_span = \(0.0, 2.0\)"):
        result.sol(3.0)
    with pytest.raises(ag.DomainError, match=r"sol: t\[1\] is -1\.0, but must be within"):
        result.sol([1.0, -1.0])
    with pytest.raises(ag.DomainError, match=r"sol: t is 1\.9, but must not be after the terminal event"):
        result.sol([0.1, 1.9])
    with pytest.raises(ag.ShapeError, match=r"sol: t is of shape \(1, 1\), but must be"):
        result.sol([[1.0]])


# ---- partial results


@pytest.mark.parametrize("method", METHODS)
def test_what_comes_before_the_stop_is_returned(method):
    t = np.array([0.0, 0.5, 0.9, 1.1, 2.0])
    result = ag.solve_ivp(blow_up, (0.0, 2.0), [1.0], method, t, args=(1.0,), return_partial=True, **TIGHT)
    assert (result.success, result.status) == (False, -1)
    assert result.message.startswith("solve_ivp: stopped at t = ")
    np.testing.assert_array_equal(result.t, t[:3])
    np.testing.assert_allclose(result.y[0], 1 / (1 - t[:3]), rtol=1e-6)


def test_without_output_times_it_ends_close_to_the_stop():
    result = ag.solve_ivp(blow_up, (0.0, 2.0), [1.0], "Tsit5", args=(1.0,), return_partial=True, **TIGHT)
    assert result.status == -1
    assert result.t.shape == (2,)
    assert 0.998 < result.t[-1] < 1
    assert result.y[0, -1] > 500


def test_a_solve_that_succeeds_is_the_same():
    arguments = (decay, (0.0, 2.0), [1.0], "Tsit5", [0.5, 2.0])
    plain, partial = (ag.solve_ivp(*arguments, args=(0.7,), return_partial=flag) for flag in (False, True))
    assert partial.success
    assert partial.status == 0
    np.testing.assert_array_equal(plain.y, partial.y)


def test_nothing_was_reached():
    result = ag.solve_ivp(blow_up, (0.0, 2.0), [1.0], "Tsit5", [1.5, 2.0], args=(1.0,), return_partial=True)
    assert result.status == -1
    assert result.t.size == 0
    assert result.y.shape == (1, 0)
    first = ag.solve_ivp(blow_up, (0.0, 2.0), [1.0], "Tsit5", [0.0, 2.0], args=(1.0,), return_partial=True)
    np.testing.assert_array_equal(first.y, [[1.0]])


def test_what_was_reached_is_differentiable():
    def reached(a):
        result = ag.solve_ivp(blow_up, (0.0, 2.0), [a], "Tsit5", [0.5, 2.0], args=(a,), return_partial=True, **TIGHT)
        assert result.y.shape == (1, 1)
        return result.y[0, 0]

    assert ag.grad(reached)(1.0) == pytest.approx(4.0, rel=1e-6)  # of a / (1 - a / 2)
    assert ag.grad(reached)(0.8) == pytest.approx(1 / 0.36, rel=1e-6)


def test_the_solution_ends_where_it_ended():
    result = ag.solve_ivp(
        blow_up, (0.0, 2.0), [1.0], "Tsit5", [0.5, 2.0], args=(1.0,), return_partial=True, dense_output=True, **TIGHT
    )
    assert result.sol(0.25)[0] == pytest.approx(4 / 3, rel=1e-7)
    with pytest.raises(ag.DomainError, match="within t_span"):
        result.sol(0.6)


def test_faults_of_arguments_are_still_raised():
    with pytest.raises(ag.DomainError, match="t_eval"):
        ag.solve_ivp(decay, (0.0, 2.0), [1.0], "Tsit5", [0.5, 3.0], args=(0.7,), return_partial=True)
