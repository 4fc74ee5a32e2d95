"""Bad arguments of scan, fori and cond: what is wrong, in which leaf."""

import numpy as np
import pytest

import agrad as ag


def advance(carry, x):
    return carry, x


def two(carry, _):
    return {"a": carry["a"], "b": carry["b"]}, None


INIT = {"a": 1.0, "b": np.zeros(2)}

BAD = {
    "no function": (lambda: ag.scan(3, 1.0, np.ones(2)), TypeError, "scan: f is 3, but must be callable"),
    "integer carry": (
        lambda: ag.scan(advance, {"k": 0, "x": 1.0}, np.ones(2)),
        TypeError,
        r"scan\(advance\): init\['k'\] is of dtype int64, but must be floating-point or bool; write 0.0 for 0",
    ),
    "complex carry": (lambda: ag.scan(advance, 1j, np.ones(2)), TypeError, "init is complex, but must be real"),
    "text": (lambda: ag.scan(advance, {"s": "a"}, np.ones(2)), TypeError, r"init\['s'\] is 'a', but must be a number"),
    "ragged": (lambda: ag.scan(advance, 1.0, np.array([[1], [1, 2]], object)), TypeError, "xs is .*, but must be a number"),
    "no length": (lambda: ag.scan(advance, 1.0), TypeError, "length is None, but must be an int, because xs has no arrays"),
    "float length": (lambda: ag.scan(advance, 1.0, None, 2.0), TypeError, "length is 2.0, but must be an int"),
    "negative length": (lambda: ag.scan(advance, 1.0, None, -1), ValueError, "length is -1, but must not be negative"),
    "numbers in xs": (
        lambda: ag.scan(advance, 1.0, [1.0, 2.0]),
        ag.ShapeError,
        r"xs\[0\] is a number, but must be an array with one entry for each step",
    ),
    "lengths": (
        lambda: ag.scan(advance, 1.0, {"a": np.ones(2), "b": np.ones((3, 1))}),
        ag.ShapeError,
        r"xs\['b'\] is of length 3, but must be of length 2, as xs\['a'\] says",
    ),
    "length beside xs": (lambda: ag.scan(advance, 1.0, np.ones(2), 3), ag.ShapeError, "xs is of length 2, .* as length says"),
    "no pair": (
        lambda: ag.scan(lambda c, x: c, 1.0, np.ones(2)),
        TypeError,
        r"scan\(<lambda>\): result is <recorded array .*, but must be a pair \(carry, y\); return None for no y",
    ),
    "no result": (lambda: ag.scan(lambda c, x: None, 1.0, np.ones(2)), TypeError, "result is None, but must be a pair"),
    "shape": (
        lambda: ag.scan(lambda c, x: ({"a": c["a"], "b": np.append(c["b"], x)}, None), INIT, np.ones(2)),
        ag.ShapeError,
        r"carry\['b'\] is of shape \(3,\), but must be of shape \(2,\), as in init\['b'\]",
    ),
    "missing leaf": (
        lambda: ag.scan(lambda c, x: ({"a": c["a"]}, None), INIT, np.ones(2)),
        TypeError,
        r"carry has no number in \['b'\], but must be of the structure of init",
    ),
    "new leaf": (
        lambda: ag.scan(lambda c, x: ({**c, "c": x}, None), INIT, np.ones(2)),
        TypeError,
        r"carry has a number in \['c'\], but must be of the structure of init",
    ),
    "None for a number": (
        lambda: ag.scan(lambda c, x: ({"a": c["a"], "b": None}, None), INIT, np.ones(2)),
        TypeError,
        r"carry has no number in \['b'\]",
    ),
    "other containers": (
        lambda: ag.scan(lambda c, x: (list(c), None), (1.0, 2.0), np.ones(2)),
        TypeError,
        "carry has a different structure, but must be of the structure of init",
    ),
    "dtype": (
        lambda: ag.scan(lambda c, x: ({"a": c["a"] > 0, "b": c["b"]}, None), INIT, np.ones(2)),
        TypeError,
        r"carry\['a'\] is of dtype bool, but must be of dtype float64, as in init\['a'\]",
    ),
    "number for a boolean": (
        lambda: ag.scan(lambda c, x: (c * x, None), True, np.ones(2)),
        TypeError,
        "carry is of dtype float64, but must be of dtype bool, as in init",
    ),
    "text in y": (lambda: ag.scan(lambda c, x: (c, "a"), 1.0, np.ones(2)), TypeError, "y is 'a', but must be real numbers"),
    "too many results": (
        lambda: ag.scan(lambda c, x: (c, np.ones(1000)), 1.0, None, 10**9),
        ag.ShapeError,
        "y has 1000 entries in each of 1000000000 steps, but must have at most 2147483648",
    ),
    "recorded bound": (
        lambda: ag.grad(lambda n: ag.fori(0, n, lambda i, c: c + i, 0.0))(3.0),
        TypeError,
        "upper is a recorded value, but must be an int that is known",
    ),
    "float bound": (
        lambda: ag.fori(0.5, 3, lambda i, c: c, 0.0),
        TypeError,
        r"fori\(<lambda>\): lower is 0.5, but must be an int",
    ),
    "fori without function": (lambda: ag.fori(0, 3, None, 0.0), TypeError, "fori: body is None, but must be callable"),
    "fori carry": (
        lambda: ag.fori(0, 3, lambda i, c: c[:-1], np.ones(3)),
        ag.ShapeError,
        r"carry is of shape \(2,\), but must be of shape \(3,\), as in init",
    ),
    "index": (
        lambda: ag.fori(0, 3, lambda i, c: c + np.arange(3.0)[i], 0.0),
        IndexError,
        r"only integers, .*; where the index is a recorded value, choose .*, and pass entries to a loop by ag.scan",
    ),
    "cond without function": (lambda: ag.cond(True, 1, abs), TypeError, "cond: true_fun is 1, but must be callable"),
    "cond of an array": (
        lambda: ag.cond(np.ones(2) > 0, abs, abs, 1.0),
        ag.ShapeError,
        r"cond\(abs, abs\): pred is of shape \(2,\), but must be a scalar; use np.all, np.any or np.where",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    call, error, text = BAD[name]
    with pytest.raises(error, match=text):
        call()


def test_a_recorded_index_is_a_whole_number():
    """A recorded array takes recorded whole numbers, which each step computes."""
    x = np.array([2.0, 3.0, 5.0])

    def total(x):
        return ag.fori(0, 3, lambda i, c: c + (i + 1.0) * x[i] ** 2, 0.0)

    assert ag.grad(total)(x).tolist() == [4.0, 12.0, 30.0]
    assert ag.compile(ag.hessian(total))(x).tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    with pytest.raises(TypeError, match="index: argument is a recorded value, but must be plain"):
        ag.grad(lambda x: ag.fori(0, 3, lambda i, c: c + x[i + 0.5], 0.0))(x)


def test_recorded_arguments_are_checked_too():
    with pytest.raises(ag.ShapeError, match=r"carry is of shape \(3,\), but must be of shape \(2,\), as in init"):
        ag.grad(lambda x: np.sum(ag.scan(lambda c, y: (y, None), x[:2], x.reshape(1, 3))[0]))(np.ones(3))
    with pytest.raises(ag.ShapeError, match="xs is of length 3, but must be of length 2, as length says"):
        ag.compile(lambda x: ag.scan(advance, 1.0, x, 2))(np.ones(3))


def test_a_late_path_in_a_right_hand_side_knows_what_the_first_knew():
    """A solver cannot start anew for a value that the program of its right-hand side does not have."""

    class Hidden:  # from those who look for recorded values
        __slots__ = ("value",)

    def rhs(t, y, k):
        hidden = Hidden()
        hidden.value = 2 * k
        return ag.fori(0, 1, lambda i, c: -c if t < 1 else -c * hidden.value, y)

    with pytest.raises(ag.ScopeError, match="a later path captures a value from around the function"):
        ag.grad(lambda k: ag.solve_ivp(rhs, (0.0, 2.0), [1.0], args=(k,)).y[0, -1])(0.5)


def test_a_nan_within_a_loop_names_its_operation():
    text = r"log: result is nan, but must be finite; it was computed from -\d.* in fori\(<lambda>\) at .*test_loops_errors\.py"
    with ag.debug_nans(), pytest.raises(FloatingPointError, match=text):
        ag.grad(lambda x: ag.fori(0, 5, lambda i, c: np.log(c) * x, x))(0.9)


def test_a_carry_that_is_kept_is_refused_afterwards():
    kept = []

    def step(c, x):
        kept.append(c)
        return c + x, None

    ag.scan(step, 0.0, np.ones(3))
    with pytest.raises(ag.ScopeError, match=r"recorded value of a call of scan\(step\) that has ended"):
        kept[0] + 1


# ---- switch

FUNCTIONS = [lambda x: x, lambda x: 2.0 * x, lambda x: 3.0 * x]


def by_scan(n):
    return ag.scan(lambda c, k: (c + ag.switch(k, FUNCTIONS, 1.0), None), 0.0, np.stack([1.0 + 0.0 * n, n]))[0] - 2.0


@pytest.mark.parametrize(
    "call",
    [
        ag.compile(lambda n: ag.switch(n, FUNCTIONS, 1.0)),
        ag.compile(by_scan),
        lambda n: ag.value_and_grad(lambda k: ag.switch(k, FUNCTIONS, 1.0))(n)[0],
        lambda n: ag.vmap(lambda k: ag.switch(k, FUNCTIONS, 1.0))(np.array([0.0, n]))[1],
        lambda n: ag.switch(n, FUNCTIONS, 1.0),
    ],
    ids=["compiled", "scan", "gradient", "vmap", "plain"],
)
def test_a_switch_of_nan_is_refused(call):
    for n in (1.0, 0.0, 9.0):
        assert call(n) == min(n, 2.0) + 1.0
    with pytest.raises(ValueError, match="switch: index is nan, but must be a"):  # DomainError is a ValueError
        call(np.nan)
    assert call(1.0) == 2.0


@pytest.mark.parametrize(
    ("index", "branches", "message"),
    [
        (0, 3, "switch: branches is 3, but must be a sequence of callables, one at least"),
        ("a", FUNCTIONS, "switch: index is 'a', but must be a whole number"),
        (None, FUNCTIONS, "switch: index is None, but must be a whole number"),
    ],
)
def test_a_switch_names_arguments_of_a_wrong_type(index, branches, message):
    with pytest.raises(TypeError, match=message):
        ag.switch(index, branches, 1.0)
