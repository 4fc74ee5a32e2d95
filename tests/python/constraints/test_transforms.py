"""Constraining transforms: constraints, inverses, log Jacobians and derivatives, also at 0 and far from it; trees; faults."""

from __future__ import annotations

import collections
import copy
import pickle
from typing import Any

import numpy as np
import pytest

import agrad as ag
from agrad import constraints as tr

TRANSFORMS = [
    tr.real(3),
    tr.positive(),
    tr.positive((2, 2)),
    tr.lower(2.0, 3),
    tr.lower([-np.inf, 0.5]),
    tr.upper(np.array([1.0, 2.0])),
    tr.lower(np.zeros(0)),
    tr.interval(0.0, 1.0),
    tr.interval(-1.0, 3.0, 2),
    tr.interval([-np.inf, 0.0, -np.inf, 2.0], [np.inf, np.inf, 1.0, 2.5]),
    tr.offset_multiplier(1.0, [2.0, 0.5]),
    tr.ordered(1),
    tr.ordered(4),
    tr.positive_ordered(4),
    tr.simplex(1),
    tr.simplex(2),
    tr.simplex(5),
    tr.log_simplex(1),
    tr.log_simplex(4),
    tr.stochastic_rows(2, 3),
    tr.stochastic_columns(3, 2),
    tr.sum_to_zero(4),
    tr.sum_to_zero((3, 4)),
    tr.cholesky_correlation(1),
    tr.cholesky_correlation(4),
    tr.correlation(3),
    tr.cholesky_covariance(3),
    tr.cholesky_covariance(4, 2),
    tr.covariance(3),
]
each = pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)


def points(transform: tr.Transform) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    shape = transform.free_shape
    return [np.zeros(shape), rng.normal(size=shape), 3.0 * rng.normal(size=shape)]


def independent(transform: tr.Transform, value: Any) -> Any:
    """The entries of a value that determine the others."""
    name = transform.name
    if name in ("simplex", "log_simplex", "stochastic_rows"):
        return np.ravel(value[..., :-1])
    if name == "stochastic_columns":
        return np.ravel(value[:-1])
    if name in ("cholesky_correlation", "correlation"):
        return value[np.tril_indices(transform.shape[0], -1)]
    if name in ("cholesky_covariance", "covariance"):
        return value[np.tril_indices(transform.shape[0], 0, transform.shape[1])]
    return np.ravel(value)


def log_volume(jacobian: np.ndarray) -> float:
    """The logarithm of the determinant; of a matrix with more rows than columns, that of the volume of its columns."""
    m, n = jacobian.shape
    return float(np.linalg.slogdet(jacobian if m == n else jacobian.T @ jacobian)[1] / (1 if m == n else 2))


def of_flat(transform: tr.Transform, function: Any) -> Any:
    return lambda flat: function(np.reshape(flat, transform.free_shape))


@each
def test_values_satisfy_the_constraint_and_are_mapped_back(transform):
    for free in points(transform):
        value = transform.constrain(free)
        assert np.shape(value) == transform.shape
        back = transform.unconstrain(value)  # checks the constraint
        assert np.shape(back) == transform.free_shape
        np.testing.assert_allclose(back, free, rtol=1e-8, atol=1e-10)


@each
def test_the_log_jacobian_is_that_of_differences(transform):
    for free in points(transform):
        if not transform.size:
            assert transform.log_jacobian(free) == 0
            continue
        flat, h = np.ravel(free), 1e-5
        constrain = of_flat(transform, lambda x: independent(transform, transform.constrain(x)))
        columns = [
            (
                8 * (constrain(flat + h * e) - constrain(flat - h * e))
                - constrain(flat + 2 * h * e)
                + constrain(flat - 2 * h * e)
            )
            / (12 * h)
            for e in np.eye(transform.size)
        ]
        log_jacobian = transform.log_jacobian(free)
        assert log_jacobian == pytest.approx(log_volume(np.transpose(columns)), rel=1e-7, abs=1e-7)
        assert log_jacobian == pytest.approx(log_volume(ag.jacrev(constrain)(flat)), rel=1e-9, abs=1e-11)


