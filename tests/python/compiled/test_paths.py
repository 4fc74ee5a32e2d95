"""Paths of compiled functions: threads that record at once store none twice, and calls beyond the most paths are right."""

import itertools
import threading
import warnings

import numpy as np
import pytest

import agrad as ag

MOST = 64


def bent(x):
    """A function with two paths for each entry."""
    return sum(np.sin(each) * x[0] if each > 0 else each**2 for each in x)


def slope_of_bent(x):
    own = np.where(x > 0, np.cos(x) * x[0], 2 * x)
    own[0] += np.sum(np.sin(x[x > 0]))
    return own


def points_of(n):
    return [np.array(signs) * np.linspace(0.5, 1.5, n) for signs in itertools.product((1.0, -1.0), repeat=n)]


def in_threads(n, work):
    barrier, errors = threading.Barrier(n), []

    def run(k):
        barrier.wait()
        try:
            work(k)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []


def paths_of(compiled):
    return sum(len(paths) for _, paths in compiled.recorded())


def test_threads_that_record_at_once_store_a_path_once():
    for _ in range(5):
        compiled = ag.compile(ag.grad(bent))
        point = np.array([0.5, -0.25])

        def call(k, compiled=compiled, point=point):
            np.testing.assert_allclose(compiled(point), slope_of_bent(point), rtol=1e-14)

        in_threads(8, call)
        assert paths_of(compiled) == 1


@pytest.mark.parametrize("seed", range(3))
def test_threads_store_each_of_many_paths_once(seed):
    compiled, points = ag.compile(ag.grad(bent)), points_of(6)

    def call(k):
        for x in np.random.default_rng((seed, k)).permutation(points):
            np.testing.assert_allclose(compiled(x), slope_of_bent(x), rtol=1e-13)

    in_threads(4, call)
    assert paths_of(compiled) == MOST
    assert all(path.is_stored for _, paths in compiled.recorded() for path in paths)


def full(transformation):
    """A compiled function that has stored the most paths, and points on paths that are not stored."""
    compiled, points = ag.compile(transformation(bent)), points_of(7)
    for x in points[:MOST]:
        compiled(x)
    with pytest.warns(
        RuntimeWarning, match=r"^compile\(bent\): number of paths that comparisons took is 65, but at most 64 are"
    ):
        compiled(points[MOST])
    return compiled, points


@pytest.mark.thread_unsafe(reason="counts warnings")
def test_beyond_the_most_paths_calls_are_right_and_one_warning_says_so():
    compiled, points = full(ag.value_and_grad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in points:
            value, slope = compiled(x)
            assert value == pytest.approx(bent(x), rel=1e-14)
            np.testing.assert_allclose(slope, slope_of_bent(x), rtol=1e-13)
    assert paths_of(compiled) == MOST


@pytest.mark.thread_unsafe(reason="counts warnings")
def test_products_hessians_and_bound_calls_beyond_the_most_paths():
    compiled, points = full(lambda f: f)
    x = points[-1]
    value, pullback = ag.vjp(compiled, x)
    assert value == compiled(x) == pytest.approx(bent(x), rel=1e-14)
    np.testing.assert_allclose(pullback(1.0)[0], slope_of_bent(x), rtol=1e-13)
    hessian, _ = full(ag.hessian)
    np.testing.assert_allclose(hessian(x), 2 * np.eye(7), rtol=1e-13)
    at = points[0].copy()
    bound = compiled.bind(at)
    assert bound() == pytest.approx(bent(at), rel=1e-14)
    for other in (points[-1], points[-2], points[1]):
        at[:] = other
        assert bound() == pytest.approx(bent(at), rel=1e-14)
    assert compiled.bind(x)() == pytest.approx(bent(x), rel=1e-14)
