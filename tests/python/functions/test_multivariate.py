"""Densities of vectors and matrices against SciPy: values, first and second derivatives along paths of valid arguments, errors.

Arguments must stay valid (positive definite, a simplex), so each follows a smooth path of one number t, and derivatives with
respect to t are compared with differences of SciPy's density. Every mixture of fixed and moving arguments is compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special as sp
import scipy.stats as st

import agrad as ag
from agrad._core import multivariate_rows
from first_passages import log_probability

Path = Callable[[Any], Any]
rng = np.random.default_rng(4)


def line(*shape: int, scale: float = 1.0) -> Path:
    a, d = scale * rng.normal(size=shape), scale * rng.normal(size=shape)
    return lambda t: a + t * d


def missing(of: Path, *places: int) -> Path:
    return lambda t: np.where(np.isin(np.arange(of(0.0).size), places).reshape(of(0.0).shape), np.nan, of(t))


def positive(*shape: int) -> Path:
    of = line(*shape, scale=0.5)
    return lambda t: np.exp(of(t))


def number(x: float) -> Path:
    return lambda t: x * np.exp(0.3 * t)


def factor(n: int) -> Path:
    a, d, diagonal = rng.normal(size=(n, n)), rng.normal(size=(n, n)), positive(n)
    return lambda t: np.tril(a + t * d, -1) + np.diag(diagonal(t))


def spd(n: int) -> Path:
    of = factor(n)
    return lambda t: of(t) @ of(t).T


def correlation_factor(n: int) -> Path:
    of = factor(n)
    return lambda t: of(t) / np.sqrt(np.sum(of(t) ** 2, 1))[:, None]


def correlation(n: int) -> Path:
    of = correlation_factor(n)
    return lambda t: of(t) @ of(t).T


def simplex(*shape: int) -> Path:
    of = line(*shape)
    return lambda t: np.exp(of(t)) / np.sum(np.exp(of(t)), -1, keepdims=True)


def ordered(n: int) -> Path:
    of = positive(n)
    return lambda t: np.cumsum(of(t)) - 1.5


def unit_interval(*shape: int) -> Path:
    of = line(*shape)
    return lambda t: 1 / (1 + np.exp(-of(t)))


def data(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)


def normal_rows(y: Any, mu: Any, cov: Any) -> float:
    return sum(
        st.multivariate_normal(m, cov).logpdf(v) for v, m in zip(*np.broadcast_arrays(np.atleast_2d(y), mu), strict=True)
    )


def student_rows(y: Any, nu: Any, mu: Any, cov: Any) -> float:
    rows = zip(*np.broadcast_arrays(np.atleast_2d(y), mu), strict=True)
    return sum(st.multivariate_t(m, cov, nu).logpdf(v) for v, m in rows)


def copula(u: Any, factor: Any) -> float:
    z = sp.ndtri(u)
    return float(normal_rows(z, 0 * z, factor @ factor.T) - np.sum(st.norm.logpdf(z)))


def dirichlet_rows(theta: Any, alpha: Any) -> float:
    rows = zip(*np.broadcast_arrays(np.atleast_2d(theta), alpha), strict=True)
    return sum(st.dirichlet(a).logpdf(v / v.sum()) for v, a in rows)


def picked(y: Any, logs: Any) -> float:
    y = np.atleast_1d(y).astype(int)
    return float(np.sum(np.broadcast_to(logs, (len(y), np.shape(logs)[-1]))[np.arange(len(y)), y]))


def interval(distribution: Callable[[Any], Any], y: Any, eta: Any, c: Any) -> float:
    y, eta = np.broadcast_arrays(np.atleast_1d(y), eta)
    ends = np.concatenate([[-np.inf], c, [np.inf]])
    return float(
        sum(np.log(distribution(ends[int(k) + 1] - e) - distribution(ends[int(k)] - e)) for k, e in zip(y, eta, strict=True))
    )


def multinomial_rows(y: Any, theta: Any) -> float:
    rows = zip(*np.broadcast_arrays(np.atleast_2d(y), theta), strict=True)
    return sum(st.multinomial(n.sum(), p / p.sum()).logpmf(n) for n, p in rows)


def lkj(y: Any, eta: float) -> float:
    """Lewandowski, Kurowicka and Joe (2009), equations 16 and 17: a product of beta functions."""
    d = len(y)
    norm = 0.0
    for k in range(1, d):
        norm += (2 * (eta - 1) + d - k) * (d - k) * np.log(2) + (d - k) * sp.betaln(*2 * [eta + (d - k - 1) / 2])
    return float((eta - 1) * np.linalg.slogdet(y)[1] - norm)


def lkj_factor(factor: Any, eta: float) -> float:
    p = len(factor)
    jacobian = sum((p - 1 - i) * np.log(factor[i, i]) for i in range(1, p))
    return lkj(factor @ factor.T, eta) + jacobian


def lkj_cov(y: Any, mu: Any, sigma: Any, eta: float) -> float:
    s = np.sqrt(np.diag(y))
    return float(np.sum(st.lognorm(sigma, scale=np.exp(mu)).logpdf(s)) + lkj(y / np.outer(s, s), eta))


def square_jacobian(factor: Any) -> float:
    """The log determinant of the derivative of L -> L L' on lower triangles, by its definition."""
    lower = np.tril_indices(len(factor))
    columns = []
    for i, j in zip(*lower, strict=True):
        d = np.zeros_like(factor)
        d[i, j] = 1
        columns.append((factor @ d.T + d @ factor.T)[lower])
    return float(np.linalg.slogdet(np.array(columns))[1])


