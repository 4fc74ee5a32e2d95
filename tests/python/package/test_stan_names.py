"""Stan's functions: what the list says that agrad has, it has; the page of the documentation shows the list."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import agrad as ag
from native_tools import require_compiler_and_cmake

DOCS = Path(__file__).resolve().parents[3] / "docs"
X = np.array([0.3, 0.8, 0.5])
A = np.array([[1.2, 0.3, 0.1], [0.4, 1.5, 0.2], [0.1, 0.3, 1.1]])


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("stan_names")


def test_the_list_is_complete_and_has_each_name_once(names):
    rows = names.read()
    assert len(rows) == 605
    assert max(Counter(row.name for row in rows).values()) == 1
    assert set(names.WITHOUT) <= {row.name for row in rows}


def test_fewer_than_ten_functions_are_missing_each_with_a_reason(names):
    rows = names.read()
    without_python = {row.name for row in rows if not row.in_python()}
    without_cpp = {row.name for row in rows if not row.in_cpp()}
    assert without_python == set(names.WITHOUT), "functions that are missing and functions with a reason differ"
    assert without_cpp <= without_python
    assert len(without_python) < 10


def test_expressions_in_python_can_be_evaluated_and_differentiated(names):
    for row in names.read():
        if not row.in_python():
            continue

        def loss(p, row=row):
            found = eval(row.in_python(), names.variables(p[:3], np.reshape(p[3:], (3, 3))))
            assert found is not None, row
            parts = found if isinstance(found, tuple) else (found,)
            return p[0] + sum(0.0 if callable(part) else np.sum(np.real(part * 1.0)) for part in parts)

        p = np.concatenate([X, A.ravel()])
        if row.in_python() == f"ag.{row.name}":
            assert callable(getattr(ag, row.name)), row
        else:
            loss(p)
            assert np.all(np.isfinite(ag.grad(loss)(p))), row


def test_names_in_cpp_are_declared(names):
    """``python docs/stan_names.py`` compiles the expressions, too."""
    require_compiler_and_cmake()
    eigen = names.eigen_include()
    if eigen is None:
        pytest.skip("C++ is not built: there is no Eigen")
    used = {name for row in names.read() for name in re.findall(r"agrad::(\w+)", row.in_cpp())}
    assert len(used) > 200
    absent = {row.name for row in names.read() if row.cpp == "-"} & names.possible_names()
    errors = names.compiler_errors(sorted(used | absent), [], eigen)
    undeclared = names.undeclared(errors)
    assert sorted(absent - undeclared) == [], "declared, but absent by the list; run python docs/stan_names.py"
    assert sorted(undeclared - absent) == []
    assert len(errors) == len(absent)
