"""explain: what limited the steps, of problems for which that is known."""

import copy

import numpy as np
import pytest

import agrad as ag
from agrad._ode.method_table import METHODS as ONE_STEP

METHODS = ["BDF", "Adams", *ONE_STEP]
MULTISTEP = ("BDF", "Adams")


def predation(t, y, growth=0.55):
    return [growth * y[0] - 0.03 * y[0] * y[1], 0.025 * y[0] * y[1] - 0.8 * y[1]]


def stiff(t, y):
    return [-y[0], 1e3 * (y[0] - y[1])]


def solve(method, t_eval=None, end=20.0, fun=predation, y0=(30.0, 4.0), **options):
    return ag.solve_ivp(fun, (0.0, end), list(y0), method, t_eval, **options)


@pytest.mark.parametrize("method", METHODS)
def test_the_steps_are_those_of_the_solve(method):
    result = solve(method, np.linspace(0.0, 20.0, 7))
    report = result.explain()
    columns = report.columns
    assert report.method == method
    assert report.steps == result.nst == columns["t"].size == sum(report.limits.values())
    assert report.rejected == result.stats["error_test_failures"] + result.stats["convergence_failures"]
    assert report.span == (0.0, pytest.approx(20.0))
    ends = columns["t"] + columns["h"]
    np.testing.assert_allclose(ends[:-1], columns["t"][1:], rtol=1e-10, atol=1e-12)
    assert report.sizes.smallest == columns["h"].min() <= report.sizes.median <= report.sizes.largest == columns["h"].max()
    assert columns["h"][columns["t"] == report.sizes.t_largest] == report.sizes.largest
    assert np.all(columns["error"] <= 1)
    assert sum(share.steps for share in report.states) == report.limits["error"]
    assert report.limits["end"] >= 1
    assert (report.limits["outputs"] > 0) == (method not in MULTISTEP)
    assert report.stopped is None


@pytest.mark.parametrize("method", METHODS)
def test_the_state_with_a_tight_atol_dominates(method):
    """Two decays alike, but that the second has a tolerance of its own, which is all atol as it is small."""
    result = solve(method, end=5.0, fun=lambda t, y: -y * np.cos(t), y0=(1.0, 1e-6), rtol=1e-6, atol=[1e-3, 1e-13])
    report = result.explain()
    top = report.states[0]
    assert top.state == 1
    assert top.atol == 1e-13
    assert top.steps >= 0.7 * report.limits["error"]
    assert 1e-7 < top.size < 1e-5
    assert not top.by_atol  # 1e-6 times 1e-6 is more
    tighter = solve(method, end=5.0, fun=lambda t, y: -y * np.cos(t), y0=(1.0, 1e-9), rtol=1e-6, atol=1e-13).explain()
    assert 0 in [share.state for share in tighter.states]
    strict = solve(method, end=5.0, fun=lambda t, y: -y * np.cos(t), y0=(1.0, 1.0), rtol=1e-14, atol=[1.0, 1e-9])
    top = strict.explain().states[0]
    assert (top.state, top.by_atol, top.atol) == (1, True, 1e-9)


def test_the_paragraph_of_a_problem_with_an_absolute_tolerance_that_is_too_tight():
    def robertson(t, y):
        slow, back, fast = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return [back - slow, slow - back - fast, fast]

    result = ag.solve_ivp(robertson, (0.0, 1e4), [1.0, 0.0, 0.0], "BDF", rtol=1e-6, atol=1e-10)
    report = result.explain()
    text = str(report)
    assert text.startswith(f"{report.steps} steps of BDF from 0 to 10000, between ")
    top = report.states[0]
    assert (top.state, top.by_atol) == (1, True)
    share = round(100 * top.steps / report.steps)
    assert f"The error of y[1] limited {share} % of them (atol = 1e-10 is most of its tolerance there; |y[1]| was " in text
    assert f"{report.rejected} attempts were rejected, most between t = " in text
    assert report.advice[0].startswith("Loosen the atol of y[1] (atol may be a vector)")
    assert text.endswith(report.advice[-1] + ".")
    assert not any("not stiff" in each for each in report.advice)