@each
def test_derivatives_to_second_order_are_those_of_differences(transform):
    if not transform.size:
        return
    weights = np.random.default_rng(3).normal(size=transform.shape)

    def loss(free):
        return np.sum(weights * transform.constrain(free)) + transform.log_jacobian(free)

    f = of_flat(transform, loss)
    for free in points(transform)[:2]:
        flat, h = np.ravel(free), 1e-4
        for of, derivative in ((f, ag.grad(f)), (ag.grad(f), ag.hessian(f)), (ag.compile(ag.grad(f)), ag.jacfwd(ag.grad(f)))):
            exact = derivative(flat)
            differences = [
                (8 * (of(flat + h * e) - of(flat - h * e)) - of(flat + 2 * h * e) + of(flat - 2 * h * e)) / (12 * h)
                for e in np.eye(transform.size)
            ]
            np.testing.assert_allclose(exact, np.transpose(differences), rtol=1e-7, atol=1e-7 * (1 + np.max(np.abs(exact))))
        back = of_flat(transform, lambda x: transform.unconstrain(transform.constrain(x)))
        np.testing.assert_allclose(ag.jacrev(lambda x, back=back: np.ravel(back(x)))(flat), np.eye(flat.size), atol=1e-9)


@each
def test_vmap_and_copies(transform):
    free = np.stack(points(transform))
    rows = ag.vmap(transform.constrain)(free)
    twin = pickle.loads(pickle.dumps(copy.deepcopy(transform)))
    for k in range(len(free)):
        np.testing.assert_allclose(rows[k], twin.constrain(free[k]), rtol=1e-14, atol=1e-15)
        assert twin.log_jacobian(free[k]) == transform.log_jacobian(free[k])


def test_far_from_zero_values_and_log_jacobians_are_finite_and_exact():
    assert tr.interval(0.0, 1.0).constrain(-700.0) == pytest.approx(np.exp(-700.0), rel=1e-13)
    assert tr.interval(0.0, 1.0).log_jacobian(800.0) == pytest.approx(-800.0)
    assert 1 - tr.interval(0.0, 1.0).constrain(30.0) == pytest.approx(np.exp(-30.0), rel=1e-2)  # the spacing of numbers at 1
    share = tr.simplex(3)
    assert share.log_jacobian([1e3, 0.0]) == pytest.approx(-1000 * np.sqrt(2.0) - 1000 / np.sqrt(2.0), abs=2)
    factor = tr.cholesky_correlation(2)
    assert factor.constrain([300.0])[1, 1] == pytest.approx(2 * np.exp(-300.0), rel=1e-13)
    assert factor.log_jacobian([400.0]) == pytest.approx(2 * np.log(2.0) - 800.0, rel=1e-14)
    assert factor.unconstrain(factor.constrain([300.0])) == pytest.approx([300.0])


def test_bounds_may_be_parameters():
    def loss(p):
        t = tr.interval(p[0], p[1])
        return t.constrain(p[2]) + t.log_jacobian(p[2])

    low, high, x = p = np.array([0.5, 2.0, 0.3])
    s = 1 / (1 + np.exp(-x))
    exact = [1 - s - 1 / (high - low), s + 1 / (high - low), (high - low) * s * (1 - s) + 1 - 2 * s]
    np.testing.assert_allclose(ag.grad(loss)(p), exact, rtol=1e-14)
    scaled = ag.grad(lambda p: np.sum(tr.offset_multiplier(p[0], p[1], 3).log_jacobian(np.ones(3))))(np.array([0.0, 4.0]))
    np.testing.assert_allclose(scaled, [0, 3 / 4])


@pytest.mark.parametrize("of", [tr.interval, lambda low, high: tr.offset_multiplier(low, high - low)])
def test_bounds_and_multipliers_that_are_parameters_are_checked_at_each_run(of):
    def loss(p):
        return of(p[:2], p[2:]).constrain(np.zeros(2))[0]

    right, wrong = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0, 0.5])
    compiled = ag.compile(ag.grad(loss))
    assert np.all(np.isfinite(compiled(right)))
    of_rows = ag.vmap(loss)
    for call in (compiled, ag.grad(loss), ag.jacfwd(loss), lambda p: of_rows(np.stack([right, p]))):
        with pytest.raises(ag.DomainError, match=r"is \[(0. 1.|\s*2. +-0.5)\], but must be (less than high = |positive)"):
            call(wrong)
    with pytest.raises(ag.DomainError, match="must be"):
        ag.grad(lambda x: tr.interval(x, np.nan).constrain(0.0))(1.0)


def test_a_unit_vector_has_norm_one_and_the_normal_density_of_its_free_numbers():
    t = tr.unit_vector(3)
    free = np.array([0.3, -2.0, 0.7])
    assert np.linalg.norm(t.constrain(free)) == pytest.approx(1, rel=1e-15)
    np.testing.assert_allclose(t.unconstrain(t.constrain(free)), free / np.linalg.norm(free), rtol=1e-15)
    np.testing.assert_allclose(ag.grad(t.log_jacobian)(free), -free)
    np.testing.assert_allclose(ag.jacrev(t.constrain)(free) @ free, 0, atol=1e-15)


