"""Searches and integrals in compiled functions: in other processes' form, in threads, and of functions with branches."""

import pickle
import threading

import numpy as np
import pytest

import agrad as ag

P = np.array([2.0, 5.0])


def everything(p):
    root = ag.root(lambda x: x**3 - p[0] * x - p[1], 2.0).x
    area = ag.quad(lambda x: np.exp(-p[0] * x * x), 0.0, p[1])[0]
    return root + area + ag.minimize(lambda x: np.exp(x) - p[0] * x, 0.0).x


def test_pickles_search_again():
    f = ag.compile(ag.hessian(everything))
    before = f(P)
    g = pickle.loads(pickle.dumps(f))
    for p in (P, 1.1 * P, P[::-1].copy()):
        np.testing.assert_array_equal(g(p), f(p))
    np.testing.assert_array_equal(before, f(P))
    np.testing.assert_allclose(before, ag.hessian(everything)(P), rtol=1e-12)


def test_threads_share_a_compiled_search():
    f = ag.compile(ag.value_and_grad(everything))
    points = [P * (1 + 0.01 * k) for k in range(8)]
    expected = [f(p) for p in points]
    wrong = []

    def run(k):
        for _ in range(50):
            value, slope = f(points[k])
            if value != expected[k][0] or not np.array_equal(slope, expected[k][1]):
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


@pytest.mark.parametrize("transform", [lambda f: f, ag.compile], ids=["plain", "compiled"])
def test_functions_with_branches(transform):
    """Comparisons in Python take other paths during a search, at first and in later runs."""

    def broken_line(a):
        return ag.root(lambda x: x - a if x < 1 else (2 * x - a - 1 if x < 2 else x - a + 1), 0.0).x

    def bent(a):
        return ag.minimize(lambda x: (x - a) ** 2 if x > 0 else 2 * (x - a) ** 2, -3.0).x

    def step(a):
        return ag.quad(lambda x: a * x if x < 0.3 else 2.0 * a, 0.0, 1.0, points=[0.3])[0]

    f, g, h = transform(broken_line), transform(bent), transform(step)
    for a, root in ((0.5, 0.5), (2.0, 1.5), (4.0, 3.0)):
        assert f(a) == pytest.approx(root, rel=1e-13)
        assert ag.grad(f)(a) == pytest.approx(0.5 if 1 < root < 2 else 1.0, rel=1e-13)
        assert g(a) == pytest.approx(a, rel=1e-12)
        assert h(a) == pytest.approx(a * (0.045 + 1.4), rel=1e-12)
        assert ag.grad(h)(a) == pytest.approx(0.045 + 1.4, rel=1e-12)


def test_operations_with_first_derivatives_only():
    def end(k):
        found = ag.solve_ivp(lambda t, y: [-k * y[0]], (0.0, 1.0), [1.0], method="BDF", rtol=1e-10, atol=1e-12)
        return found.y[0, -1]

    assert ag.root(lambda k: end(k) - 0.5, 0.6).x == pytest.approx(np.log(2), rel=1e-8)
    with pytest.raises(NotImplementedError, match="solve_ivp: has first derivatives only"):
        ag.minimize(lambda k: (end(k) - 0.5) ** 2, 0.6)
