"""Types: the stub of the compiled part names what is there, and type checkers accept a typed user's program."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
import typed_example
from agrad import _core
from agrad._stan import density, elementwise
from agrad._stats.methods import METHODS
from agrad._stats.typed import Declared

pytestmark = pytest.mark.thread_unsafe(reason="runs type checkers")

PACKAGE = Path(ag.__file__).parent
EXAMPLE = Path(typed_example.__file__)


def stub_of(name):
    """The names that a stub defines, and for each class those of its members."""
    tree = ast.parse((PACKAGE / f"{name}.pyi").read_text())
    names = {}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names[node.name] = (
                {_name(member) for member in node.body if _name(member)} if isinstance(node, ast.ClassDef) else None
            )
        elif isinstance(node, ast.AnnAssign):
            names[_name(node)] = None
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):  # a second name
            names |= {target.id: None for target in node.targets if isinstance(target, ast.Name)}
    return names


def _name(node):
    if isinstance(node, ast.AnnAssign):
        return node.target.id
    return getattr(node, "name", None)


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_stub_of_the_compiled_part_is_complete():
    stub = stub_of("_core")
    assert public(stub) == public(dir(_core))
    assert "__version__" in stub


@pytest.mark.parametrize("name", [name for name in dir(_core) if isinstance(getattr(_core, name), type)])
def test_stub_of_each_class_is_complete(name):
    members, cls = stub_of("_core")[name], getattr(_core, name)
    if issubclass(cls, Exception):
        return  # what it carries is set on each exception; see below
    assert public(members) == public(vars(cls))
    missing = {member for member in members if not hasattr(cls, member)}
    assert not missing


def test_stub_of_array_has_every_operator():
    operators = {member for member in vars(ag.Array) if member.startswith("__") and member in dir(float)}
    assert "__rtruediv__" in operators
    not_operators = {"__class__", "__init__", "__doc__", "__new__", "__hash__", "__repr__"}
    assert operators - not_operators <= stub_of("_core")["Array"]


def test_a_solver_error_has_what_the_stub_says():
    with pytest.raises(ag.SolverError) as caught:
        ag.ode_adjoint_tol(lambda t, y: -y, [1.0], 0.0, [1.0], 1e-6, 1e-8, 1)
    error = caught.value
    assert stub_of("_core")["SolverError"] == {"t", "steps", "code", "advice", "is_recoverable"}
    assert (type(error.t), type(error.steps), type(error.code), type(error.advice)) == (float, int, str, str)
    assert error.steps == 1
    assert error.code == "CV_TOO_MUCH_WORK"


@pytest.mark.parametrize("module", [elementwise, density])
def test_stubs_made_from_the_rules_name_every_function(module):
    stub = stub_of(module.__name__.removeprefix("agrad.").replace(".", "/"))
    assert public(stub) == set(module.__all__)


def test_methods_that_checkers_see_are_those_of_distributions():
    assert list(Declared.__annotations__) == list(METHODS)


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_typed_example_runs():
    value, slope, of_mean, matrix = typed_example.main()
    assert type(value) is float
    assert type(slope) is typed_example.Rates
    np.testing.assert_allclose(of_mean, [0.1 + 0.5, 0.2 + 0.5])
    np.testing.assert_array_equal(matrix, np.eye(2))


def test_mypy_accepts_the_typed_example(tmp_path):
    pytest.importorskip("mypy", reason="types are not checked: there is no mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", EXAMPLE]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def pyright(tmp_path, mode, *paths):
    """Run pyright in a mode of its own on files or folders; its complaints."""
    found = pytest.importorskip("pyright", reason="types are not checked by pyright: it is not installed")
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps(
            {
                "include": [os.path.relpath(path, tmp_path) for path in paths],  # absolute ones are ignored
                "exclude": [],
                "typeCheckingMode": mode,
                "pythonVersion": "3.10",
                "extraPaths": [str(PACKAGE.parent)],
                "reportUnsupportedDunderAll": False,  # names of functions made from the rules
            }
        )
    )
    command = [sys.executable, "-m", found.__name__, "--outputjson", "--pythonpath", sys.executable, "-p", tmp_path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if not done.stdout.startswith("{"):  # it fetches Node.js where there is none
        pytest.skip(f"pyright does not start: {(done.stdout + done.stderr).strip()[-200:]}")
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] > 0
    return [f"{each['file']}:{each['range']['start']['line'] + 1}: {each['message']}" for each in report["generalDiagnostics"]]


def test_pyright_accepts_the_package(tmp_path):
    assert pyright(tmp_path, "standard", PACKAGE) == []


def test_pyright_accepts_the_typed_example(tmp_path):
    assert pyright(tmp_path, "strict", EXAMPLE) == []


def test_pyright_finds_what_is_wrong(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from agrad import grad, stan\n\ngrad(3)\nstan.normal_lpdf(0.0, 0.0, 1.0, proto=True)\n")
    complaints = pyright(tmp_path, "standard", wrong)
    assert [complaint.split(":")[1] for complaint in complaints] == ["3", "4"]
