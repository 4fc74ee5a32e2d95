"""Every elementwise function, from its row alone: values and derivatives against mpmath, edges, shapes, ways of calling."""

import functools
import inspect
import itertools
import math

import mpmath
import numpy as np
import pytest

import agrad as ag
import elementwise_reference as reference
from agrad._stan import elementwise
from differences import jacobian_by_differences
from elementwise_reference import ROWS, ufunc_of

pytestmark = pytest.mark.thread_unsafe(reason="mpmath's precision belongs to the process")

EPS = np.finfo(float).eps
TINY = np.finfo(float).tiny


def function_of(row):
    return getattr(elementwise, row.name)


def rows(which=lambda row: True):
    return pytest.mark.parametrize("row", list(filter(which, ROWS)), ids=lambda row: row.name)


every_row = rows()
every_row_with_a_ufunc = rows(ufunc_of)


def by_ufunc(row, ufunc, arguments):
    """NumPy's function of floats; where the row wants whole numbers, NumPy wants integers."""
    typed = [np.asarray(a).astype(int) if whole else a for a, (_, _, whole) in zip(arguments, row.domain, strict=True)]
    with np.errstate(all="ignore"):
        return np.asarray(ufunc(*typed), dtype=float)


def active(row):
    """The arguments that there is a derivative with respect to."""
    return [place for place, (_, _, whole) in enumerate(row.domain) if not whole]


def assert_near(got, truth, tolerance, what, function=None, point=()):
    """`truth` is an mpf; `tolerance` is relative, and numbers below the smallest normal one may lose digits.

    Beside a root the tolerance is relative to what the true `function` is on both sides of it.
    """
    expected = float(truth)
    if math.isinf(expected):  # out of range; the sign of an odd power is lost where the exponent's last digit is
        assert math.isinf(got), f"{what} is {got}, but must overflow: {mpmath.nstr(truth, 20)}"
        return
    error = abs(mpmath.mpf(got) - truth)
    if error > tolerance * abs(truth) and function is not None:
        error -= tolerance * reference.size_around_a_root(function, point)
    assert error <= tolerance * abs(truth) + 2 * TINY * EPS, f"{what} is {got!r}, but must be {mpmath.nstr(truth, 20)}"


def usable(row, count, widest):
    """Points of the domain at which the function is a real number, with that number."""
    for point in reference.points(row, count, widest):
        try:
            yield point, reference.value(row, point)
        except reference.UndefinedError:
            continue


def tidy_points(row, count=12):
    """Arguments as arrays, one entry a point, where value and derivatives are finite."""
    return [np.array(column[:count]) for column in tidy_columns(row)]


@functools.cache
def tidy_columns(row):
    points = [p for p, _ in usable(row, 36, 10.0)]
    good = [p for p in points if all(math.isfinite(row.derivative(place, *p)) for place in range(row.arity))]
    assert len(good) >= 12
    return list(zip(*good[:12], strict=True))


# ---- values and derivatives ------------------------------------------------------------------------------------------


@every_row
@pytest.mark.parametrize(
    ("widest", "count", "tolerance"),
    [(10.0, 96, 16 * EPS), (1e15, 64, 1e-10), (1e150, 16, 1e-10)],
    ids=["core", "tails", "far"],
)
def test_value(row, widest, count, tolerance):
    checked, count = 0, reference.affordable(row, count)
    for point, truth in usable(row, count, widest):
        assert_near(row(*point), truth, tolerance, f"{row.name}{tuple(point)}", lambda p: reference.value(row, p), point)
        checked += 1
    assert checked >= count // 3 > 0


