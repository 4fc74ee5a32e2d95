"""ag.compile(check=True) compares each call with a plain call, and names what a recording keeps."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import agrad as ag

SETTINGS = {"scale": 2.0}


def checked_at_module(x):
    return np.sum(x**2)


def test_equal_results_pass_with_structures_methods_and_aux():
    def f(p, n, *, by=2.0):
        return np.sum(p["x"] ** n) * by, {"half": p["x"] / 2, "name": "f"}

    c = ag.compile(ag.value_and_grad(f, has_aux=True), check=True)
    for x in (np.arange(3.0), np.array([1.0, np.nan, np.inf])):
        (value, aux), gradient = c({"x": x}, 2, by=3.0)
        np.testing.assert_array_equal(value, np.sum(x**2) * 3)
        np.testing.assert_array_equal(aux["half"], x / 2)
        np.testing.assert_array_equal(gradient["x"], 6 * x)

    @ag.compile(static="how", check=True)
    def g(x, how, y):
        x += 1.0
        return np.sum(x[y]) if how == "sum" else np.max(x)

    x = np.arange(3.0)
    assert g(x, "sum", np.array([1, 2])) == 5
    np.testing.assert_array_equal(x, [0.0, 1.0, 2.0])


def test_transformations_and_bound_arguments():
    x, v = np.array([0.3, 0.7]), np.array([1.0, -1.0])
    f = lambda x: np.sum(np.sin(x) * x[0])  # noqa: E731
    for made, args in ((ag.hvp(f), (x, v)), (ag.hessian(f), (x,)), (ag.jacobian(np.sin), (x,)), (ag.vmap(np.sin), (x,))):
        np.testing.assert_allclose(ag.compile(made, check=True)(*args), made(*args), rtol=1e-12)


@pytest.mark.parametrize("transform", [lambda f: f, ag.grad, ag.value_and_grad])
def test_a_changed_global_raises_by_name(monkeypatch, transform):
    c = ag.compile(transform(lambda x: np.sum(x) * SETTINGS["scale"]), check=True)
    c(np.ones(2))
    monkeypatch.setitem(SETTINGS, "scale", 3.0)
    with pytest.raises(RuntimeError, match=r"compile\(<lambda>\): result.* is .*, but must be .* as in the plain call"):
        c(np.ones(2))


def test_draws_and_type_tests_raise():
    rng = np.random.default_rng(0)
    with pytest.raises(RuntimeError, match="as in the plain call"):
        ag.compile(lambda x: x * rng.normal(), check=True)(1.0)
    for transform in (lambda f: f, ag.grad):
        with pytest.raises(RuntimeError, match=r"(result|value of the function).* must be 4\.0|array\(\[4\.\]\)"):
            ag.compile(transform(lambda x: x**2 if isinstance(x, float) else 100 * x), check=True)(2.0)


def test_a_plain_call_that_raises_is_the_cause():
    c = ag.compile(lambda x: x.at[0].set(1.0), check=True)
    with pytest.raises(RuntimeError, match="plain call raised AttributeError") as raised:
        c(np.ones(2))
    assert isinstance(raised.value.__cause__, AttributeError)


def test_the_tolerance_is_relative_to_the_largest_entry():
    shift = [0.0]
    f = lambda x: x + shift[0]  # noqa: E731
    strict, loose = ag.compile(f, check=True), ag.compile(f, check=1e-3)
    x = np.array([1e-3, 100.0])
    for c in (strict, loose):
        c(x)
    shift[0] = 1e-2
    np.testing.assert_array_equal(loose(x), x)
    with pytest.raises(RuntimeError):
        strict(x)
    for wrong in (-1.0, "yes", None):
        with pytest.raises(ValueError, match="check is"):
            ag.compile(f, check=wrong)


def test_solutions_and_copies():
    f = lambda k: ag.solve_ivp(lambda t, y, k: -k * y, (0.0, 1.0), np.ones(2), args=(k,)).y[:, -1]  # noqa: E731
    ag.compile(f, check=1e-4)(np.array([1.0, 2.0]))
    made = ag.compile(checked_at_module, check=1e-5)
    made(np.ones(2))
    assert [each.check for each in (made, copy.copy(made), pickle.loads(pickle.dumps(made)))] == [1e-5] * 3


def test_the_environment_variable_checks_all():
    code = "import numpy as np, agrad as ag\ns = [1.0]\nc = ag.compile(lambda x: x * s[0])\nc(1.0); s[0] = 2.0\nprint(c(1.0))"
    for value, succeeds in (("1", False), ("0", True)):
        env = {**__import__("os").environ, "AGRAD_CHECK_RECORDINGS": value}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == succeeds
        assert succeeds or "RuntimeError: compile(<lambda>): result is 1.0, but must be 2.0" in done.stderr
