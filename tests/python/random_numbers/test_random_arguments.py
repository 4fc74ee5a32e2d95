"""What all functions that draw do with their arguments: conditions of the densities, shapes, generators, recorded values."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
from agrad import random
from agrad._core import checked, density_rows, glm_rows
from agrad._random.conditions import is_whole

ROWS = {row.name: row for row in [*density_rows(), *glm_rows()]}
#: Names of the distributions with a density, and the density's row.
WITH_DENSITY = {
    name: ROWS[density]
    for name in random.__all__
    for density in (name.replace("_rng", "_lpdf"), name.replace("_rng", "_lpmf"))
    if density in ROWS
}
PROBES = [-np.inf, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, np.inf, np.nan]
EXAMPLES = {
    "bernoulli_logit_glm_rng": (np.ones((4, 3)), 0.5, np.ones(3)),
    "hypergeometric_rng": (3, 4, 5),
    "uniform_rng": (0.0, 1.0),
    "discrete_range_rng": (0, 3),
    "categorical_rng": ([0.3, 0.7],),
    "categorical_logit_rng": ([0.3, 0.7],),
    "ordered_logistic_rng": (0.1, [0.3, 0.7]),
    "ordered_probit_rng": (0.1, [0.3, 0.7]),
    "dirichlet_rng": ([0.3, 0.7],),
    "multinomial_rng": ([0.3, 0.7], 5),
    "multinomial_logit_rng": ([0.3, 0.7], 5),
    "dirichlet_multinomial_rng": ([0.3, 0.7], 5),
    "multi_normal_rng": (np.ones(2), np.eye(2)),
    "multi_normal_cholesky_rng": (np.ones(2), np.eye(2)),
    "multi_student_t_rng": (5.0, np.ones(2), np.eye(2)),
    "multi_student_t_cholesky_rng": (5.0, np.ones(2), np.eye(2)),
    "wishart_rng": (3.0, np.eye(2)),
    "wishart_cholesky_rng": (3.0, np.eye(2)),
    "inv_wishart_rng": (3.0, np.eye(2)),
    "inv_wishart_cholesky_rng": (3.0, np.eye(2)),
    "lkj_corr_rng": (3, 1.0),
    "lkj_corr_cholesky_rng": (3, 1.0),
}
every = pytest.mark.parametrize("name", random.__all__)


def value_for(condition):
    for x in (0.5, 1.0):
        try:
            return checked("value_for", "x", condition, x)
        except ag.DomainError:
            pass
    raise AssertionError(condition)


def parameters_of(name):
    """Return valid parameters of a function."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    return tuple(value_for(condition) for _, condition in WITH_DENSITY[name].arguments[1:])


def names_of(name):
    return [each for each in inspect.signature(getattr(ag, name)).parameters if each not in ("rng", "size")]


def test_every_name_is_exported():
    assert len(random.__all__) == len(set(random.__all__)) == 65
    assert set(random.__all__) <= set(ag.stan.__all__)


def test_every_function_of_a_distribution_is_tested():
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*_draws.py"))
    missing = [name for name in random.__all__ if f'"{name.removesuffix("_rng")}"' not in text]
    assert not missing


@pytest.mark.parametrize("name", list(WITH_DENSITY))
def test_parameters_are_those_of_the_density(name):
    assert names_of(name) == [argument for argument, _ in WITH_DENSITY[name].arguments[1:]]


@pytest.mark.parametrize("name", [name for name in WITH_DENSITY if name not in EXAMPLES])
def test_conditions_are_those_of_the_density(name):
    row, draw = WITH_DENSITY[name], getattr(ag, name)
    good = parameters_of(name)
    for k in range(len(good)):
        for probe in PROBES:
            given = [*good[:k], probe, *good[k + 1 :]]
            try:
                row(1.0, *given)
                refused = ""
            except ag.DomainError as error:
                refused = str(error)
            if not refused and (name, names_of(name)[k], probe) in NO_DRAWS:
                with pytest.raises(ag.DomainError):
                    draw(*given)
            elif not refused:
                draw(*given, rng=1)
            else:
                with pytest.raises(ag.DomainError) as caught:
                    draw(*given)
                narrower = NARROWER.get((name, names_of(name)[k]), "")
                assert str(caught.value) == name + refused.removeprefix(row.name) + narrower


#: Where a density has a value, -inf or a limit, and there is nothing to draw.
NO_DRAWS = {
    ("skew_double_exponential_rng", "tau", 0.0),
    ("skew_double_exponential_rng", "tau", 1.0),
    ("poisson_rng", "lambda_", np.inf),
    ("poisson_log_rng", "alpha", np.inf),
}
#: What draws demand beyond the density's condition on entries.
NARROWER = {("skew_double_exponential_rng", "tau"): ", not 0 or 1"}


