"""Searches and integrals in the right-hand side of a differential equation."""

import numpy as np
import pytest

import agrad as ag

# Each function of y and p is the same, to second order, as the one beside it.
SEARCHES = {
    "root": (lambda y, p: ag.root(lambda x: x**3 - p * y**3, 1.0).x, lambda y, p: np.cbrt(p) * y),
    "newton": (lambda y, p: ag.root(lambda x: x**3 - p * y**3, 1.0, method="newton").x, lambda y, p: np.cbrt(p) * y),
    "minimize": (lambda y, p: ag.minimize(lambda x: (x[0] - p * y) ** 2, np.zeros(1)).x[0], lambda y, p: p * y),
    "quad": (lambda y, p: ag.quad(lambda x: np.exp(-x) * p * y, 0.0, 1.0)[0], lambda y, p: (1 - np.exp(-1)) * p * y),
    "quad with a place": (
        lambda y, p: ag.quad(lambda x: np.sqrt(np.abs(x - 0.3)) * p * y, 0.0, 1.0, points=[0.3])[0],
        lambda y, p: (2 / 3) * (0.3**1.5 + 0.7**1.5) * p * y,
    ),
    "quad to infinity": (
        lambda y, p: ag.quad(lambda x: np.exp(-x) * p * y, 0.0, np.inf, method="double_exponential")[0],
        lambda y, p: p * y,
    ),
}


def flow(slope, **options):
    def run(p):
        found = ag.solve_ivp(lambda t, y: [-slope(y[0], p)], (0.0, 1.0), [1.0], rtol=1e-9, atol=1e-12, **options)
        run.steps = found.stats["steps"]
        return found.y[0, -1]

    return run


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_are_no_switches(name):
    """A comparison that decides how a search ends is no jump: the steps are those of the formula."""
    search, formula = (flow(each, method="Tsit5") for each in SEARCHES[name])
    assert search(1.3) == pytest.approx(formula(1.3), rel=1e-8)
    assert search.steps == formula.steps
    assert ag.grad(search)(1.3) == pytest.approx(ag.grad(formula)(1.3), rel=1e-7)
    assert ag.hessian(search)(1.3) == pytest.approx(ag.hessian(formula)(1.3), rel=1e-6)


@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P"])
def test_jumps_of_what_is_searched_are_switches(method):
    """The state falls by 2 p where it is above 0.5, by p below: the time of the crossing is 0.25 / p."""

    def by_integral(y, p):
        return ag.quad(lambda x: 2 * x * p * np.where(y > 0.5, 2.0, 1.0), 0.0, 1.0)[0]

    def by_root(y, p):
        return ag.root(lambda x: x - p * np.where(y > 0.5, 2.0, 1.0), 1.0).x

    def exact(p):
        return 0.5 - p * (1 - 0.25 / p)

    for slope in (by_integral, by_root):
        run = flow(slope, method=method)
        assert run(0.4) == pytest.approx(exact(0.4), rel=1e-8)
        assert ag.grad(run)(0.4) == pytest.approx(-1.0, rel=1e-7)


def test_a_search_that_fails_gives_nan_within_and_an_error_around():
    with pytest.raises(ag.SolverError, match="not_finite"):
        flow(lambda y, p: ag.root(lambda x: x**2 + p * y, 1.0).x)(1.0)
    with pytest.raises(ag.SolverError, match="not_finite"):
        flow(lambda y, p: ag.quad(lambda x: p * y / x, 0.0, 1.0)[0])(1.0)
