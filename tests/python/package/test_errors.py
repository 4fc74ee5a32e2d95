"""Misuse across the package: each error names the function and says what to do, and afterwards everything works."""

import operator
import re

import numpy as np
import pytest

import agrad as ag
from agrad._core import elementwise_rows

#: function: argument is value, but must be condition; hint
GRAMMAR = re.compile(r"^[\w.]+(\(.+\))?: .+ (is|are|cannot) .+, but must .+", re.DOTALL)


def assert_usable():
    """Recordings of all kinds work: none of those that failed has stayed open or left something behind."""

    def loss(k):
        return ag.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0]).y[0, -1]  # captures k: the recordings' depths must fit

    assert ag.grad(loss)(1.0) == pytest.approx(-np.exp(-1), rel=1e-4)
    assert ag.compile(ag.grad(lambda x: np.sum(x**2)))(np.ones(2)).tolist() == [2.0, 2.0]


# ---- recorded arrays after their call --------------------------------------------------------------------------------


@pytest.fixture(params=["grad", "compile", "ode"])
def ended(request):
    """A recorded array of a call that has ended."""
    kept = []

    def keep(x):
        kept.append(x * 1.0)
        return np.sum(x)

    if request.param == "ode":
        ag.solve_ivp(lambda t, y: -keep(y) * y, (0.0, 1.0), [1.0, 2.0])
    else:
        getattr(ag, request.param)(keep)(np.array([1.0, 2.0]))
    return kept[0]


USES = {
    "operator": lambda x: x + 1.0,
    "reflected operator": lambda x: np.ones(2) * x,
    "negation": operator.neg,
    "power": lambda x: x**2,
    "comparison": lambda x: x < 1.0,
    "truth": lambda x: bool(x),
    "ufunc": np.exp,
    "index": lambda x: x[0],
    "slice": lambda x: x[:1],
    "iteration": list,
    "transpose": lambda x: x.T,
    "reshape": lambda x: np.reshape(x, (2, 1)),
    "concatenate": lambda x: np.concatenate([x, x]),
    "sum": np.sum,
    "mean": lambda x: x.mean(),
    "matmul": lambda x: x @ np.ones(2),
    "where": lambda x: np.where([True, False], x, 0.0),
    "array": lambda x: ag.array([x, x]),
    "solver": lambda x: ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), x),
    "captured by a solver": lambda x: ag.solve_ivp(lambda t, y: -x * y, (0.0, 1.0), [1.0, 1.0]),
    "captured by grad": lambda x: ag.grad(lambda y: np.sum(x * y))(1.0),
    "returned from grad": lambda x: ag.grad(lambda y: x)(1.0),
    "returned from compile": lambda x: ag.compile(lambda y: x)(1.0),
    "density": lambda x: ag.normal_lpdf(x, 0.0, 1.0),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_recorded_arrays_after_their_call(ended, use):
    with pytest.raises(
        ag.ScopeError, match=r"is a recorded value of a call of .* that has ended, but must be of a running call"
    ) as e:
        use(ended)
    assert GRAMMAR.match(str(e.value))
    assert_usable()


@pytest.mark.parametrize("row", elementwise_rows(), ids=lambda row: row.name)
def test_every_function_refuses_arrays_of_ended_calls(row):
    kept = []
    ag.grad(lambda x: kept.append(x) or x)(1.0)
    for place in range(row.arity):
        with pytest.raises(ag.ScopeError, match=f"^{row.name}: argument is a recorded value of a call of grad"):
            row(*[kept[0] if n == place else 0.5 for n in range(row.arity)])


# ---- arguments of the transformations --------------------------------------------------------------------------------

TRANSFORMATIONS = [ag.grad, ag.value_and_grad, ag.jacobian]


@pytest.mark.parametrize("transform", TRANSFORMATIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("argnums", "condition"),
    [
        (2, "the place of a positional argument; 2 were given"),
        (-3, "the place of a positional argument; 2 were given"),
        ((0, 2), "the place of a positional argument; 2 were given"),
        ((0, 0), "different places"),
        ((1, -1), "different places"),
        ("x", "an int or a sequence of ints"),
        (1.0, "an int or a sequence of ints"),
        (None, "an int or a sequence of ints"),
        ((0, "y"), "an int or a sequence of ints"),
    ],
    ids=repr,
)
def test_argnums(transform, argnums, condition):
    with pytest.raises(TypeError, match=rf"^{transform.__name__}: argnums is .*, but must be {condition}$") as e:
        transform(lambda x, y: x * y, argnums)(1.0, 2.0)
    assert GRAMMAR.match(str(e.value))


def test_argnums_of_other_integer_types():
    f = lambda x, y: x * y * y  # noqa: E731
    assert ag.grad(f, np.int64(1))(2.0, 3.0) == 12.0
    assert ag.grad(f, [1, np.int8(0)])(2.0, 3.0) == (12.0, 9.0)
    assert ag.grad(f, ())(2.0, 3.0) == ()


@pytest.mark.parametrize("transform", [*TRANSFORMATIONS, ag.compile], ids=lambda f: f.__name__)
def test_what_is_not_callable(transform):
    with pytest.raises(TypeError, match=rf"^{transform.__name__}: function is None, but must be callable$"):
        transform(None)


