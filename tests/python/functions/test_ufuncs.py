"""Which ufuncs of NumPy and SciPy take recorded arrays: every real one of NumPy's, and SciPy's by all of their names."""

import numpy as np
import pytest
import scipy.special

import agrad as ag
from elementwise_reference import ROWS, ufunc_of


def test_most_functions_have_a_ufunc():
    assert sum(ufunc_of(row) is not None for row in ROWS) > 90


@pytest.mark.parametrize("name", ["digamma", "psi", "gammaln", "expit", "log_expit", "cbrt", "exp2", "expm1", "log1p"])
def test_names_that_scipy_has_besides(name):
    """Aliases, and functions that both NumPy and SciPy have."""
    ufunc = getattr(scipy.special, name)
    x = np.array([0.25, 0.75])
    np.testing.assert_allclose(ag.compile(lambda x: ufunc(x))(x), ufunc(x), rtol=1e-14)


#: Ufuncs of doubles that give two results, or are no functions of real numbers.
NOT_DIFFERENTIABLE = {"frexp", "modf", "nextafter", "spacing"}


def test_every_real_ufunc_of_numpy_takes_recorded_arrays():
    ufuncs = {
        f for f in vars(np).values() if isinstance(f, np.ufunc) and any(set(t) <= set("di?->l") and "d" in t for t in f.types)
    }
    point = np.array([0.25, 0.5])
    for ufunc in ufuncs:
        if ufunc.__name__ in NOT_DIFFERENTIABLE or ufunc.signature is not None:
            continue
        others = [np.array([1, 2])] if ufunc is np.ldexp else [point] * (ufunc.nin - 1)
        with np.errstate(all="ignore"):
            expected = ufunc(point, *others)
            if ufunc.nout == 1:
                got = ag.compile(lambda x, f=ufunc, o=others: f(x, *o))(point)
                np.testing.assert_allclose(got, expected, rtol=1e-14, err_msg=ufunc.__name__)


@pytest.mark.parametrize("function", [np.sinc, np.i0])
def test_functions_of_numpy_that_are_no_ufuncs(function):
    x = np.array([0.0, 0.25, 1.5])
    np.testing.assert_allclose(ag.compile(lambda x: function(x))(x), function(x), rtol=1e-14)


def test_polygamma_has_agrads_name_only():
    """SciPy's polygamma is a Python function that converts its arguments: its error says so."""
    with pytest.raises(TypeError, match=r"recorded"):
        ag.grad(lambda x: scipy.special.polygamma(1, x))(2.5)
    assert ag.grad(lambda x: ag.polygamma(1, x))(2.5) == pytest.approx(scipy.special.polygamma(2, 2.5), rel=1e-14)
