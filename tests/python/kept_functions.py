"""Functions of every kind of operation, importable by name, whose compiled forms are pickled by the tests of pickling."""

import numpy as np

import agrad as ag

X = np.linspace(0.2, 0.9, 14)


def chains(x):
    chain = x[0]
    for k in range(40):
        chain = np.sin(chain) + 0.1 * k  # straight code
    return chain + sum(np.cos(each) * each for each in x) + x[::-1] @ x[[3, 1, 2, *range(11)]]


def runs(x):
    """Single operations of many rules on a level, with integers of their own around them."""
    parts = [np.sum(x[k : k + 3]) * x[(5 * k) % 14] for k in range(11)]
    parts += [np.hypot(x[k], parts[k % 11]) for k in range(14)]
    return np.max(np.array(parts[:7])) + sum(np.exp(-p * p) for p in parts) + np.prod(x[:4]) + np.logaddexp(x[0], x[1])


def linalg(x):
    m = np.outer(x[:4], x[:4]) + np.diag(1.0 + x[4:8])
    w, v = np.linalg.eigh(m)
    q, r = np.linalg.qr(m)
    return (
        np.linalg.slogdet(m)[1]
        + np.sum(np.linalg.solve(m, x[:4]) ** 2)
        + np.sum(np.linalg.cholesky(m) * np.linalg.inv(m))
        + np.sum(w * v[0] ** 2)
        + np.sum(np.abs(r)) * q[0, 0] ** 2
        + np.sum(np.matmul(np.reshape(x[:12], (3, 2, 2)), m[:2, :2]))
    )


def densities(x):
    return (
        ag.normal_lpdf(x, 0.0, x[0])
        + ag.lognormal_lpdf(x, 2.0, x[1])
        + ag.bernoulli_logit_glm_lpmf([1, 0, 1], np.reshape(np.arange(42.0) % 5, (3, 14)), x[2], x)
    )


def tables(x):
    y = np.interp(x, np.arange(4.0) / 3, np.arange(4.0) ** 2) + np.cumsum(np.sort(x)) + np.cumprod(x)
    return np.sum(y) + x[np.argmax(x)] + np.sum(np.where(x > 0.5, x, x * x)) + np.sum(np.bincount([0, 1, 1], x[:3], 2) ** 2)


def branching(x):
    return np.sum(x**2) if x[0] > 0.1 else np.sum(x**3)


def scanned(x):
    carry, ys = ag.scan(lambda c, a: (c * np.sin(a) + x[0], c * c), x[1], x)
    return carry + np.sum(ys)


def conditional(x):
    return ag.cond(np.sum(x) > 3.0, lambda y: np.sum(np.sin(y)), lambda y: np.sum(y * y), x)


def looped(x):
    return ag.fori(0, 9, lambda i, y: np.cos(y) + x[0] * i, x[1])


def nested(x):
    return np.sum(ag.grad(runs)(x) ** 2) + np.sum(ag.grad(linalg)(x)) + np.sum(ag.jacobian(np.cumprod)(x[:3]))


def nested_in_loop(x):
    return ag.fori(0, 3, lambda i, y: y + 0.1 * np.sum(ag.grad(densities)(x * y)), x[0])


def rows(x):
    return np.sum(ag.vmap(lambda a: np.linalg.det(np.outer(a, a) + np.eye(2)) * np.sum(a))(np.reshape(x, (7, 2))))


def chained_squares(x):
    return np.sum(x[1:] * x[:-1] ** 2)


@ag.custom_jvp
def norm(x):
    return np.sqrt(np.sum(x * x))


@norm.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    y = norm(x)
    return y, np.sum(x * t) / y


def by_hand(x):
    return norm(x) * x[0]


@ag.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, c: 3 * x * x * c)


def called_back(x):
    return np.sum(cube(x))


def decay(t, y, rates):
    return [-rates[0] * y[0], rates[0] * y[0] - rates[1] * y[1]]


def solved(x, **options):
    result = ag.solve_ivp(decay, (0.0, 2.0), x[:2], t_eval=[0.5, 2.0], args=(x[2:4],), **options)
    return np.sum(result.y * np.array([[1.0, 2.0], [3.0, 4.0]]))


def solved_stiff(x):
    return solved(x, method="Rodas5P", rtol=1e-7)


def solved_bdf(x):
    return solved(x, method="BDF")


def solved_forward(x):
    return solved(x, method="BDF", sensitivities="forward")


def solved_events(x):
    def falls(t, y, g):
        return [y[1], -g]

    def ground(t, y, g):
        return y[0]

    ground.terminal, ground.direction = True, -1
    result = ag.solve_ivp(falls, (0.0, 5.0), [1.0 + x[0], x[1]], t_eval=[0.1, 0.2], args=(9.81 + x[2],), events=[ground])
    return result.t_events[0][0] + np.sum(result.y)


def solved_many(x):
    subjects = [
        ag.Subject((0.0, 1.0), x[k : k + 2], t_eval=[0.5, 1.0], args=(x[4:6],), doses=[ag.Dose(0.2, 0, x[k])]) for k in range(3)
    ]
    return sum(np.sum(each.y) for each in ag.solve_many(decay, subjects, threads=2))


def solved_dae(x):
    def residual(t, y, yp, k):
        return [yp[0] + k * y[0], y[0] + y[1] - 1.0]

    result = ag.solve_dae(residual, (0.0, 1.0), [x[0], 1.0 - x[0]], t_eval=[1.0], args=(x[1],))
    return np.sum(result.y * x[2])


def at_rest(x):
    return np.sum(ag.steady_state(lambda t, y, k: k - y * np.array([1.0, 2.0]), np.ones(2), args=(x[:2],), t=0.0).y ** 2)


def held_switch(k, switches="auto"):
    """A rate law that jumps where a state reaches 4."""
    f = lambda t, y, k: [-k * y[0], k * y[0], np.where(y[1] >= 4.0, 1.5, 0.05)]  # noqa: E731
    return ag.solve_ivp(f, (0.0, 2.0), [10.0, 0.0, 0.0], "Tsit5", args=(k,), switches=switches, rtol=1e-9, atol=1e-11).y[2, -1]


def ignored_switch(k):
    return held_switch(k, "ignore")


def kink(p, switches="auto"):
    """A kink that moves with p."""
    return ag.solve_ivp(lambda t, y: [1.0, np.abs(y[0])], (0.0, 2.0), [-p, 0.0], switches=switches).y[1, -1]


def ignored_kink(p):
    return kink(p, "ignore")


PLAIN = [chains, runs, linalg, densities, tables, branching]
LOOPS = [scanned, conditional, looped, nested, nested_in_loop, rows]
SOLVES = [solved, solved_stiff, solved_bdf, solved_forward, solved_events, solved_many, solved_dae, at_rest]


def held_loop_switch(a):
    def f(t, y, a):
        return [ag.fori(0, 3, lambda i, c: (c[0], c[1] + np.where(c[0] > a, a, 2.0 * a)), (y[0], 0.0))[1]]

    return ag.solve_ivp(f, (0.0, 0.5), [0.0], args=(a,), rtol=1e-9, atol=1e-11).y[0, -1]
