"""Each one-step method of C++'s table is a method of solve_ivp, has functions of its own, and is in the documentation."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
from agrad._ode.method_table import METHODS
from agrad._ode.short_functions import FUNCTIONS

PAGE = (Path(__file__).parents[3] / "docs" / "ode.md").read_text()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_the_table_solves(name):
    result = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], method=name, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(result.y[0, -1], np.exp(-1), rtol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_the_table_is_told_of(name):
    assert f'"{name}"' in ag.solve_ivp.__doc__
    assert f"`{name}`" in PAGE or f'`"{name}"`' in PAGE or f"`ode_{name.lower()}`" in PAGE


@pytest.mark.parametrize("name", [name for name in METHODS if name != "auto"])
def test_a_method_of_the_table_has_functions(name):
    for suffix in ("", "_tol"):
        function = f"ode_{name.lower()}{suffix}"
        assert function in ag.stan.__all__
        assert METHODS[name].text in getattr(ag, function).__doc__


def test_the_package_names_the_functions_of_the_table():
    """Type checkers see names in agrad/__init__.py only, so this list is the one beside the table."""
    assert {name for name in ag.stan.__all__ if name.startswith("ode_")} == {*FUNCTIONS, "ode_adjoint_tol_ctl"}
    assert all(getattr(ag, name) is function for name, function in FUNCTIONS.items())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_the_table_can_be_pickled(name):
    assert pickle.loads(pickle.dumps(getattr(ag, name))) is getattr(ag, name)


def test_entries_say_which_methods_are_explicit():
    assert {name for name, method in METHODS.items() if method.is_explicit} == {"Tsit5", "RK45", "CKRK", "DOP853"}
    assert all(method.is_explicit != method.has_factors for method in METHODS.values())