def test_arguments_of_compiled_functions_must_be_hashable():
    f = ag.compile(lambda *args, **kwargs: 0.0)
    for call, name in [
        (lambda: f(1.0, [2.0, {1}]), r"argument 1\[1\] is \{1\}"),
        (lambda: f(k={"a": np.array([None])}), r"argument k\['a'\] is array\(\[None\], dtype=object\)"),
    ]:
        with pytest.raises(
            TypeError, match=rf"^compile\(<lambda>\): {name}, but must be numbers, an array of numbers or hash"
        ) as e:
            call()
        assert GRAMMAR.match(str(e.value))


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ({"rates": [1, 2], "other": 3}, r"argument 0\['other'\] is of dtype int64"),
        ([1.0, {"a": (np.ones(2), np.array([1j]))}], r"argument 0\[1\]\['a'\]\[1\] is complex"),
        ((None, None), r"argument 0\[0\] is None"),
        (["text"], r"argument 0\[0\] is 'text'"),
        ([np.array([1j])], r"argument 0\[0\] is complex"),
    ],
    ids=str,
)
def test_a_wrong_leaf_is_named_as_it_is_reached(argument, name):
    for transform in (*TRANSFORMATIONS, lambda f: ag.compile(ag.grad(f))):
        with pytest.raises(TypeError, match=rf"^(grad|value_and_grad|jacobian): {name}, but must be ") as e:
            transform(lambda p: 0.0)(argument)
        assert GRAMMAR.match(str(e.value))


def test_a_function_without_arguments():
    with pytest.raises(TypeError, match=r"^grad: argnums is 0, but must be the place of a positional argument; 0 were given$"):
        ag.grad(lambda: 1.0)()


def test_results_that_are_no_scalars():
    for transform in (ag.grad, ag.value_and_grad, lambda f: ag.compile(ag.grad(f))):
        for result in (lambda x: x, lambda x: [x[0]], lambda x: np.zeros((1, 1)), lambda x: x[:0]):
            with pytest.raises(
                ag.ShapeError, match=r"result is of shape \(.*\), but must be a scalar; use agrad.jacobian, or sum it"
            ):
                transform(result)(np.ones(2))
    assert_usable()


@pytest.mark.parametrize("result", [None, "text", {"a": {1}}, 1j, [1.0, "text"], np.array(["text"])], ids=str)
def test_results_that_are_no_numbers(result):
    for transform in (*TRANSFORMATIONS, lambda f: ag.compile(ag.grad(f)), ag.compile):
        with pytest.raises(
            TypeError, match=r"^(grad|value_and_grad|jacobian|compile)\(<lambda>\): result.* is .*, but must be real"
        ) as e:
            transform(lambda x: result)(1.0)
        assert GRAMMAR.match(str(e.value))
    assert_usable()


def test_compile_names_the_part_of_a_result_that_is_no_number():
    with pytest.raises(
        TypeError, match=r"^compile\(<lambda>\): result\['a'\]\[1\] is None, but must be real numbers; does the"
    ):
        ag.compile(lambda x: {"a": (x, None)})(1.0)


# ---- compiled functions in recordings ----------------------------------------------------------------------------------


def test_a_compiled_function_is_part_of_what_is_recorded_around_it():
    inner = ag.compile(lambda x: {"y": np.sin(x) if x > 0 else x})
    outer = ag.grad(lambda x: inner(x)["y"] ** 2)
    for gradient in (outer, ag.compile(outer)):
        assert gradient(0.5) == 2 * np.sin(0.5) * np.cos(0.5)
        assert gradient(-0.5) == -1.0
    assert ag.compile(inner)(0.5)["y"] == np.sin(0.5)
    y = ag.solve_ivp(lambda t, y: -inner(1.0)["y"] * y, (0.0, 1.0), [1.0]).y
    assert y[0, -1] == pytest.approx(np.exp(-np.sin(1.0)), rel=1e-4)


# ---- exceptions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda f: ag.grad(f)(1.0),
        lambda f: ag.jacobian(f)(1.0),
        lambda f: ag.value_and_grad(f, has_aux=True)(1.0),
        lambda f: ag.compile(f)(1.0),
        lambda f: ag.compile(ag.grad(f))(1.0),
        lambda f: ag.solve_ivp(lambda t, y: f(y), (0.0, 1.0), [1.0]),
        lambda f: ag.grad(lambda x: ag.solve_ivp(lambda t, y: f(x * y), (0.0, 1.0), [1.0]).y[0, -1])(1.0),
        lambda f: ag.compile(lambda x: ag.compile(f)(x))(1.0),
    ],
)
def test_exceptions_of_the_users_function_come_out_unchanged(call):
    class MineError(BaseException):
        pass

    error = MineError("mine")

    def fails(x):
        np.exp(x)
        raise error

    with pytest.raises(MineError) as caught:
        call(fails)
    assert caught.value is error
    assert caught.traceback[-1].name == "fails"
    assert error.__cause__ is None
    assert error.__context__ is None
    assert_usable()


def test_kinds_of_errors():
    assert issubclass(ag.ShapeError, ValueError)
    assert issubclass(ag.DomainError, ValueError)
    assert issubclass(ag.ScopeError, RuntimeError)
    assert issubclass(ag.SolverError, RuntimeError)
    for error in (ag.ShapeError, ag.DomainError, ag.ScopeError, ag.SolverError):
        assert error.__module__ == "agrad"
        assert error.__doc__
        assert error.__doc__.strip().endswith(".")
