"""What the passes of a solve have cost, looked at before, between and after reverse passes."""

import copy
import pickle

import numpy as np
import pytest

import agrad as ag

METHODS = ["BDF", "Adams", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "auto"]
FORWARD = {"steps", "rhs_evaluations", "jacobian_evaluations", "factorizations", "error_test_failures", "convergence_failures"}
TIMES = [1.0, 2.0, 5.0]


def predation(t, y, growth):
    return [growth * y[0] - 0.03 * y[0] * y[1], 0.025 * y[0] * y[1] - 0.8 * y[1]]


def solve(growth, method, **options):
    return ag.solve_ivp(predation, (0.0, 5.0), [30.0, 4.0], method, TIMES, args=(growth,), **options)


def is_multistep(method):
    return method in ("BDF", "Adams")


@pytest.mark.parametrize("method", METHODS)
def test_a_plain_solve_has_a_forward_pass_only(method):
    result = solve(0.55, method)
    stats = result.stats
    assert stats["steps"] == result.nst > 5
    assert stats["rhs_evaluations"] == result.nfev > stats["steps"]
    assert stats["jacobian_evaluations"] == result.njev
    assert stats["factorizations"] == result.nlu
    assert set(stats) == FORWARD | {"held_by_derivatives", "checkpoints", "backward", "quadrature", "sensitivities"}
    assert set(stats["backward"]) == FORWARD | {"restarts", "recomputed_rhs_evaluations"}
    assert set(stats["backward"].values()) == {0}
    assert stats["quadrature"] == {"rhs_evaluations": 0, "error_test_failures": 0}
    assert set(stats["sensitivities"].values()) == {0}


@pytest.mark.parametrize("method", METHODS)
def test_reverse_passes_are_counted_as_they_are_made(method):
    with ag.tape():
        growth = ag.var(0.55)
        result = solve(growth, method)
        loss = np.sum(result.y)
        assert result.stats["steps"] == result.nst > 5
        assert result.stats["backward"]["steps"] == 0
        loss.grad()
        once = copy.deepcopy(result.stats)
        assert once["backward"]["steps"] > 5
        assert once["backward"]["rhs_evaluations"] > once["backward"]["steps"]
        assert once["backward"]["restarts"] == (len(TIMES) if is_multistep(method) else 0)
        assert (once["quadrature"]["rhs_evaluations"] > 0) == is_multistep(method)
        loss.grad()
        assert result.stats["backward"]["steps"] == 2 * once["backward"]["steps"]
        assert result.stats["quadrature"]["rhs_evaluations"] == 2 * once["quadrature"]["rhs_evaluations"]
        assert result.nst == once["steps"]
    assert result.stats["backward"]["steps"] == 2 * once["backward"]["steps"]  # after the tape is gone


def test_a_gradient_leaves_its_counts_with_a_result_that_was_kept():
    kept = []

    def loss(growth):
        kept.append(solve(growth, "Tsit5", error_control="derivatives"))
        return np.sum(kept[-1].y)

    ag.grad(loss)(0.55)
    plain = solve(0.55, "Tsit5", error_control="derivatives")
    assert kept[0].stats["backward"]["steps"] == kept[0].stats["steps"] == plain.nst


def test_a_compiled_function_has_the_counts_of_its_last_run():
    kept = []

    def loss(growth, end):
        kept.append(ag.solve_ivp(lambda t, y: -growth * y, (0.0, 100.0), [1.0], "Tsit5", rtol=1e-8))
        return kept[-1].y[0, -1] * end

    gradient = ag.compile(ag.grad(loss))
    steps = []
    for growth in (0.01, 1.0, 0.01):
        gradient(growth, 1.0)
        assert kept[0].stats["backward"]["steps"] == kept[0].stats["steps"]
        steps.append(kept[0].nst)
    assert steps[0] == steps[2] < steps[1]
    assert all(each.nst == kept[0].nst for each in kept[:1])