def system(times: int) -> list[Path]:
    return [line(2, times), line(3, 2), line(3, 3, scale=0.5), spd(2), spd(3), line(3), spd(3)]


def dlm(y: Any, f: Any, g: Any, v: Any, w: Any, m0: Any, c0: Any) -> float:
    """All observations together are one normal vector, of which the mean and covariance are sums; nan are not observed."""
    times, m = y.shape[1], len(m0)
    transitions = np.zeros((m * times, m * (times + 1)))  # states from the first state and the noises
    for t in range(times):
        for s in range(t + 2):
            transitions[m * t : m * (t + 1), m * s : m * (s + 1)] = np.linalg.matrix_power(g, t + 1 - s if s else t + 1)
    noises = np.zeros((m * (times + 1), m * (times + 1)))
    noises[:m, :m] = c0
    for t in range(1, times + 1):
        noises[m * t : m * (t + 1), m * t : m * (t + 1)] = w
    observe = np.kron(np.eye(times), f.T)
    cov = observe @ transitions @ noises @ transitions.T @ observe.T + np.kron(np.eye(times), v)
    mean = observe @ transitions[:, :m] @ m0
    seen = np.flatnonzero(~np.isnan(y.T.ravel()))
    return float(st.multivariate_normal(mean[seen], (cov + cov.T)[np.ix_(seen, seen)] / 2).logpdf(y.T.ravel()[seen]))


def wiener(y: Any, alpha: Any, tau: Any, beta: Any, delta: Any) -> float:
    """Feller's series of images, with many terms and digits."""
    mp, total = mpmath.MPContext(), 0.0
    mp.dps = 60
    for at, a, start, b, v in zip(*np.broadcast_arrays(np.atleast_1d(y), alpha, tau, beta, delta), strict=True):
        t, w = float(at - start), 1 - mp.mpf(float(b))
        s = t / mp.mpf(float(a)) ** 2
        images = mp.fsum((w + 2 * k) * mp.exp(-((w + 2 * k) ** 2) / (2 * s)) for k in range(-25, 26))
        total += float(v * a * w - v * v * t / 2 + mp.log(images / a**2) - mp.log(2 * mp.pi * s**3) / 2)
    return total


def passages(after: bool) -> Callable[..., float]:
    return lambda *x: sum(log_probability(after, *row) for row in zip(*np.broadcast_arrays(*map(np.ravel, x)), strict=True))


X, COUNTS = rng.normal(size=(5, 2)) * 0.5, data([3, 0, 1, 7, 2])


def predictor(x: Any, alpha: Any, beta: Any) -> Any:
    return x @ beta + alpha


