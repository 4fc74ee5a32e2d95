"""Compiled functions printed and drawn, and their profiles by line."""

import re
import sys
from collections import namedtuple

import numpy as np
import pytest

import agrad as ag
from agrad import _core

X = np.random.default_rng(2).normal(size=(40, 3))
Y = np.arange(40.0)


def loss(theta, data):
    residual = data["y"] - X @ theta
    scaled = np.sin(residual) * 2.0
    return np.sum(scaled**2) / data["scale"]


ARGUMENTS = (np.ones(3), {"y": Y, "scale": 2.0})


def compiled():
    f = ag.compile(ag.value_and_grad(loss))
    f(*ARGUMENTS)
    return f


def branching(x):
    return np.sum(x) if x[0] > 0 else np.sum(x * x)


# ---- printing


def test_a_compiled_function_prints_what_it_recorded():
    text = str(compiled())
    head, signature, first, second, table, *rows = text.splitlines()
    assert head == "compile(value_and_grad(loss)): 1 signature, 1 path"
    assert signature == "(argument 0: float64[3], argument 1['scale']: float64, argument 1['y']: float64[40])"
    assert re.fullmatch(
        r"  44 inputs, 1 output; \d+ operations, \d+ of them on ranges of up to 120 entries; .*; 0 guards", first
    )
    assert re.fullmatch(
        r"  about \S+ flops in \d+ levels, depth \d+; \S+B for the program, \S+B for a run, twice that .*", second
    )

    assert table.split() == ["operation", "times", "entries", "flops", "bytes"]
    kinds = {row.split()[0]: row.split()[1:3] for row in rows}
    assert kinds["product"] == ["1", "40"]
    assert kinds["sin"] == ["1", "40"]
    assert kinds["sum"] == ["1", "1"]


def test_nothing_recorded_paths_and_signatures():
    f = ag.compile(branching)
    assert str(f) == "compile(branching): nothing recorded yet, the first call does it"
    assert repr(f) == "<compile(branching): 0 recorded paths; print it>"
    for x in ([1.0, 2.0], [-1.0, 2.0], [1.0, 2.0, 3.0]):
        f(np.array(x))
    text = str(f)
    assert text.startswith("compile(branching): 2 signatures, 3 paths\n(argument 0: float64[2])\n  path 1 of 2\n")
    assert text.count("1 guard\n") == 3
    assert "(argument 0: float64[3])\n  3 inputs" in text
    assert repr(f) == "<compile(branching): 3 recorded paths; print it>"


def test_what_was_recorded_for_is_printed():
    f = ag.compile(lambda x, places, *, power: np.sum(x[places] ** power))
    f(np.ones(4), np.array([0, 2]), power=3)
    assert "(argument 0: float64[4], argument 1: int64[2], argument power: 3)" in str(f)


def test_summaries_are_numbers():
    f = ag.compile(lambda x: np.sum(np.exp(x) * 3.0))
    f(np.ones(50))
    ((_, (path,)),) = f.recorded()
    s = path.program.summary
    assert {k: s[k] for k in ("inputs", "outputs", "operations", "spans", "longest_span", "guards", "levels", "constants")} == {
        "inputs": 50,
        "outputs": 1,
        "operations": 3,
        "spans": 3,
        "longest_span": 50,
        "guards": 0,
        "levels": 3,
        "constants": 1,
    }
    assert s["flops"] == 150
    assert s["depth"] == 1 + 1 + 6
    assert s["workspace_bytes"] == 8 * path.program.slots
    assert s["kinds"]["multiply"] == (1, 50, 50.0, 8.0 * (50 + 1 + 50))


# ---- drawing


def test_drawings_name_arguments_and_results():
    text = compiled().to_dot(*ARGUMENTS)
    assert text.startswith("digraph program {")
    assert text.endswith("}\n")
    labels = re.findall(r'label="(.*?)"[,\]]', text)
    for label in ("argument 0 × 3", "argument 1['scale']", "argument 1['y'] × 40", "product × 40", "sum", "result"):
        assert label in labels
    nodes = re.findall(r"^  (n\d+) \[", text, re.MULTILINE)
    arrows = re.findall(r"^  (n\d+) -> (n\d+)", text, re.MULTILINE)
    assert len(set(nodes)) == len(nodes)
    assert {node for arrow in arrows for node in arrow} == set(nodes)
    assert all(nodes.index(a) < nodes.index(b) or "constant" in text for a, b in arrows)


def test_a_drawing_is_of_the_path_that_the_arguments_take():
    f = ag.compile(branching)
    assert "multiply" not in f.to_dot(np.ones(2))
    assert "multiply" in f.to_dot(-np.ones(2))
    assert len(f.recorded()[0][1]) == 2  # recorded for the drawing
    pair = namedtuple("pair", "a b")
    text = ag.compile(lambda x: pair(x[0] * 2.0, x)).to_dot(np.ones(2))
    assert 'label="result.a"' in text
    assert 'label="result.b × 2"' in text
    with pytest.raises(_core.ShapeError, match="to_dot: inputs and outputs must name all inputs and outputs of the program"):
        f.recorded()[0][1][0].program.to_dot([("x", 1)], [("y", 1)])


