"""SciPy's functions that call a user's function: a TypeError names the function, and what to write instead."""

import functools

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import agrad as ag


def residual(x, a):
    return x * x - a


def _bracketed(find):
    return lambda a: find(lambda x: residual(x, a), 0.0, 5.0)


CALLS = {
    "optimize.brentq": _bracketed(scipy.optimize.brentq),
    "optimize.brenth": _bracketed(scipy.optimize.brenth),
    "optimize.bisect": _bracketed(scipy.optimize.bisect),
    "optimize.ridder": _bracketed(scipy.optimize.ridder),
    "optimize.toms748": _bracketed(scipy.optimize.toms748),
    "optimize.root_scalar": lambda a: scipy.optimize.root_scalar(lambda x: x * x - a, bracket=(0.0, 5.0)).root,
    "optimize.root": lambda a: scipy.optimize.root(functools.partial(residual, a=a), 1.0).x[0],
    "optimize.fsolve": lambda a: scipy.optimize.fsolve(lambda x: x * x - a, 1.0)[0],
    "optimize.minimize": lambda a: scipy.optimize.minimize(lambda x: ((x - a) ** 2).sum(), np.zeros(2)).x[0],
    "optimize.least_squares": lambda a: scipy.optimize.least_squares(lambda x: x - a, np.zeros(2)).x[0],
    "integrate.quad": lambda a: scipy.integrate.quad(lambda x: x * a, 0.0, 1.0)[0],
    "integrate.solve_ivp": lambda a: scipy.integrate.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), [1.0]).y[0, -1],
    "integrate.odeint": lambda a: scipy.integrate.odeint(lambda y, t: -a * y, [1.0], [0.0, 1.0])[-1, 0],
}
INSTEAD = {"minimize": "minimize", "least_squares": "minimize", "quad": "quad", "solve_ivp": "solve_ivp", "odeint": "solve_ivp"}


@pytest.mark.filterwarnings("ignore")  # SciPy prints and warns of what it cannot convert
@pytest.mark.parametrize("name", CALLS)
def test_the_function_is_named(name):
    instead = INSTEAD.get(name.partition(".")[2], "root")
    text = rf"scipy\.{name}: the result of its function is a recorded value, but must be plain.*write agrad\.{instead}"
    for transform in (ag.grad, lambda f: ag.compile(ag.grad(f))):
        with pytest.raises(TypeError, match=text):
            transform(CALLS[name])(2.0)
    assert ag.grad(np.sin)(0.0) == 1.0  # nothing is left open


def test_arguments_are_told_from_results():
    with pytest.raises(TypeError, match=r"scipy\.optimize\.brentq: argument is a recorded value.*write agrad\.root"):
        ag.grad(lambda a: scipy.optimize.brentq(lambda x: x * x - 2.0, 0.0, a))(5.0)
    with pytest.raises(TypeError, match=r"scipy\.integrate\.quad: argument is a recorded value.*write agrad\.quad"):
        ag.grad(lambda a: scipy.integrate.quad(lambda x: x, 0.0, a)[0])(5.0)


def test_errors_of_other_causes_pass():
    with pytest.raises(ValueError, match="must have different signs"):
        ag.grad(lambda a: a + scipy.optimize.brentq(lambda x: x * x + 1.0, 0.0, 5.0))(2.0)
    with pytest.raises(KeyError, match="mine"):
        ag.grad(lambda a: scipy.optimize.newton(lambda x: {}["mine"] * a, 1.0))(2.0)
    with pytest.raises(TypeError, match="use NumPy's functions"):  # the user's own line is at fault
        ag.grad(lambda a: scipy.optimize.newton(lambda x: x - float(a), 1.0))(2.0)
