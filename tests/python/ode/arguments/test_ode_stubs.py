"""The stub of the compiled part names the arguments of the differential equations as the compiled part does."""

import ast
import re
from pathlib import Path

import pytest

import agrad as ag
from agrad import _core

CLASSES = [
    "OdeAlgebra",
    "AdjointMethod",
    "StepMethod",
    "ForwardMethod",
    "CheckedMethod",
    "SolveOperation",
    "ManyOperation",
    "ScanOperation",
    "BodyPaths",
    "SolveProgress",
    "StepLog",
]
FUNCTIONS = [
    "check_initial_value_problem",
    "check_dae_problem",
    "ode_operation",
    "event_operation",
    "solve_events",
    "steady_operation",
    "solve_steady",
    "dae_operation",
]
TREE = ast.parse((Path(ag.__file__).parent / "_core.pyi").read_text())


def names_in(docstring):
    """The arguments' names of pybind11's signature, in the first line of a docstring."""
    inside = re.match(r"\w+\((.*)\) -> ", docstring.splitlines()[0])[1]
    depth, parts = 0, [""]
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip().split(":")[0].split("=")[0].strip() for part in parts if part.strip()]


def functions():
    for node in TREE.body:
        if isinstance(node, ast.ClassDef) and node.name in CLASSES:
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.decorator_list:
                    yield pytest.param(member, getattr(getattr(_core, node.name), member.name), id=f"{node.name}.{member.name}")
        elif isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS:
            yield pytest.param(node, getattr(_core, node.name), id=node.name)


@pytest.mark.parametrize(("stub", "compiled"), list(functions()))
def test_names_of_arguments(stub, compiled):
    assert [each.arg for each in stub.args.args] == names_in(compiled.__doc__)


@pytest.mark.parametrize(("stub", "compiled"), list(functions()))
def test_arguments_that_may_be_left_out(stub, compiled):
    first_line = compiled.__doc__.splitlines()[0]
    assert len(stub.args.defaults) == first_line.count(" = ")


def test_every_class_is_there():
    assert {node.name for node in TREE.body if isinstance(node, ast.ClassDef)} >= set(CLASSES)


def test_every_function_is_there():
    assert {node.name for node in TREE.body if isinstance(node, ast.FunctionDef)} >= set(FUNCTIONS)