@every_row
@pytest.mark.parametrize(("widest", "count", "tolerance"), [(10.0, 48, 32 * EPS), (1e15, 32, 1e-10)], ids=["core", "tails"])
@pytest.mark.parametrize("share", [2, pytest.param(1, marks=pytest.mark.full)], ids=["half", "all"])
def test_first_derivatives(row, widest, count, tolerance, share):
    checked, count = 0, reference.affordable(row, count)
    for point, _ in itertools.islice(usable(row, count, widest), max(count // share, 12)):
        for place in active(row):
            try:
                truth = reference.derivative(row, point, place)
            except reference.UndefinedError:
                continue
            what = f"derivative {place} of {row.name}{tuple(point)}"
            nearby = lambda p, place=place: reference.derivative(row, p, place)  # noqa: E731
            assert_near(row.derivative(place, *point), truth, tolerance, what, nearby, point)
            checked += 1
    assert checked >= count // share // 3 > 0


@every_row
def test_second_derivatives(row):
    checked = 0
    for point, _ in usable(row, reference.affordable(row, 12), 10.0):
        for i, j in itertools.combinations_with_replacement(active(row), 2):
            try:
                truth = reference.derivative(row, point, i, j)
            except reference.UndefinedError:
                continue
            nearby = lambda p, i=i, j=j: reference.derivative(row, p, i, j)  # noqa: E731
            for k, m in {(i, j), (j, i)}:
                got = row.second_derivative(k, m, point)
                assert_near(got, truth, 64 * EPS, f"derivative {k}, {m} of {row.name}{tuple(point)}", nearby, point)
                checked += 1
    assert checked >= 4


@every_row
def test_gradient_against_finite_differences(row):
    arguments = tidy_points(row)
    function = function_of(row)
    checked = 0
    for place in active(row):
        gradient = ag.grad(lambda *a: np.sum(function(*a)), place)(*arguments)
        for n in range(len(arguments[0])):
            point = [float(a[n]) for a in arguments]
            by_differences = jacobian_by_differences(
                lambda x, point=point, place=place: row(*point[:place], x, *point[place + 1 :]), point[place], step=1e-5
            )
            # Close to an end of the domain or to a jump the differences see the other side.
            if math.isfinite(by_differences) and _smooth(row, point, place, 1e-4):
                assert gradient[n] == pytest.approx(float(by_differences), rel=1e-6, abs=1e-7)
                checked += 1
    assert checked >= 8


def _smooth(row, point, place, radius):
    """Whether slopes this far to either side are those of a smooth function: they change by less than half."""
    here, x = row.derivative(place, *point), point[place]
    sides = [row.derivative(place, *point[:place], x + h, *point[place + 1 :]) for h in (-radius, radius)]
    jumps = [row(*point[:place], x + h, *point[place + 1 :]) - row(*point) - h * here for h in (-radius, radius)]
    scale = radius * max(abs(here), 1.0)
    return all(abs(s - here) <= 0.5 * max(abs(here), 1.0) for s in sides) and all(abs(j) <= scale for j in jumps)


# ---- edges -----------------------------------------------------------------------------------------------------------


@every_row
def test_outside_of_the_domain(row):
    """Nan, or the infinite value that the rule says."""
    inside = [float(a[0]) for a in tidy_points(row, 1)]
    for place, (lower, upper, whole) in enumerate(row.domain):
        outside = [inside[place] + 0.5] if whole else []
        if math.isfinite(lower):
            outside += [np.nextafter(lower, -np.inf), lower - 1e-9, lower - 1.0, lower - 1e300, -np.inf]
        if math.isfinite(upper):
            outside += [np.nextafter(upper, np.inf), upper + 1e-9, upper + 1.0, upper + 1e300, np.inf]
        for x in outside:
            point = [*inside[:place], float(x), *inside[place + 1 :]]
            np.testing.assert_equal(row(*point), row.outside, err_msg=str(point))


@every_row
def test_ends_of_the_domain(row):
    """At an end the function is its value there, or infinite, or nan where it has no limit."""
    inside = [float(a[0]) for a in tidy_points(row, 1)]
    for place, (lower, upper, _) in enumerate(row.domain):
        for end in (lower, upper):
            if not math.isfinite(end):
                continue
            point = [*inside[:place], end, *inside[place + 1 :]]
            try:
                assert_near(row(*point), reference.value(row, point), 16 * EPS, f"{row.name}{tuple(point)}")
            except reference.UndefinedError:
                assert not math.isfinite(row(*point)), point


@every_row
def test_nan(row):
    """What NumPy makes of nan; where NumPy has no such function, what the reference does; mostly nan."""
    inside = [float(a[0]) for a in tidy_points(row, 1)]
    ufunc = ufunc_of(row)
    for place in range(row.arity):
        point = [*inside[:place], math.nan, *inside[place + 1 :]]
        if ufunc is not None and not row.domain[place][2]:
            expected = float(by_ufunc(row, ufunc, point))
        else:
            try:
                expected = float(reference.value(row, point))
            except (reference.UndefinedError, ValueError):
                expected = math.nan
        np.testing.assert_equal(row(*point), expected)


@every_row_with_a_ufunc
def test_special_values_are_those_of_numpy_or_c(row):
    ufunc = ufunc_of(row)
    special = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-320, 1e308, -1e308, np.inf, -np.inf])
    whole_numbers = np.array([0.0, 1.0, -3.0, 60.0, -1100.0, 2200.0, -1e5, 1e9])
    arguments = np.meshgrid(*[whole_numbers if whole else special for _, _, whole in row.domain])
    result = row(*arguments)
    expected = by_ufunc(row, ufunc, arguments)
    for n, got in np.ndenumerate(result):
        point = [float(a[n]) for a in arguments]
        if is_outside(row, point):
            continue  # SciPy goes on where it can; test_outside_of_the_domain says what agrad does
        if any(map(math.isinf, point)) and math.isnan(expected[n]):
            continue  # SciPy has no value at infinity; agrad may have the limit
        close = np.isclose(got, expected[n], rtol=1e-13, atol=0, equal_nan=True)
        if not close and got != in_c(row, point) and not is_true(row, point, float(got)):
            np.testing.assert_allclose(got, expected[n], rtol=1e-13, atol=0, err_msg=str(point))