@pytest.mark.parametrize("method", ["Tsit5", "RK45", "CKRK", "DOP853"])
def test_a_stiff_system_is_told_from_one_that_is_accurate(method):
    report = solve(method, fun=stiff, y0=(1.0, 0.0), rtol=1e-4).explain()
    assert "it is stiff" in report.advice[0]
    assert not any("Loosen" in each for each in report.advice)
    for tolerance in (1e-3, 1e-6, 1e-10):
        accurate = solve(method, rtol=tolerance, atol=tolerance).explain()
        assert not any("it is stiff" in each for each in accurate.advice)
        swinging = solve(method, fun=lambda t, y: [30 * y[1], -30 * y[0]], y0=(1.0, 0.0), rtol=tolerance, atol=tolerance)
        assert not any("it is stiff" in each for each in swinging.explain().advice)


@pytest.mark.parametrize("method", ["BDF", "Rodas4", "Rodas5P"])
def test_an_implicit_method_for_a_system_that_is_not_stiff(method):
    assert any("not stiff" in each for each in solve(method).explain().advice)
    assert not any("not stiff" in each for each in solve(method, fun=stiff, y0=(1.0, 0.0)).explain().advice)


def test_auto_says_where_it_switched():
    result = solve("auto", fun=stiff, y0=(1.0, 0.0))
    text = str(result.explain())
    assert f"By Tsit5 until t = {result.stats['stiff_from']:.4g}, where the system turned stiff." in text
    assert "turned stiff" not in str(solve("auto").explain())


def test_max_step_and_output_times():
    report = solve("Tsit5", max_step=0.01, end=1.0).explain()
    assert report.limits["max_step"] >= 95
    assert any(each.startswith("Raise max_step") for each in report.advice)
    dense = np.linspace(0.0, 20.0, 1001)
    report = solve("CKRK", dense).explain()
    assert report.limits["outputs"] >= 950
    assert any("number of output times" in each for each in report.advice)
    assert "Output times " in str(report)
    for method in ("DOP853", "Adams"):  # which interpolate
        assert solve(method, dense).explain().limits["outputs"] == 0
    assert solve("DOP853", np.linspace(0.0, 20.0, 21)).explain().limits["outputs"] > 0


@pytest.mark.parametrize("method", METHODS)
def test_events_doses_and_stops(method):
    event = ag.Event(lambda t, y: y[1] - 8.0)
    doses = [ag.Dose(2.0, 0, 5.0), ag.Dose(7.0, 0, 5.0)]
    result = solve(method, events=event, doses=doses, tstops=[3.0])
    report = result.explain()
    assert report.limits["events"] == len(result.t_events[0]) >= 2
    assert report.limits["stops"] >= 3
    assert report.steps == result.nst
    assert "events" in str(report)
    assert "doses and stops" in str(report)
    limit, ends = report.columns["limit"], report.columns["t"] + report.columns["h"]
    names = list(report.limits)
    np.testing.assert_allclose(ends[limit == names.index("events")], result.t_events[0], rtol=1e-9)
    stops = ends[limit == names.index("stops")]
    assert all(np.any(np.abs(stops - t) < 1e-9) for t in (2.0, 3.0, 7.0))
    restarts = any("multistep methods restart" in each for each in report.advice)
    assert restarts == (method in MULTISTEP and report.limits["events"] + report.limits["stops"] >= 0.05 * report.steps)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas4", "BDF"])
def test_a_jump_is_where_attempts_are_rejected(method):
    def jumping(t, y):
        return np.where(t**2 < 5.123**2, 1.0, -1.0) * y * 0.1

    report = solve(method, end=10.0, fun=jumping, y0=(1.0,), rtol=1e-9, switches="ignore").explain()
    begin, end = report.rejected_between
    assert begin > 4
    assert end < 6
    assert any("look for jumps" in each for each in report.advice)
    assert not any("look for jumps" in each for each in solve(method).explain().advice)


@pytest.mark.parametrize("method", METHODS)
def test_after_a_failure(method):
    result = solve(method, [0.5, 1.5], 2.0, lambda t, y: y**2, (1.0,), return_partial=True)
    assert not result.success
    report = result.explain()
    assert report.stopped is not None
    assert result.message == f"solve_ivp: {report.stopped}"
    assert report.steps > result.nst  # of the solve that failed, not of the part that was returned
    assert 0.5 < report.span[1] < 1.01
    assert report.states[0].state == 0
    assert report.stopped[1:] in str(report)
    assert not any("Loosen" in each for each in report.advice)