#: Names, arguments (paths, or data) and SciPy's density.
CASES: list[tuple[str, list[Any], Callable[..., Any]]] = [
    ("multi_normal_lpdf", [line(3), line(3), spd(3)], normal_rows),
    ("multi_normal_lpdf", [line(4, 2), line(2), spd(2)], normal_rows),
    ("multi_normal_lpdf", [line(2), line(4, 2), spd(2)], normal_rows),
    ("multi_normal_prec_lpdf", [line(4, 2), line(4, 2), spd(2)], lambda y, m, o: normal_rows(y, m, np.linalg.inv(o))),
    ("multi_normal_cholesky_lpdf", [line(4, 3), line(3), factor(3)], lambda y, m, c: normal_rows(y, m, c @ c.T)),
    (
        "multi_gp_lpdf",
        [line(2, 3), spd(3), positive(2)],
        lambda y, s, w: sum(normal_rows(r, 0 * r, s / v) for r, v in zip(y, w, strict=True)),
    ),
    (
        "multi_gp_cholesky_lpdf",
        [line(2, 3), factor(3), positive(2)],
        lambda y, c, w: sum(normal_rows(r, 0 * r, c @ c.T / v) for r, v in zip(y, w, strict=True)),
    ),
    ("multi_normal_cholesky_copula_lpdf", [unit_interval(4, 3), correlation_factor(3)], copula),
    ("multi_student_t_lpdf", [line(4, 2), number(3.5), line(2), spd(2)], student_rows),
    (
        "multi_student_t_cholesky_lpdf",
        [line(3), number(3.5), line(3), factor(3)],
        lambda y, n, m, c: student_rows(y, n, m, c @ c.T),
    ),
    ("dirichlet_lpdf", [simplex(3), positive(3)], dirichlet_rows),
    ("dirichlet_lpdf", [simplex(4, 3), positive(3)], dirichlet_rows),
    ("dirichlet_lpdf", [simplex(3), positive(4, 3)], dirichlet_rows),
    (
        "dirichlet_multinomial_lpmf",
        [data([2, 0, 5]), positive(3)],
        lambda n, a: st.dirichlet_multinomial(a, int(n.sum())).logpmf(n.astype(int)),
    ),
    ("categorical_lpmf", [data(2), simplex(3)], lambda y, p: picked(y, np.log(p))),
    ("categorical_lpmf", [data([0, 2, 2, 1]), simplex(3)], lambda y, p: picked(y, np.log(p))),
    ("categorical_lpmf", [data([0, 2, 2, 1]), simplex(4, 3)], lambda y, p: picked(y, np.log(p))),
    ("categorical_logit_lpmf", [data([0, 2, 2, 1]), line(3)], lambda y, b: picked(y, sp.log_softmax(b))),
    ("categorical_logit_lpmf", [data(1), line(4, 3)], lambda y, b: picked(np.repeat(y, 4), sp.log_softmax(b, -1))),
    (
        "categorical_logit_glm_lpmf",
        [data([0, 2, 2, 1]), line(4, 2), line(3), line(2, 3)],
        lambda y, x, a, b: picked(y, sp.log_softmax(x @ b + a, -1)),
    ),
    ("multinomial_lpmf", [data([[2, 0, 5], [1, 1, 0]]), simplex(3)], multinomial_rows),
    ("multinomial_lpmf", [data([2, 0, 5]), simplex(2, 3)], multinomial_rows),
    ("multinomial_logit_lpmf", [data([[2, 0, 5], [1, 1, 0]]), line(3)], lambda y, g: multinomial_rows(y, sp.softmax(g))),
    ("ordered_logistic_lpmf", [data([0, 3, 1, 2]), line(4), ordered(3)], lambda y, e, c: interval(sp.expit, y, e, c)),
    ("ordered_logistic_lpmf", [data(1), line(), ordered(1)], lambda y, e, c: interval(sp.expit, y, e, c)),
    ("ordered_probit_lpmf", [data([0, 3, 1, 2]), line(4), ordered(3)], lambda y, e, c: interval(sp.ndtr, y, e, c)),
    (
        "ordered_logistic_glm_lpmf",
        [data([0, 3, 1, 2]), line(4, 2), line(2), ordered(3)],
        lambda y, x, b, c: interval(sp.expit, y, x @ b, c),
    ),
    ("lkj_corr_lpdf", [correlation(3), number(1.7)], lkj),
    ("lkj_corr_lpdf", [correlation(1), number(1.7)], lkj),
    ("lkj_corr_cholesky_lpdf", [correlation_factor(4), number(0.7)], lkj_factor),
    ("lkj_cov_lpdf", [spd(3), line(3), positive(3), number(1.7)], lkj_cov),
    ("lkj_cov_lpdf", [spd(3), line(), positive(), number(1.7)], lkj_cov),
    ("lkj_cov_lpdf", [spd(1), line(1), positive(), number(1.7)], lkj_cov),
    ("wishart_lpdf", [spd(3), number(4.5), spd(3)], lambda w, n, s: st.wishart(float(n), s).logpdf(w)),
    ("inv_wishart_lpdf", [spd(3), number(4.5), spd(3)], lambda w, n, s: st.invwishart(float(n), s).logpdf(w)),
    (
        "wishart_cholesky_lpdf",
        [factor(3), number(4.5), factor(3)],
        lambda w, n, s: st.wishart(float(n), s @ s.T).logpdf(w @ w.T) + square_jacobian(w),
    ),
    (
        "inv_wishart_cholesky_lpdf",
        [factor(3), number(4.5), factor(3)],
        lambda w, n, s: st.invwishart(float(n), s @ s.T).logpdf(w @ w.T) + square_jacobian(w),
    ),
    (
        "normal_id_glm_lpdf",
        [line(5), line(5, 2), line(), line(2), positive()],
        lambda y, x, a, b, s: np.sum(st.norm(predictor(x, a, b), s).logpdf(y)),
    ),
    (
        "normal_id_glm_lpdf",
        [line(5), line(2), line(5), line(2), positive(5)],
        lambda y, x, a, b, s: np.sum(st.norm(predictor(x, a, b), s).logpdf(y)),
    ),
    (
        "poisson_log_glm_lpmf",
        [COUNTS, line(5, 2, scale=0.5), line(), line(2)],
        lambda y, x, a, b: np.sum(st.poisson(np.exp(predictor(x, a, b))).logpmf(y)),
    ),
    (
        "neg_binomial_2_log_glm_lpmf",
        [COUNTS, line(5, 2, scale=0.5), line(5), line(2), number(1.8)],
        lambda y, x, a, b, p: np.sum(st.nbinom(p, p / (p + np.exp(predictor(x, a, b)))).logpmf(y)),
    ),
    (
        "binomial_logit_glm_lpmf",
        [COUNTS, COUNTS + data([1, 0, 4, 2, 2]), line(5, 2, scale=0.5), line(), line(2)],
        lambda n, m, x, a, b: np.sum(st.binom(m, sp.expit(predictor(x, a, b))).logpmf(n)),
    ),
    ("wiener_lpdf", [positive(3), positive(3), number(0.02), unit_interval(3), line(3)], wiener),
    ("wiener_lpdf", [number(2.5), number(1.1), number(0.2), unit_interval(), line()], wiener),
    ("wiener_lcdf_unnorm", [number(2.5), number(1.1), number(0.2), unit_interval(2), line(2)], passages(False)),
    ("wiener_lccdf_unnorm", [number(2.5), number(1.1), number(0.2), unit_interval(2), line(2)], passages(True)),
    ("gaussian_dlm_obs_lpdf", system(4), dlm),
    (
        "gaussian_dlm_obs_lpdf",
        [line(2, 4), line(3, 2), line(3, 3, scale=0.5), positive(2), spd(3), line(3), spd(3)],
        lambda y, f, g, v, w, m0, c0: dlm(y, f, g, np.diag(v), w, m0, c0),
    ),
    ("gaussian_dlm_obs_lpdf", [missing(line(2, 5), 0, 3, 6, 8), *system(1)[1:]], dlm),
]
NUMBERS = range(len(CASES))
HAS_PROPTO = {row.name: row.has_propto for row in multivariate_rows()}
each_case = pytest.mark.parametrize("i", NUMBERS, ids=lambda i: f"{CASES[i][0]}-{i}")