@every
def test_sizes_and_seeds(name):
    draw, parameters = getattr(ag, name), parameters_of(name)
    one = draw(*parameters, rng=3)
    many = draw(*parameters, rng=np.random.default_rng(3), size=(2, 3))
    assert np.shape(many) == (2, 3, *np.shape(one))
    np.testing.assert_array_equal(many, draw(*parameters, rng=3, size=(2, 3)))
    assert draw(*parameters, rng=3, size=0).shape == (0, *np.shape(one))
    assert draw(*parameters, rng=3, size=2).dtype == many.dtype
    if np.ndim(one) == 0:
        assert isinstance(one, (np.float64, np.int64))
    if many.dtype == float:  # without a seed, draws differ
        assert np.any(draw(*parameters, size=3) != draw(*parameters, size=3))


@every
def test_parameters_broadcast(name):
    parameters = parameters_of(name)
    if not parameters:
        return
    draw = getattr(ag, name)
    first = 1 if name.startswith("lkj") else 0
    stacked = list(parameters)
    stacked[first] = np.stack([parameters[first]] * 3)[:, None]
    stacked[-1] = stacked[-1] if first == len(parameters) - 1 else np.stack([parameters[-1]] * 2)
    single = np.shape(draw(*parameters, rng=1))
    batch = (3, 1) if first == len(parameters) - 1 else (3, 2)
    y = draw(*stacked, rng=1)
    assert y.shape == (*batch, *single)
    assert draw(*stacked, rng=1, size=(4, *batch)).shape == (4, *batch, *single)
    with pytest.raises(ag.ShapeError, match=f"^{name}: size is \\(5,\\), but must be a shape to which"):
        draw(*stacked, size=5)


