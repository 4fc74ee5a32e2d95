"""Derivatives inside of recorded functions, through bodies of loops and branches that close over the inner variable."""

import numpy as np
import pytest

import agrad as ag

LOOPS = {
    "fori": lambda z, x: ag.fori(0, 2, lambda i, c: np.sin(z * c), x),
    "scan": lambda z, x: ag.scan(lambda c, _: (np.sin(z * c), c), x, np.zeros(2))[0],
    "while_loop": lambda z, x: ag.while_loop(lambda c: c[1] < 2, lambda c: (np.sin(z * c[0]), c[1] + 1), (x, 0.0))[0],
    "cond": lambda z, x: ag.cond(x > 0, lambda c: np.sin(z * np.sin(z * c)), lambda c: c, x),
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("point", [0.7, "recorded, but constant"])
def test_a_derivative_at_a_plain_point_sees_the_bodies_of_loops(loop, point):
    """The body closes over the variable of the inner derivative, and takes a value of the function around."""

    def at(x):
        return 0.7 if point == 0.7 else np.sum(np.stack([0.7 + 0.0 * np.sin(1.0), 0 * x * 0.0]))

    x, z = 1.3, 0.7
    s = np.sin(z * x)
    expected = np.cos(z * s) * (s + z * np.cos(z * x) * x)
    inner = {
        "grad": lambda x: ag.grad(lambda z: LOOPS[loop](z, x))(at(x)),
        "jvp": lambda x: ag.jvp(lambda z: LOOPS[loop](z, x), (at(x),), (1.0,))[1],
        "vjp": lambda x: ag.vjp(lambda z: LOOPS[loop](z, x), at(x))[1](1.0)[0],
        "jacfwd": lambda x: ag.jacfwd(lambda z: LOOPS[loop](z, x))(at(x)),
        "linearize": lambda x: ag.linearize(lambda z: LOOPS[loop](z, x), at(x))[1](1.0),
    }
    for name, g in inner.items():
        assert g(x) == pytest.approx(expected, rel=1e-13), name
        compiled = ag.compile(g)
        assert compiled(x) == pytest.approx(expected, rel=1e-13), name
        assert compiled(0.4) == pytest.approx(g(0.4), rel=1e-13), name
        np.testing.assert_allclose(ag.vmap(g)(np.array([x, 0.4])), [expected, g(0.4)], rtol=1e-13)
        slope = (g(x + 1e-5) - g(x - 1e-5)) / 2e-5
        assert ag.grad(g)(x) == pytest.approx(slope, rel=1e-8), name
        assert ag.jvp(g, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-8), name