def moved(arguments: list[Any], active: tuple[int, ...], t: Any) -> list[Any]:
    return [(a(t if k in active else 0.0) if callable(a) else a) for k, a in enumerate(arguments)]


def mixtures(arguments: list[Any]) -> list[tuple[int, ...]]:
    moving = [k for k, a in enumerate(arguments) if callable(a)]
    subsets = [s for n in range(1, len(moving) + 1) for s in itertools.combinations(moving, n)]
    return subsets if len(subsets) <= 7 else [*subsets[: len(moving)], *subsets[-2:]]


def differences(f: Callable[[float], float]) -> tuple[float, float, float]:
    """Return the value, first and second derivative at 0 by differences of order six."""
    h = 0.02
    v = [f(k * h) for k in range(-4, 5)]
    first = sum(c * (v[4 + k] - v[4 - k]) for k, c in zip((1, 2, 3, 4), (4 / 5, -1 / 5, 4 / 105, -1 / 280), strict=True)) / h
    weights = (8 / 5, -1 / 5, 8 / 315, -1 / 560)
    second = (sum(c * (v[4 + k] + v[4 - k]) for k, c in zip((1, 2, 3, 4), weights, strict=True)) - 205 / 72 * v[4]) / h**2
    return v[4], first, second


def test_every_function_has_a_case() -> None:
    assert {name for name, _, _ in CASES} == {row.name for row in multivariate_rows()}