def test_forward_sensitivities_and_their_counts():
    def loss(growth):
        result = solve(growth, "BDF", sensitivities="forward")
        seen.append(result)
        return np.sum(result.y)

    seen = []
    ag.grad(loss)(0.55)
    assert seen[0].stats["sensitivities"]["rhs_evaluations"] > seen[0].stats["steps"]
    assert seen[0].stats["backward"]["steps"] == 0
    assert set(solve(0.55, "BDF", sensitivities="forward").stats["sensitivities"].values()) == {0}


@pytest.mark.parametrize("method", METHODS)
def test_doses_and_events_add_up_their_stretches(method):
    options = {"doses": [ag.Dose(0.7, 0, 5.0), ag.Dose(3.0, 0, 5.0)], "events": ag.Event(lambda t, y, growth: y[1] - 8.0)}
    if not is_multistep(method):
        options["error_control"] = "derivatives"
    plain = solve(0.55, method, **options)
    assert plain.stats["steps"] == plain.nst > 10
    assert plain.stats["backward"]["steps"] == 0
    with ag.tape():
        growth = ag.var(0.55)
        result = solve(growth, method, **options)
        np.sum(result.y).grad()
        assert result.nst == plain.nst
        assert result.stats["backward"]["steps"] > 10
        if not is_multistep(method):
            assert result.stats["backward"]["steps"] == result.nst


def test_the_switch_of_auto_is_in_the_mapping_only_where_there_is_one():
    stiff = ag.solve_ivp(lambda t, y: -3000.0 * (y - np.cos(t)), (0.0, 1.0), [1.0], "auto")
    assert 0 < stiff.stats["stiff_from"] < 1
    assert "stiff_from" not in solve(0.55, "auto").stats


def test_each_subject_has_its_own():
    def total(growth):
        subjects = [ag.Subject((0.0, end), [30.0, 4.0], args=(growth,), doses=doses) for end, doses in problems]
        kept.extend(ag.solve_many(predation, subjects, threads=2))
        return sum(result.y[0, -1] for result in kept)

    problems = [(1.0, ()), (20.0, ()), (20.0, [ag.Dose(1.0, 0, 3.0)])]
    kept = []
    ag.grad(total)(0.55)
    steps = [result.nst for result in kept]
    assert 0 < steps[0] < steps[1] < steps[2]
    assert [result.stats["backward"]["steps"] for result in kept] == steps
    assert ag.solve_many(predation, [ag.Subject((0.0, 1.0), [1.0, 1.0], [0.0], (0.5,))])[0].stats == {}


def test_checkpoints_are_counted():
    with ag.tape():
        result = solve(ag.var(0.55), "BDF", rtol=1e-11, atol=1e-11)
        assert result.nst > 300
        assert result.stats["checkpoints"] >= 1


def test_memory_budget_shows_as_recomputation():
    with ag.tape():
        growth = ag.var(0.55)
        result = solve(growth, "Tsit5", rtol=1e-9, max_memory=2e3)
        np.sum(result.y).grad()
        assert result.stats["backward"]["recomputed_rhs_evaluations"] > 0


def test_it_is_a_mapping_and_read_only():
    result = solve(0.55, "Tsit5")
    assert result.stats == dict(result.stats)
    assert result.stats.get("nothing", 3) == 3
    assert len(result.stats) == len(list(result.stats))
    assert repr(result.stats) == repr(dict(result.stats))
    with pytest.raises(TypeError):
        result.stats["steps"] = 0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_and_pickles_keep_the_numbers(copied):
    result = solve(0.55, "BDF")
    same = copied(result)
    np.testing.assert_array_equal(same.y, result.y)
    assert same.stats == result.stats
    assert same.nst == result.nst


def test_a_solve_that_fails_leaves_the_counts_of_the_last_run():
    kept = []

    @ag.compile
    def end(rate):
        kept.append(ag.solve_ivp(lambda t, y: rate * y**2, (0.0, 1.0), [1.0], "Tsit5", max_num_steps=2000))
        return kept[-1].y[0, -1]

    end(0.5)
    before = dict(kept[0].stats)
    with pytest.raises(ag.SolverError):
        end(2.0)
    assert kept[0].stats == before