@pytest.mark.parametrize("size", [1e-300, 3e-170, 1e-161, 1.0, 1e160, 1e307])
def test_a_unit_vector_may_have_free_numbers_of_every_size(size):
    """With y = x / |x|: dy = (I - y y') dx / |x|, and d2 y_0 = -(y_0 (I - y y') + z y' + y z') / |x|^2 with z = e_0 - y_0 y."""
    t, y = tr.unit_vector(2), np.array([0.6, 0.8])
    x, flat = size * np.array([3.0, 4.0]), np.eye(2) - np.outer(y, y)
    z = np.array([1.0, 0.0]) - y[0] * y
    curvature = -(y[0] * flat + np.outer(z, y) + np.outer(y, z))
    for f in (t.constrain, ag.compile(t.constrain)):
        np.testing.assert_allclose(f(x), y, rtol=1e-15)
        for transform in (ag.jacrev, ag.jacfwd, lambda f: ag.compile(ag.jacobian(f))):
            np.testing.assert_allclose(transform(f)(x) * size, flat / 5, rtol=1e-14)
    if 1e-150 < size < 1e150:  # second derivatives of other sizes leave the range
        np.testing.assert_allclose(ag.hessian(lambda x: t.constrain(x)[0])(x) * size**2, curvature / 25, rtol=1e-13)
    if size < 1e150:
        assert t.log_jacobian(x) == pytest.approx(-12.5 * size**2, rel=1e-14)
        np.testing.assert_array_equal(ag.grad(t.log_jacobian)(x), -x)


@pytest.mark.parametrize("free", [[1e-320, -1e-320], [0.0, 0.0]])
def test_a_unit_vector_of_free_numbers_without_derivatives_is_refused_at_each_run(free):
    t = tr.unit_vector(2)
    compiled = ag.compile(t.constrain)
    np.testing.assert_allclose(compiled(np.array([3e-308, -3e-308])), np.array([1.0, -1.0]) / np.sqrt(2.0), rtol=1e-14)
    for call in (t.constrain, compiled, ag.jacobian(t.constrain), lambda x: ag.vmap(t.constrain)(np.stack([np.ones(2), x]))):
        with pytest.raises(
            ag.DomainError, match=r"^unit_vector.constrain: free is (of size 1e-320, of which|0, but must have)"
        ):
            call(np.array(free))


def test_logarithms_of_simplexes_keep_their_digits():
    free = np.array([1500.0, 0.3, -0.2])
    logs = tr.log_simplex(4).constrain(free)
    assert np.min(logs) < -1000  # where exp underflows
    np.testing.assert_allclose(tr.log_simplex(4).unconstrain(logs), free, rtol=1e-13)
    small = free / 1000
    np.testing.assert_allclose(np.exp(tr.log_simplex(4).constrain(small)), tr.simplex(4).constrain(small), rtol=1e-14)
    jacobians = [t.log_jacobian(small) for t in (tr.log_simplex(4), tr.simplex(4))]
    assert jacobians[0] + np.sum(tr.log_simplex(4).constrain(small)[:-1]) == pytest.approx(jacobians[1], rel=1e-14)


def test_a_uniform_density_of_simplexes_integrates_to_their_volume():
    t = tr.simplex(3)
    grid = np.linspace(-30, 30, 601)
    density = np.exp([[t.log_jacobian([a, b]) for a in grid[::4]] for b in grid[::4]])
    assert np.sum(density) * 0.4**2 == pytest.approx(1 / 2, rel=1e-6)  # the triangle of the first two entries


def test_a_tree_maps_a_flat_vector_to_parameters_and_back():
    tree = tr.Tree({"mu": tr.real(), "rest": (tr.simplex(3), [tr.positive(2)]), "L": tr.cholesky_correlation(2)})
    free = np.random.default_rng(0).normal(size=tree.size)
    parameters = tree.constrain(free)
    assert parameters["mu"] == free[1]  # dictionaries are sorted by key
    assert parameters["L"].shape == (2, 2)
    np.testing.assert_allclose(tree.unconstrain(parameters), free, rtol=1e-12)
    parts = tr.cholesky_correlation(2).log_jacobian(free[:1]) + tr.simplex(3).log_jacobian(free[2:4]) + np.sum(free[4:])
    assert tree.log_jacobian(free) == pytest.approx(parts, rel=1e-14)
    density = lambda x: ag.normal_lpdf(tree.constrain(x)["rest"][0], 0.2, 1.5) + tree.log_jacobian(x)  # noqa: E731
    compiled = ag.compile(ag.value_and_grad(density))
    assert compiled(free)[0] == pytest.approx(density(free), rel=1e-14)
    np.testing.assert_allclose(compiled(free)[1], ag.grad(density)(free), rtol=1e-13)
    assert tr.Tree({}).constrain([]) == {}
    for make, free in ((dict, [1.0, 2.0]), (collections.OrderedDict, [2.0, 1.0])):
        pair = tr.Tree(make(b=tr.real(), a=tr.real()))
        assert pair.constrain(free) == {"a": 1.0, "b": 2.0}
        np.testing.assert_array_equal(pair.unconstrain(make(a=1.0, b=2.0)), free)
        np.testing.assert_array_equal(pair.unconstrain(make(b=2.0, a=1.0)), free)
    assert tr.Tree({}).unconstrain({}).shape == (0,)