@each_case
def test_values_and_derivatives_agree_with_scipy(i: int) -> None:
    name, arguments, reference = CASES[i]
    density = getattr(ag, name)
    plain = float(reference(*moved(arguments, (), 0.0)))
    assert density(*moved(arguments, (), 0.0)) == pytest.approx(plain, rel=1e-11, abs=1e-11)
    for active in mixtures(arguments):
        f = ag.compile(lambda t, active=active: density(*moved(arguments, active, t)))
        value, first, second = differences(lambda t, active=active: float(reference(*moved(arguments, active, t))))
        assert f(0.0) == pytest.approx(value, rel=1e-11, abs=1e-11)
        assert f(0.05) == pytest.approx(float(reference(*moved(arguments, active, 0.05))), rel=1e-11, abs=1e-11)
        assert ag.grad(f)(0.0) == pytest.approx(first, rel=2e-6, abs=2e-6)
        assert ag.grad(ag.grad(f))(0.0) == pytest.approx(second, rel=2e-4, abs=2e-4)
        assert ag.hessian(f)(0.0) == pytest.approx(ag.grad(ag.grad(f))(0.0), rel=1e-9, abs=1e-9)
        assert ag.jvp(f, (0.0,), (1.0,))[1] == pytest.approx(ag.grad(f)(0.0), rel=1e-11, abs=1e-11)


@each_case
def test_propto_leaves_out_what_depends_on_data_alone(i: int) -> None:
    name, arguments, _ = CASES[i]
    density = getattr(ag, name)
    if not HAS_PROPTO[name]:
        with pytest.raises(TypeError):
            density(*moved(arguments, (), 0.0), propto=True)
        return
    for active in mixtures(arguments):
        full, part = (
            ag.grad(lambda t, p=p, active=active: density(*moved(arguments, active, t), propto=p))(0.1) for p in (False, True)
        )
        assert part == pytest.approx(full, rel=1e-12, abs=1e-12)
    for active in mixtures(arguments):
        fixed = [a(0.1) if callable(a) else a for a in arguments]

        def of(t: Any, active: tuple[int, ...] = active, fixed: list[Any] = fixed) -> Any:
            return density(*[a(t) if k in active else fixed[k] for k, a in enumerate(arguments)], propto=True)

        calls = (
            of(0.1),
            ag.compile(of)(0.1),
            ag.value_and_grad(of)(0.1)[0],
            ag.vmap(of)(np.array([0.1, 0.1]))[0],
            ag.jvp(lambda t, of=of: ag.value_and_grad(of)(t)[0], (0.1,), (1.0,))[0],
        )
        np.testing.assert_allclose(calls, density(*fixed, propto=True), rtol=1e-12, atol=1e-12)


@each_case
def test_outcomes_may_change_from_run_to_run(i: int) -> None:
    name, arguments, reference = CASES[i]
    values = [np.asarray(a, dtype=float) for a in moved(arguments, (), 0.0)]
    compiled = ag.compile(ag.value_and_grad(getattr(ag, name), argnums=tuple(range(len(values)))))
    compiled(*values)
    later = [
        np.flip(v, 0).copy() if not callable(a) and v.ndim and name != "binomial_logit_glm_lpmf" else v
        for a, v in zip(arguments, values, strict=True)
    ]
    value, gradient = compiled(*later)
    assert value == pytest.approx(float(reference(*later)), rel=1e-11, abs=1e-11)
    for a, g in zip(arguments, gradient, strict=True):
        assert callable(a) or not np.any(g)