@pytest.mark.parametrize("method", METHODS)
def test_too_many_steps_have_advice(method):
    result = solve(method, fun=lambda t, y: [y[1], -(y[0] ** 3)], y0=(5.0, 0.0), max_num_steps=40, return_partial=True)
    report = result.explain()
    assert report.steps + (0 if method in MULTISTEP else report.rejected) == 40
    assert "max_num_steps" in report.stopped
    assert report.advice
    assert report.states


@pytest.mark.parametrize("sensitivities", ["forward", "simultaneous", "auto"])
def test_forward_sensitivities(sensitivities):
    result = solve("BDF", sensitivities=sensitivities)
    report = result.explain()
    assert report.steps == result.nst
    assert report.limits["error"] > 0.9 * report.steps


def test_gradient_check_explains_the_first_solution():
    result = solve("Tsit5", gradient_check=True)
    assert result.explain().steps == result.nst


def test_one_subject_of_many():
    subjects = [ag.Subject((0.0, end), [30.0, 4.0], doses=doses) for end, doses in ((3.0, ()), (9.0, [ag.Dose(1.0, 0, 2.0)]))]
    for subject, result in zip(subjects, ag.solve_many(predation, subjects, "DOP853"), strict=True):
        report = result.explain()
        assert report.steps == result.nst
        assert report.span == (0.0, pytest.approx(subject.t_span[1]))
        assert (report.limits["stops"] > 0) == bool(subject.doses)


def test_inside_of_a_recorded_function_and_after_it():
    def end(growth):
        result = ag.solve_ivp(predation, (0.0, 5.0), [30.0, 4.0], "Tsit5", args=(growth,), error_control="derivatives")
        kept.append((result, result.explain()))
        return result.y[0, -1]

    kept = []
    ag.grad(end)(0.55)
    plain = ag.solve_ivp(predation, (0.0, 5.0), [30.0, 4.0], "Tsit5", args=(0.55,), error_control="derivatives")
    assert kept[0][1].steps == plain.nst
    assert kept[0][0].explain().steps == plain.nst
    assert kept[0][0].stats["backward"]["steps"] == plain.nst  # explaining is no run


def test_changes_of_the_times_of_a_result_do_not_count():
    result = solve("Tsit5", np.linspace(0.0, 20.0, 7))
    before = result.explain().steps
    result.t *= 60.0
    assert result.explain().steps == before == result.nst


def test_nothing_to_solve():
    report = solve("BDF", [0.0]).explain()
    assert report.steps == 0
    assert "Nothing was integrated" in str(report)
    assert report.states == report.advice == []


@pytest.mark.parametrize("method", METHODS)
def test_a_solution_without_error_or_with_one_step(method):
    constant = solve(method, fun=lambda t, y: 0 * y).explain()
    assert constant.limits["error"] == 0
    assert constant.states == []
    assert str(constant)
    short = solve(method, end=1e-9).explain()
    assert short.steps >= 1
    assert str(short)


def test_many_states_are_summed_up():
    rates = np.linspace(0.5, 1.5, 12)
    report = solve("Tsit5", fun=lambda t, y: -y * np.cos(rates * t) * rates, y0=np.ones(12), rtol=1e-9).explain()
    if len(report.states) > 3:
        assert f"that of {len(report.states) - 3} other states" in str(report) or "other state" in str(report)
    assert [share.steps for share in report.states] == sorted((share.steps for share in report.states), reverse=True)


@pytest.mark.parametrize("method", ["auto", "Tsit5", "Rodas5P"])
def test_the_estimate_of_the_gradient_is_printed(method):
    kept = []

    def end(growth):
        kept.append(solve(method, fun=lambda t, y: predation(t, y, growth)))
        return kept[-1].y[0, -1]

    ag.grad(end)(0.55)
    report = kept[0].explain()
    assert report.gradient_error == kept[0].stats["gradient_error"] > 0
    words = f"The estimated relative error of the gradient is {report.gradient_error:.1e}; second derivatives have no estimate"
    assert words in str(report)
    end(0.55)
    plain = kept[1].explain()
    assert np.isnan(plain.gradient_error)
    assert "gradient" not in str(plain)


def test_a_result_without_its_problem_is_refused():
    for given in (ag.OdeResult(np.zeros(1), np.zeros((1, 1))), copy.deepcopy(solve("Tsit5"))):
        with pytest.raises(TypeError, match=r"^explain: result has no problem, but must have that of a solve in this process"):
            given.explain()