def is_outside(row, point):
    """Whether a point is where the rule gives nan because of its domain, whatever SciPy gives there."""
    beyond = [not lower <= x <= upper for x, (lower, upper, _) in zip(point, row.domain, strict=True)]
    return any(beyond) and math.isnan(row(*point))


def is_true(row, point, got):
    """Whether the value is mpmath's, where SciPy's own function has lost its digits, or overflows early."""
    if not all(map(math.isfinite, point)):
        return False
    try:
        truth = reference.value(row, point)
    except reference.UndefinedError:
        return False
    return abs(mpmath.mpf(got) - truth) <= 1e-14 * abs(truth) + TINY * EPS if math.isfinite(got) else math.isinf(float(truth))


def in_c(row, point):
    """What C's function of that name gives, where Python has it and does not raise."""
    try:
        return getattr(math, row.name)(*point)
    except (AttributeError, TypeError, ValueError, OverflowError):  # TypeError: math.ldexp wants an int
        return None


# ---- shapes and ways of calling --------------------------------------------------------------------------------------

SHAPES = {
    1: [[()], [(0,)], [(3,)], [(2, 0)], [(1, 1)], [(2, 3)]],
    2: [[(), (3,)], [(3, 1), (4,)], [(2, 3), (3,)], [(0, 3), (1,)], [(1,), ()], [(2, 1, 2), (3, 1)]],
    3: [[(), (), ()], [(3, 1), (4,), ()], [(2,), (2,), (3, 2)], [(0,), (1,), ()]],
}


@every_row
def test_broadcasting(row):
    pool = tidy_points(row)
    function = function_of(row)
    for shapes in SHAPES[row.arity]:
        arguments = [np.resize(column, shape) for column, shape in zip(pool, shapes, strict=True)]
        each = np.broadcast_arrays(*arguments)
        expected = np.array([row(*map(float, entry)) for entry in zip(*(a.flat for a in each), strict=True)])
        result = function(*arguments)
        np.testing.assert_array_equal(result, expected.reshape(each[0].shape), strict=bool(each[0].shape))
        assert isinstance(result, np.ndarray if each[0].shape else float)
        weights = np.cos(np.arange(each[0].size)).reshape(each[0].shape)
        for place in active(row):
            gradient = ag.grad(lambda *a, w=weights: np.sum(w * function(*a)), place)(*arguments)
            slopes = weights * np.reshape(row.derivative(place, *each), each[0].shape)
            expected_gradient = jacobian_of_broadcast(slopes, np.shape(arguments[place]))
            np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-12, atol=1e-300)


def jacobian_of_broadcast(slopes, shape):
    """Sums over the axes along which an argument of that shape was repeated."""
    padded = (1,) * (slopes.ndim - len(shape)) + shape
    axes = tuple(n for n, length in enumerate(padded) if length == 1)
    return np.sum(slopes, axis=axes).reshape(shape)


@every_row
def test_plain_recorded_and_compiled_values_are_the_same_bits(row):
    arguments = tidy_points(row)
    function = function_of(row)
    plain = function(*arguments)
    _, recorded = ag.grad(lambda *a: (np.sum(function(*a)), function(*a)), has_aux=True)(*arguments)
    compiled = ag.compile(lambda *a: function(*a))
    assert plain.tobytes() == recorded.tobytes() == compiled(*arguments).tobytes()
    for n in range(len(plain)):
        assert function(*[float(a[n]) for a in arguments]) == plain[n]


