"""Each one-step method of C++'s table is a method of solve_ivp, has functions of its own, and is in the documentation."""

from pathlib import Path

import numpy as np
import pytest

import agrad as ag
from agrad._ode.method_table import METHODS

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
        assert function in ag.__all__
        assert METHODS[name].text in getattr(ag, function).__doc__


def test_entries_say_which_methods_are_explicit():
    assert {name for name, method in METHODS.items() if method.is_explicit} == {"Tsit5", "RK45", "CKRK", "DOP853"}
    assert all(method.is_explicit != method.has_factors for method in METHODS.values())
