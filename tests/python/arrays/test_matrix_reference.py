"""The table that the C++ tests of matrices read is what its program makes."""

from pathlib import Path

import pytest

import matrix_reference

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

TABLE = Path(__file__).resolve().parents[2] / "reference" / "matrix.txt"


def test_names():
    titles = [line for line in TABLE.read_text().splitlines() if ": " in line and not line.startswith("#")]
    assert titles == [f"{function}: {name}" for function, points in matrix_reference.POINTS.items() for name in points]


def point(title):
    """Return the lines of the table between a title and the next one, as a dict of label to numbers."""
    lines = TABLE.read_text().splitlines()
    begin = lines.index(title) + 1
    end = next((i for i in range(begin, len(lines)) if ": " in lines[i]), len(lines))
    return parsed(lines[begin:end])


def parsed(lines):
    """Return lines of a label and numbers as a dict."""
    return {label: [float(number) for number in numbers] for label, *numbers in map(str.split, lines)}


@pytest.mark.parametrize("function", matrix_reference.POINTS)
def test_table(function):
    name = next(iter(matrix_reference.POINTS[function]))
    title, *lines = matrix_reference.lines(matrix_reference.truth(function, name))
    made, kept = parsed(lines), point(title)
    assert made.keys() == kept.keys()
    for label in made:  # versions of mpmath round the last decimal differently
        tolerance = 0.01 if label.endswith(".unit") else 4e-16
        assert made[label] == pytest.approx(kept[label], rel=tolerance, abs=1e-30), label