@every_row
def test_compiled_gradient_is_the_plain_one(row):
    arguments = tidy_points(row)
    places = active(row)
    gradient = ag.grad(lambda *a: np.sum(function_of(row)(*a)), places)
    for plain, compiled in zip(gradient(*arguments), ag.compile(gradient)(*arguments), strict=True):
        assert plain.tobytes() == compiled.tobytes()


@every_row
def test_tangents_and_adjoints_agree(row):
    """A Jacobian with more outputs than inputs goes by tangents, one with fewer by adjoints."""
    arguments = tidy_points(row)
    scale = np.arange(1.0, 10.0)
    for place in active(row):
        others = [float(a[0]) for a in arguments]

        def f(x, others=others, place=place):
            return scale * function_of(row)(*others[:place], x, *others[place + 1 :])

        by_tangents = ag.compile(ag.jacobian(f))(others[place])
        np.testing.assert_allclose(by_tangents, scale * row.derivative(place, *others), rtol=4 * EPS, atol=0)


@every_row_with_a_ufunc
def test_ufunc_of_a_recorded_array(row):
    ufunc = ufunc_of(row)
    arguments = tidy_points(row)
    plain = function_of(row)(*arguments)
    assert ag.compile(lambda *a: ufunc(*a))(*arguments).tobytes() == plain.tobytes()
    np.testing.assert_allclose(plain, by_ufunc(row, ufunc, arguments), rtol=1e-11, atol=1e-300)


@every_row
def test_kinds_of_arguments(row):
    point = [float(a[0]) for a in tidy_points(row, 1)]
    function = function_of(row)
    value = function(*point)
    assert type(value) is float
    assert function(*map(np.float64, point)) == value
    assert function(*([x] for x in point)) == np.array([value])
    assert function(*(np.array(x) for x in point)) == value
    whole = [float(round(x)) for x in point]
    np.testing.assert_equal(function(*map(int, whole)), function(*whole))
    np.testing.assert_equal(function(*map(np.int32, whole)), function(*whole))
    np.testing.assert_equal(function(*map(np.float32, whole)), function(*whole))
    with pytest.raises(TypeError, match=rf"^{row.name}: argument is complex, but must be real; "):
        function(*point[:-1], 1j)
    with pytest.raises(TypeError, match=rf"^{row.name}: argument is of dtype <U1, but must be numeric"):
        function(*point[:-1], "a")


@every_row
def test_wrong_number_of_arguments(row):
    for count in {0, row.arity - 1, row.arity + 1}:
        with pytest.raises(
            TypeError, match=f"^{row.name}: number of arguments is {count}, but must be {row.arity}($|; ag.special)"
        ):
            function_of(row)(*[0.5] * count)


@rows(lambda row: row.arity > 1)
def test_shapes_that_do_not_broadcast(row):
    arguments = [np.ones(3)] * (row.arity - 1) + [np.ones(4)]
    with pytest.raises(ag.ShapeError, match=rf"^{row.name}: arguments are of shapes .*\(3,\) and \(4,\), but must broadcast"):
        function_of(row)(*arguments)
    with pytest.raises(ag.ShapeError, match=rf"^{row.name}: arguments are of shapes .*\(3,\) and \(4,\), but must broadcast"):
        ag.grad(lambda x: np.sum(function_of(row)(x, *arguments[1:])))(arguments[0])


@every_row
def test_documentation(row):
    function = function_of(row)
    assert function is getattr(ag, row.name) or row.name in vars(np)  # NumPy's protocol may need a function of its own
    assert function.__name__ == row.name
    assert list(inspect.signature(function).parameters) == list("xyz"[: row.arity])
    text = inspect.getdoc(function)
    assert text.startswith(row.text)
    assert row.text.endswith((".", ")."))
    assert len(row.text.splitlines()) == 1
    for heading in ("Parameters", "Returns"):
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    assert row.source in text


def test_names():
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    of_stan = [row.stan for row in ROWS if row.stan]
    assert elementwise.__all__ == names + of_stan
    assert all(getattr(elementwise, row.stan) is getattr(elementwise, row.name) for row in ROWS if row.stan)
    assert set(names + of_stan) <= set(ag.stan.__all__)
    assert len(set(ag.stan.__all__)) == len(ag.stan.__all__)
    assert all(name.isidentifier() and name == name.lower() for name in names)