# ---- profiles


def line_of(text):
    with open(__file__, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.strip() == text)


def test_profiles_have_the_lines_of_the_function():
    p = compiled().profile(*ARGUMENTS)
    first, second = line_of('residual = data["y"] - X @ theta'), line_of("scaled = np.sin(residual) * 2.0")
    third = line_of('return np.sum(scaled**2) / data["scale"]')
    where = {(row.operation, row.line) for row in p.rows}
    assert where == {
        ("product", first),
        ("subtract", first),
        ("sin", second),
        ("multiply", second),
        ("multiply", third),  # the square
        ("sum", third),
        ("divide", third),
    }
    for row in p.rows:
        assert row.file == __file__
        assert row.operations == 1
        assert row.forward >= 0
        assert row.backward >= 0
    entries = {row.operation: row.entries for row in p.rows}
    assert entries["product"] == 40
    assert entries["sum"] == 1
    assert p.forward > 0
    assert p.backward > 0
    assert p.runs >= 5
    times = [row.forward + row.backward for row in p.rows]
    assert times == sorted(times, reverse=True)
    assert sum(times) > 0


def test_profiles_print_as_tables():
    p = compiled().profile(*ARGUMENTS)
    head, columns, *rows = str(p).splitlines()
    assert re.fullmatch(r"compile\(loss\): forward [\d.]+ (ns|µs|ms), backward [\d.]+ (ns|µs|ms) \(medians of \d+ runs\)", head)
    assert columns.split() == ["forward", "backward", "share", "operation", "times", "entries", "line"]
    assert len(rows) == len(p.rows)
    assert any("test_describe.py" in row and row.endswith("scaled = np.sin(residual) * 2.0") for row in rows)
    assert repr(p) == f"<profile of compile(loss): {len(rows)} rows; print it>"


def test_small_operations_put_together_are_shared_out_among_their_lines():
    def f(x):
        a = np.sin(x[0])
        b = np.sin(x[1])
        many = [np.cos(each) for each in x]  # one run
        for _ in range(30):
            a = np.sin(a)  # straight code
        return a * b + sum(many)

    p = ag.compile(f).profile(np.linspace(0.1, 0.9, 20))
    lines = {(row.operation, row.source.rpartition(": ")[2]): (row.operations, row.entries) for row in p.rows}
    assert lines["sin", "a = np.sin(x[0])"] == lines["sin", "b = np.sin(x[1])"] == (1, 1)
    assert lines["sin", "a = np.sin(a)  # straight code"] == (30, 30)
    assert lines["cos", "many = [np.cos(each) for each in x]  # one run"] == (1, 20)
    assert all(row.file == __file__ for row in p.rows)


def test_profiles_of_guards_and_of_every_kind_of_function():
    p = ag.compile(branching).profile(-np.ones(3))
    assert {"greater", "guard", "multiply", "sum"} <= {row.operation for row in p.rows}
    for transformation in (ag.grad, ag.hessian, ag.jacobian):
        assert ag.compile(transformation(lambda x: np.sum(x**3))).profile(np.ones(2)).rows
    assert ag.compile(lambda x: x).profile(np.ones(2)).rows == []
    for size in (0, 2):
        assert ag.compile(lambda x: np.sin(x)[:0]).profile(np.ones(size)).rows == []

    @ag.custom_vjp
    def outside(x):
        return np.sum(x)

    outside.defvjp(lambda x: (np.sum(x), x.shape), lambda shape, y: (np.full(shape, y),))
    rows = ag.compile(lambda x: outside(x) * 2.0).profile(np.ones(2)).rows
    assert any("outside" in row.operation for row in rows)


def test_lines_cost_nothing_when_not_asked_for():
    f = compiled()
    before = f.recorded()[0][1][0].program
    f.profile(*ARGUMENTS)
    assert f.recorded()[0][1][0].program is before
    assert len(f.recorded()[0][1]) == 1
    with ag.grad(lambda x: x * 1.0) and pytest.raises(Exception, match="lines are not known, but must be noted"):
        recording = _core.Recording("test", _core.Comparison.answers, False, False, 0)
        recording.program_with_lines(recording.input(np.ones(1)))


def test_what_is_no_argument_of_the_function_is_refused():
    with pytest.raises(TypeError):
        compiled().profile(1.0)
    with pytest.raises(TypeError):
        compiled().to_dot()


def test_every_kernel_of_the_headers_has_a_name():
    """A kernel that is added to the headers has to be named in cpp/rows/kernels.cpp, or programs cannot be pickled."""
    from pathlib import Path

    headers = Path(__file__).parents[3] / "cpp" / "include" / "agrad" / "program"
    if not headers.exists():
        pytest.skip("the headers are not there")
    text = "".join(header.read_text() for header in headers.rglob("*.[hi]pp"))
    definition = r'^(?:AGRAD_INLINE|inline) constexpr kernel \w+\s*=\s*make(?:_of)?<[^;]*?>\s*\(\s*"(\w+)"'
    made = re.findall(definition, text, re.MULTILINE)
    names = _core.kernel_names()
    assert len(made) > 20
    assert set(made) <= set(names)
    assert len(set(names)) == len(names)
    assert sys.intern("sin") in names
