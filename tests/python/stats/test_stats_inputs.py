"""What agrad.stats takes in place of arrays of doubles: columns of tables, objects that are numbers, and arrays of few bits."""

from fractions import Fraction

import numpy as np
import pytest

import agrad as ag

DOUBLES = np.array([1.0, 2.0, 0.0])
FORMS = {
    "few bits": DOUBLES.astype(np.uint8),
    "objects": DOUBLES.astype(object),
    "fractions": np.array([Fraction(1), Fraction(2), Fraction(0)], dtype=object),
    "single precision": DOUBLES.astype(np.float32),
    "a list": [1, 2, 0],
}
NAMES = ["gumbel_l", "norm", "expon", "vonmises", "uniform", "laplace"]


class Column:
    """What NumPy reads as an array, as a column of a table is."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_observations_and_parameters_are_doubles(name, form):
    distribution = getattr(ag.stats, name)
    shapes = (2.0,) if name == "vonmises" else ()
    for given in (FORMS[form], Column(FORMS[form])):
        for method in ("logpdf", "cdf"):
            of = getattr(distribution, method)
            np.testing.assert_array_equal(of(given, *shapes), of(DOUBLES, *shapes))
            np.testing.assert_array_equal(of(0.5, *shapes, loc=given), of(0.5, *shapes, loc=DOUBLES))


def test_single_precision_of_parameters_is_widened_first():
    tenth = np.array([0.1], dtype=np.float32)
    expected = ag.stats.exponnorm.logpdf(1.0, tenth.astype(float))
    assert ag.stats.exponnorm.logpdf(1.0, Column(tenth)) == expected


def test_columns_of_pandas_are_arrays():
    pandas = pytest.importorskip("pandas")
    of = ag.stats.gumbel_l.logpdf
    for kind in ("uint8", "float32", "Int64"):
        np.testing.assert_array_equal(of(pandas.Series(DOUBLES).astype(kind), 0, 1), of(DOUBLES, 0, 1))


def test_objects_that_are_no_numbers_are_refused():
    with pytest.raises((TypeError, ag.DomainError), match="entry 1 is None"):
        ag.stats.norm.logpdf(np.array([1.0, None], dtype=object))
    with pytest.raises(TypeError, match="mask"):
        ag.stats.norm.logpdf(np.ma.masked_array([1.0, 2.0], mask=[True, False]))
