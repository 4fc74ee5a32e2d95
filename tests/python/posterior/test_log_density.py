"""Log densities as objects: values beside those by hand, names, order, rows, data, rejected points, pickles."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import agrad as ag
from agrad import constraints as of
from agrad import stan
from c_calls import SIGMA, Y, called, pointwise, schools, theta

DATA = {"y": Y, "sigma": SIGMA}
PARAMETERS = {"z": of.real(8), "mu": of.real(), "tau": of.positive()}
X = np.linspace(-1, 1, 10)


def make(**more):
    return ag.LogDensity(schools, PARAMETERS, data=DATA, **more)


def by_hand(x, jacobian=True):
    z, mu, tau = x[:8], x[8], np.exp(x[9])
    density = stan.normal_lpdf(Y, mu + tau * z, SIGMA) + stan.normal_lpdf(z, 0.0, 1.0) + stan.normal_lpdf(mu, 0.0, 5.0)
    return density + stan.cauchy_lpdf(tau, 0.0, 5.0) + (x[9] if jacobian else 0.0)


@pytest.mark.parametrize("jacobian", [True, False])
def test_values_and_derivatives_are_those_by_hand(jacobian):
    model = make()

    def f(x):
        return by_hand(x, jacobian)

    assert model.log_density(X, jacobian=jacobian) == pytest.approx(f(X), rel=1e-14)
    value, gradient = model.log_density_gradient(X, jacobian=jacobian)
    assert value == model.log_density(X, jacobian=jacobian)
    np.testing.assert_allclose(gradient, ag.grad(f)(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(model.hessian(X, jacobian=jacobian), ag.hessian(f)(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(model.hvp(X, X**2, jacobian=jacobian), ag.hvp(f)(X, X**2), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(ag.grad(lambda x: model.log_density(x, jacobian=jacobian))(X), gradient, rtol=1e-12, atol=1e-14)


def test_rows_are_their_vectors_to_the_last_bit():
    model, rows = make(generated=theta, log_likelihood=pointwise), np.stack([X, X / 2, -X])
    values, gradients = model.log_density_gradient(rows)
    for row, value, gradient, hessian in zip(rows, values, gradients, model.hessian(rows), strict=True):
        assert model.log_density(row) == value
        np.testing.assert_array_equal(model.log_density_gradient(row)[1], gradient)
        np.testing.assert_array_equal(model.hessian(row), hessian)
    for n, row in enumerate(rows):
        np.testing.assert_allclose(model.constrain(rows)["tau"][n], np.exp(row[9]), rtol=1e-15)
        np.testing.assert_allclose(model.generated(rows)["theta"][n], model.generated(row)["theta"], rtol=1e-14)
        np.testing.assert_allclose(model.log_likelihood(rows)[n], model.log_likelihood(row), rtol=1e-14)
    assert model.log_likelihood(X).shape == (8,)
    assert model.log_density(np.zeros((0, 10))).shape == (0,)


def test_c_function_has_the_same_bits():
    model = make()
    f = model.c_function()
    code, value, gradient = called(f, X)
    assert code == 0
    assert value == model.log_density(X)
    np.testing.assert_array_equal(gradient, model.log_density_gradient(X)[1])


def test_order_of_declaration_and_names():
    parameters = {
        "school": {"sd": of.positive((2, 3)), "mean": of.real()},
        "pair": (of.interval(0.0, 1.0), [of.simplex(3)]),
        "a": of.cholesky_correlation(2),
    }
    model = ag.LogDensity(lambda p: -np.sum(p["school"]["sd"]) - p["school"]["mean"] ** 2 + p["pair"][0], parameters)
    sd = [f"school.sd[{i},{j}]" for i in range(2) for j in range(3)]
    pair = ["pair[0]", "pair[1][0][0]", "pair[1][0][1]"]
    assert model.unconstrained_names == [*sd, "school.mean", *pair, "a[0]"]
    assert model.names == [*sd, "school.mean", *pair, "pair[1][0][2]", *(f"a[{i},{j}]" for i in range(2) for j in range(2))]
    x = np.arange(1.0, 12.0) / 10
    values = model.constrain(x)
    np.testing.assert_allclose(values["school"]["sd"], np.exp(x[:6]).reshape(2, 3))
    assert values["school"]["mean"] == x[6]
    np.testing.assert_allclose(values["pair"][0], 1 / (1 + np.exp(-x[7])))
    np.testing.assert_allclose(model.unconstrain(values), x, rtol=1e-12)
    assert model.size == 11
    assert "school.sd[2, 3]" in repr(model)


def test_changes_of_data_are_not_seen():
    data = {"y": Y.copy(), "sigma": SIGMA.copy()}
    model = ag.LogDensity(schools, PARAMETERS, data=data)
    f, expected = model.c_function(), model.log_density(X)
    data["y"][:] = 0.0
    assert model.log_density(X) == expected
    assert called(f, X)[1] == expected


def test_dims_of_computed_variables_are_kept():
    assert make(generated=theta, dims={"theta": "school"}).dims == {"theta": ["school"]}


def test_other_data_share_recordings():
    model = make()
    model.log_density(X)
    other = model.with_data({"y": 2 * Y, "sigma": SIGMA})
    assert other.log_density(X) != model.log_density(X)
    twice = ag.LogDensity(schools, PARAMETERS, data={"y": 2 * Y, "sigma": SIGMA})
    assert other.log_density(X) == pytest.approx(twice.log_density(X), rel=1e-14)
    with pytest.raises(TypeError, match="data is None"):
        model.with_data(None)


def test_groups_and_tables_are_data():
    table = pd.DataFrame({"y": [1.0, 2.0, 3.0, 4.0], "group": [0, 1, 1, 0], "name": list("abcd")})

    def log_joint(p, data):
        return stan.normal_lpdf(data["y"], p["mean"][data["group"]], 1.0)

    model = ag.LogDensity(log_joint, {"mean": of.real(2)}, data={"y": table["y"], "group": table["group"]})
    assert model.log_density([2.5, 2.5]) == pytest.approx(stan.normal_lpdf([1.0, 2.0, 3.0, 4.0], 2.5, 1.0))
    moved = model.with_data({"y": table["y"], "group": np.array([1, 1, 1, 1])})
    np.testing.assert_allclose(moved.log_density_gradient([0.0, 0.0])[1], [0.0, 10.0])


def refusing(p):
    return stan.normal_lpdf(0.5, 0.0, p["scale"]) + np.log(p["positive"]) + 0.0 * p["other"]


def test_points_are_rejected_by_reason():
    model = ag.LogDensity(refusing, {"scale": of.real(), "positive": of.real(), "other": of.real()})
    assert np.isfinite(model.log_density([1.0, 1.0, 0.0]))
    for x in ([-1.0, 1.0, 0.0], [-2.5, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, np.inf], [np.nan] * 3):
        value, gradient = model.log_density_gradient(x)
        assert value == -np.inf
        np.testing.assert_array_equal(gradient, np.zeros(3))
    assert model.reasons["normal_lpdf: sigma is not positive and finite"] == 3
    assert model.reasons["log density is nan"] == 2
    assert model.reasons["log density is -inf"] == 1
    assert np.array_equal(model.log_density([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]) == -np.inf, [False, True])
    with pytest.raises(ag.DomainError):
        model.hessian([-1.0, 1.0, 0.0])


def test_other_errors_are_raised():
    model = ag.LogDensity(lambda p: p["x"] + p["no such"], {"x": of.real()})
    with pytest.raises(KeyError):
        model.log_density([1.0])
    with pytest.raises(ag.ShapeError, match="scalar"):
        ag.LogDensity(lambda p: p["x"], {"x": of.real(3)}).log_density(np.zeros(3))


def test_starting_points():
    model = make()
    x = model.start(1)
    np.testing.assert_array_equal(x, make().start(1))
    assert np.all(np.abs(x) <= 2)
    given = model.start(1, {"tau": 5.0, "mu": 1.0})
    assert given[9] == pytest.approx(np.log(5.0))
    assert given[8] == 1.0
    np.testing.assert_array_equal(model.start(1, {"z": [0.5] * 8})[:8], 0.5)
    with pytest.raises(ag.ShapeError, match="sd is no parameter, but must be one of z, mu, tau"):
        model.start(at={"sd": 1.0})
    with pytest.raises(ag.DomainError, match="positive"):
        model.start(at={"tau": -1.0})
    nowhere = ag.LogDensity(lambda p: stan.normal_lpdf(0.0, 0.0, -1.0 - p["x"] ** 2), {"x": of.real()})
    with pytest.raises(ag.DomainError, match=r"any of 100 random points: normal_lpdf: sigma is not positive and finite \(100"):
        nowhere.start(1)


def test_pickles_and_copies_keep_recordings():
    model = make(generated=theta, dims={"z": "school"}, coords={"school": list("abcdefgh")})
    expected = model.log_density_gradient(X)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.log_density_gradient(X)[1], expected[1])
        assert other.dims == {"z": ["school"]}
        assert other.generated(X)["theta"].shape == (8,)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, {"x": of.real()}), TypeError, "log_joint is 3"),
        ((schools, {"x": 1.0}), TypeError, "must be a transform"),
        ((schools, PARAMETERS, {"generated": 1}), TypeError, "generated is 1"),
        ((schools, PARAMETERS, {"dims": {"w": "school"}}), ag.ShapeError, "'w'"),
        ((schools, PARAMETERS, {"dims": {"z": ["a", "b"]}}), ag.ShapeError, "must be 1 names"),
        ((schools, PARAMETERS, {"dims": {"z": "s"}, "coords": {"s": [1, 2]}}), ag.ShapeError, "must be 8"),
    ],
)
def test_what_does_not_fit_raises(arguments, error, message):
    *positional, more = arguments if isinstance(arguments[-1], dict) and len(arguments) == 3 else (*arguments, {})
    with pytest.raises(error, match=message):
        ag.LogDensity(*positional, **more)


def test_shapes_of_arguments():
    model = make()
    for x in (np.zeros(9), np.zeros((2, 9)), np.zeros((2, 2, 10)), 1.0):
        with pytest.raises(ag.ShapeError, match=r"must be of shape \(10,\) or \(k, 10\)"):
            model.log_density(x)
    with pytest.raises(ag.ShapeError, match="structure"):
        model.unconstrain({"z": np.zeros(8)})
    with pytest.raises(TypeError, match="generated was not given"):
        model.generated(X)
    with pytest.raises(ag.ShapeError, match="vectors"):
        model.hvp(np.stack([X, X]), X)