@every
def test_recorded_parameters_are_refused(name):
    parameters, names = parameters_of(name), names_of(name)
    for k, parameter in enumerate(names):
        at = np.asarray(parameters[k], dtype=float)

        def f(x, k=k):
            getattr(ag, name)(*parameters[:k], x, *parameters[k + 1 :])
            return np.sum(x)

        with pytest.raises(TypeError, match=f"^{name}: {parameter} is a recorded value, but must be plain, because"):
            ag.grad(f)(at)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ag.normal_rng([0.0, 1.0], [1, 2, 3]), ag.ShapeError, r"shapes of parameters are mu \(2,\), sigma \(3,\)"),
        (lambda: ag.normal_rng(0.0, [[1.0, -2.0]]), ag.DomainError, r"normal_rng: sigma\[0, 1\] is -2, but must be positive"),
        (lambda: ag.normal_rng(0.0), TypeError, "normal_rng: missing a required argument: 'sigma'"),
        (lambda: ag.normal_rng(10**400, 1.0), OverflowError, "normal_rng: mu is an int beyond 1.8e308, but must be in"),
        (lambda: ag.normal_rng("a", 1.0), TypeError, "normal_rng: mu is of dtype <U1, but must be real numbers"),
        (lambda: ag.normal_rng(1j, 1.0), TypeError, "normal_rng: mu is of dtype complex128, but must be real numbers"),
        (lambda: ag.normal_rng([[1], [1, 2]], 1.0), TypeError, "normal_rng: mu is .*, but must be real numbers"),
        (lambda: ag.normal_rng(np.ma.ones(2), 1.0), TypeError, "normal_rng: mu is a masked array"),
        (lambda: ag.normal_rng(0.0, 1.0, rng=np.random.RandomState(1)), TypeError, "normal_rng: rng is RandomState.*Generator"),
        (lambda: ag.normal_rng(0.0, 1.0, rng=-1), ValueError, "normal_rng: rng is -1, but must be a numpy.random"),
        (lambda: ag.normal_rng(0.0, 1.0, size=-1), ag.ShapeError, "normal_rng: size is -1, but must not be negative"),
        (lambda: ag.normal_rng(0.0, 1.0, size=1.5), TypeError, "normal_rng: size is 1.5, but must be a whole number"),
        (lambda: ag.uniform_rng([1.0, 2.0], 1.5, size=(3, 2)), ag.DomainError, "uniform_rng: beta is 1.5, but must be greater"),
        (lambda: ag.discrete_range_rng(3, [4, 2]), ag.DomainError, r"u\[1\] is 2.0, but must be l or greater"),
        (lambda: ag.hypergeometric_rng(5, 2, 2), ag.DomainError, r"hypergeometric_rng: N is 5.0, but must be at most a \+ b"),
        (lambda: ag.categorical_rng([[0.5, 0.5], [0.1, 0.8]]), ag.DomainError, r"theta\[1\] is of sum 0.9, but must be of"),
        (lambda: ag.categorical_rng([1.5, -0.5]), ag.DomainError, r"theta\[1\] is -0.5, but must be nonnegative"),
        (lambda: ag.categorical_rng(1.0), ag.ShapeError, r"theta is of shape \(\), but must have 1 or more axes"),
        (lambda: ag.dirichlet_rng([]), ag.ShapeError, r"dirichlet_rng: alpha is of shape \(0,\), but must not be empty"),
        (lambda: ag.ordered_probit_rng(0.0, [1.0, 1.0]), ag.DomainError, r"c\[1\] is 1.0, but must be larger than"),
        (lambda: ag.multi_normal_rng(np.ones(3), np.eye(2)), ag.ShapeError, r"Sigma is of shape \(2, 2\), .*, 3, 3\); by mu"),
        (lambda: ag.multi_normal_rng(np.ones(2), np.ones((2, 3))), ag.ShapeError, r"Sigma is of shape \(2, 3\)"),
        (lambda: ag.multi_normal_rng(np.ones(2), [[1, 0], [1, 1]]), ag.DomainError, r"Sigma\[0, 1\] is 0.0, but must be that"),
        (lambda: ag.wishart_rng(3.0, [[1, 2], [2, 1]]), ag.DomainError, "Sigma is not positive definite.*row 1 is -3$"),
        (lambda: ag.multi_normal_rng([0, 0], [np.eye(2), -np.eye(2)]), ag.DomainError, r"Sigma\[1\] is not .* row 0 is -1"),
        (lambda: ag.wishart_rng(1.0, np.eye(2)), ag.DomainError, r"wishart_rng: nu is 1.0, but must be greater than 1"),
        (lambda: ag.wishart_cholesky_rng(3.0, [[1, 2], [2, 1]]), ag.DomainError, r"L_S\[0, 1\] is 2.0, but must be 0, ab"),
        (lambda: ag.wishart_cholesky_rng(3.0, [[1, 0], [2, 0]]), ag.DomainError, r"L_S\[1, 1\] is 0.0, but must be positive"),
        (lambda: ag.lkj_corr_rng([2, 3], 1.0), ag.ShapeError, r"lkj_corr_rng: K is of shape \(2,\), but must be one number"),
        (lambda: ag.lkj_corr_rng(0, 1.0), ag.DomainError, r"lkj_corr_rng: K is 0.0, but must be a whole number, positive"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call()


OF_VECTORS = [name for name in EXAMPLES if any(map(np.ndim, EXAMPLES[name])) and not name.startswith("bernoulli_logit_glm")]


@pytest.mark.parametrize("name", OF_VECTORS)
def test_vectors_and_matrices_must_not_be_empty(name):
    empty = [np.zeros((0,) * np.ndim(x)) if np.ndim(x) else x for x in EXAMPLES[name]]
    first = next(k for k, x in enumerate(empty) if np.ndim(x))
    shape = re.escape(str(empty[first].shape))
    with pytest.raises(ag.ShapeError, match=f"^{name}: {names_of(name)[first]} is of shape {shape}, but must not be empty$"):
        getattr(ag, name)(*empty)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if "Sigma" in names_of(name)])
def test_matrices_are_symmetric_in_the_measure_of_the_density(name):
    *others, _ = EXAMPLES[name]
    draw = getattr(ag, name)
    close, far = (np.array([[1.0, above], [0.0, 1e-6]]) for above in (0.9e-8, 1.1e-8))
    draw(*others, close)
    draw(*others, np.array([np.eye(2), close]))
    with pytest.raises(ag.DomainError, match=r"Sigma\[1, 0, 1\] is 1\.1e-08, but must be that of the transposed place"):
        draw(*others, np.array([1e3 * np.eye(2), far]))


def test_every_docstring_has_its_parameters():
    for name in random.__all__:
        text = getattr(ag, name).__doc__
        sections = [line for line in text.splitlines() if re.fullmatch("[A-Z][a-z]+", line)]
        assert sections[:3] == ["Parameters", "Returns", "Raises"], name
        for parameter in [*names_of(name), "rng", "size"]:
            assert re.search(rf"^{parameter} : ", text, re.MULTILINE), (name, parameter)


def test_whole_numbers_stay_within_doubles():
    conditions = {condition for row in density_rows() for _, condition in row.arguments if "whole" in condition}
    assert len(conditions) > 1
    assert all(is_whole(condition) for condition in conditions)
    assert ag.discrete_range_rng(2**53 - 1, 2**53 - 1) == 2**53 - 1
    with pytest.raises(ag.DomainError, match=r"u is 9007199254740992.0, but must be below 2\^53"):
        ag.discrete_range_rng(0, 2**53 + 1)