def test_a_tree_within_a_tree_stands_for_its_transforms():
    def parts():
        return {"sd": tr.positive(2), "at": (tr.real(), tr.simplex(3))}

    inner = tr.Tree(parts())
    tree = tr.Tree({"z": [inner, tr.covariance(2)], "a": tr.Tree({"b": inner}), "m": tr.real()})
    flat = tr.Tree({"z": [parts(), tr.covariance(2)], "a": {"b": parts()}, "m": tr.real()})
    free = np.random.default_rng(0).normal(size=tree.size)
    parameters = tree.constrain(free)
    assert tree.size == flat.size == 2 * inner.size + 4
    assert parameters["m"] == flat.constrain(free)["m"]
    np.testing.assert_array_equal(parameters["a"]["b"]["sd"], inner.constrain(free[: inner.size])["sd"])
    np.testing.assert_array_equal(parameters["z"][0]["at"][1], flat.constrain(free)["z"][0]["at"][1])
    np.testing.assert_allclose(tree.unconstrain(parameters), free, rtol=1e-12)
    assert tree.log_jacobian(free) == flat.log_jacobian(free)
    separate = inner.log_jacobian(free[: inner.size]) + inner.log_jacobian(free[1 + inner.size : 1 + 2 * inner.size])
    assert tree.log_jacobian(free) == pytest.approx(separate + tr.covariance(2).log_jacobian(free[-3:]), rel=1e-13)
    gradient = ag.grad(lambda x: tree.log_jacobian(x) + np.sum(tree.constrain(x)["a"]["b"]["at"][1] ** 2))
    np.testing.assert_allclose(ag.compile(gradient)(free), gradient(free), rtol=1e-13)
    parameters["z"][0]["sd"] = np.array([1.0, -1.0])
    with pytest.raises(ag.DomainError, match=r"positive.unconstrain: value\[1\] is -1"):
        tree.unconstrain(parameters)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tr.simplex(3).unconstrain([0.5, 0.6, 0.1]), ag.DomainError, r"simplex.unconstrain: value sums to 1.2.*"),
        (
            lambda: tr.simplex(2).unconstrain([1.5, -0.5]),
            ag.DomainError,
            r"simplex.unconstrain: value\[1\] is -0.5, but must be",
        ),
        (lambda: tr.simplex(2).unconstrain([np.nan, 0.5]), ag.DomainError, r"value\[0\] is nan"),
        (lambda: tr.log_simplex(2).unconstrain([-1.0, 0.5]), ag.DomainError, r"exp\(value\) sums to 2.01.*, but must sum to 1"),
        (lambda: tr.log_simplex(2).unconstrain([0.0, -np.inf]), ag.DomainError, r"log_simplex.unconstrain: value\[1\] is -inf"),
        (lambda: tr.stochastic_rows(2, 2).unconstrain([[0.5, 0.5], [0.5, 0.6]]), ag.DomainError, r"value\[1\] sums to 1.1"),
        (lambda: tr.stochastic_columns(2, 2).unconstrain([[0.5, -0.1], [0.5, 1.1]]), ag.DomainError, r"value\[0, 1\] is -0.1"),
        (
            lambda: tr.stochastic_columns(2, 2).unconstrain([[0.5, 0.5], [0.5, 0.6]]),
            ag.DomainError,
            r"value\[:, 1\] sums to 1.1",
        ),
        (lambda: tr.simplex(0), ag.ShapeError, "simplex: n is 0, but must be a whole number, 1 or more"),
        (lambda: tr.simplex(2.5), ag.ShapeError, "n is 2.5"),
        (lambda: tr.simplex(3).constrain([1.0, 2.0, 3.0]), ag.ShapeError, r"free has shape \(3,\), but must have shape \(2,\)"),
        (lambda: tr.ordered(2).unconstrain([1.0, 1.0]), ag.DomainError, r"value\[1\] is 1.0, but must be greater"),
        (lambda: tr.positive_ordered(2).unconstrain([-1.0, 1.0]), ag.DomainError, r"value\[0\] is -1.0"),
        (lambda: tr.positive().unconstrain(0.0), ag.DomainError, "positive.unconstrain: value is 0.0, but must be above 0.0"),
        (lambda: tr.interval(0, 1, 2).unconstrain([0.5, 1.0]), ag.DomainError, r"value\[1\] is 1.0, but must be below 1.0"),
        (lambda: tr.interval(1.0, 1.0), ag.DomainError, "interval: low is 1.0, but must be less than high = 1.0"),
        (lambda: tr.lower(np.nan), ag.DomainError, "lower: bound is nan, but must be a number, not nan"),
        (lambda: tr.lower(np.inf), ag.DomainError, "lower: bound is inf, but must be less than infinity"),
        (lambda: tr.lower([1.0, 2.0], 3), ag.ShapeError, r"lower: bound has shape \(2,\), but must broadcast to shape \(3,\)"),
        (lambda: tr.offset_multiplier(0.0, -1.0), ag.DomainError, "multiplier is -1.0, but must be positive and finite"),
        (lambda: tr.offset_multiplier(np.inf, 1.0), ag.DomainError, "offset is inf, but must be finite"),
        (lambda: tr.correlation(2).unconstrain([[1, 0.5], [0.4, 1]]), ag.DomainError, r"value\[0, 1\] is 0.5, but must be"),
        (lambda: tr.correlation(2).unconstrain([[1, 0.5], [0.5, 2]]), ag.DomainError, r"value\[1, 1\] is 2.0, but must be 1"),
        (
            lambda: tr.covariance(2).unconstrain([[1, 2], [2, 1]]),
            ag.DomainError,
            "positive definite; the pivot of row 1 is -3$",
        ),
        (
            lambda: tr.correlation(2).unconstrain([[1, 2], [2, 1]]),
            ag.DomainError,
            "value is not positive definite.*row 1 is -3",
        ),
        (lambda: tr.covariance(1).unconstrain([[np.inf]]), ag.DomainError, r"value\[0, 0\] is inf, but must be finite"),
        (lambda: tr.correlation(2).unconstrain([[1, np.nan], [np.nan, 1]]), ag.DomainError, r"value\[0, 1\] is nan, .* finite"),
        (lambda: tr.cholesky_covariance(2, 3), ag.ShapeError, "m is 2, but must be at least n = 3"),
        (
            lambda: tr.cholesky_covariance(2).unconstrain([[1, 2], [2, 1]]),
            ag.DomainError,
            r"value\[0, 1\] is 2.0, but must be 0",
        ),
        (lambda: tr.cholesky_correlation(2).unconstrain([[1, 0], [1, 1]]), ag.DomainError, r"value\[1\] has the norm 1.41"),
        (lambda: tr.unit_vector(2).unconstrain([1.0, 1.0]), ag.DomainError, "value has the norm 1.41"),
        (lambda: tr.unit_vector(2).constrain([0.0, 0.0]), ag.DomainError, "free is 0"),
        (lambda: tr.sum_to_zero((2, 2)).unconstrain([[1, 0], [0, 0]]), ag.DomainError, "value sums to 1.0 along axis 0"),
        (lambda: tr.sum_to_zero(3).unconstrain([np.inf, 1.0, 2.0]), ag.DomainError, "value sums to inf along axis 0"),
        (lambda: tr.sum_to_zero(2).unconstrain([np.inf, -np.inf]), ag.DomainError, "value sums to nan along axis 0"),
        (lambda: tr.sum_to_zero((2, 2, 2)), ag.ShapeError, "must be a whole number or two"),
        (lambda: tr.Tree([tr.Tree([tr.real()]), {"a": 3}]), TypeError, r"Tree: transforms\[1\]\['a'\] is 3, but must be"),
        (lambda: tr.Tree({"a": 3}), TypeError, r"Tree: transforms\['a'\] is 3, but must be a transform"),
        (
            lambda: tr.Tree([tr.real()]).constrain([1.0, 2.0]),
            ag.ShapeError,
            r"free has shape \(2,\), but must have shape \(1,\)",
        ),
        (lambda: tr.Tree({"a": tr.real()}).unconstrain({"b": 1.0}), ag.ShapeError, "must have the structure of the transforms"),
    ],
)
def test_faults(call, error, message):
    with pytest.raises(error, match=message):
        call()
