"""Values that compiled functions read beside their arguments: paths of two values are never mixed."""

import pickle
import sys
import types
from fractions import Fraction

import numpy as np
import pytest

import agrad as ag

SCALE = 2.0
CALLS = 0


class Settings:
    def __init__(self):
        self.rate, self.unused = 2.0, 0.0


SETTINGS = Settings()
PLACE = types.ModuleType("settings_of_test")
PLACE.rate = 2.0


def of_global(x):
    return SCALE * x if x > 0 else -SCALE * x


def helper(x):
    return SCALE * x


def of_helper(x):
    return helper(x) if x > 0 else -helper(x)


def of_attribute(x):
    return SETTINGS.rate * x if x > 0 else -SETTINGS.rate * x


def of_module(x):
    return PLACE.rate * x if x > 0 else -PLACE.rate * x


def counting(x):
    global CALLS
    CALLS += 1
    return x if x > 0 else -x


def refused(compiled, name):
    with pytest.raises(RuntimeError, match=f"{name} has another value than at the recording of an earlier path, but must have"):
        compiled(-1.0)


@pytest.mark.thread_unsafe(reason="writes into globals")
@pytest.mark.parametrize(
    ("function", "where", "attribute", "name"),
    [
        (of_global, sys.modules[__name__], "SCALE", "SCALE"),
        (of_helper, sys.modules[__name__], "SCALE", "SCALE"),
        (of_attribute, SETTINGS, "rate", r"SETTINGS\.rate"),
        (of_module, PLACE, "rate", r"PLACE\.rate"),
    ],
)
def test_a_new_path_of_another_global_is_refused(monkeypatch, function, where, attribute, name):
    compiled = ag.compile(ag.value_and_grad(function))
    assert compiled(1.0) == (2.0, 2.0)
    monkeypatch.setattr(where, attribute, 7.0)
    assert compiled(3.0) == (6.0, 2.0)  # the path that is recorded
    refused(compiled, name)
    assert ag.compile(function)(-1.0) == 7.0
    monkeypatch.setattr(where, attribute, 2.0)
    assert compiled(-1.0) == (2.0, -2.0)


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda: np.array([1.0, 2.0]), lambda v: v.__setitem__(0, 5.0)),
        (lambda: [1.0, 2.0], lambda v: v.append(5.0)),
        (lambda: {"a": [1.0, 2.0]}, lambda v: v["a"].append(3.0)),
        (lambda: {1, 2}, lambda v: v.add(3)),
        (lambda: np.array([1, 2]), lambda v: v.__setitem__(0, 5)),
    ],
    ids=["array", "list", "dict", "set", "integers"],
)
def test_a_closure_that_is_changed_in_place_is_refused(make, change):
    value = make()
    compiled = ag.compile(lambda x: x * len(value) if x > 0 else -x * len(value))
    compiled(1.0)
    change(value)
    refused(compiled, "value")


@pytest.mark.parametrize("values", [(np.int64(1), np.int64(2)), (1.0, -1.0), (None, 1.0), (Fraction(1, 2), Fraction(1, 3))])
def test_a_variable_of_a_closure_that_is_set_anew_is_refused(values):
    value, other = values
    compiled = ag.compile(lambda x: (value, x)[1] if x > 0 else (value, -x)[1])
    compiled(1.0)
    value = other
    refused(compiled, "value")


def test_a_list_that_contains_itself_is_allowed():
    around = []
    around.append(around)
    compiled = ag.compile(lambda x: x * len(around) if x > 0 else -x * len(around))
    assert [compiled(1.0), compiled(-1.0)] == [1.0, 1.0]
    assert ag.grad(lambda x: x * compiled(3.0))(2.0) == 3.0


def test_another_shape_of_another_closure_is_refused():
    scale = 2.0
    compiled = ag.compile(lambda x: scale * np.sum(x))
    assert compiled(np.ones(2)) == 4.0
    scale = 3.0
    with pytest.raises(RuntimeError, match="scale has another value"):
        compiled(np.ones(3))
    assert compiled(np.ones(2)) == 4.0


@pytest.mark.thread_unsafe(reason="counts calls in a global")
def test_side_effects_and_what_is_not_named_are_no_values():
    compiled = ag.compile(counting)
    calls = []
    log = ag.compile(lambda x: (calls.append(float(len(calls))), x if x > 0 else -x)[1])
    for x in (1.0, -1.0, 2.0):
        assert compiled(x) == log(x) == abs(x)
    settings = Settings()
    named = ag.compile(lambda x: settings.rate * x if x > 0 else -settings.rate * x)
    named(1.0)
    settings.unused = 5.0
    assert named(-1.0) == 2.0


@pytest.mark.thread_unsafe(reason="writes into globals")
def test_a_loaded_function_keeps_the_values_of_its_recordings(monkeypatch):
    compiled = ag.compile(of_global)
    compiled(1.0)
    kept = pickle.dumps(compiled)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 7.0)
    loaded = pickle.loads(kept)
    assert loaded(3.0) == 6.0
    refused(loaded, "SCALE")
    monkeypatch.undo()
    assert loaded(-1.0) == 2.0


def test_whole_numbers_of_any_length_are_captured():
    """Python refuses to write numbers of more than 4300 digits."""
    huge = [10**5000]

    @ag.compile
    def f(x):
        return x * (huge[0] % 7) if x > 0 else -x * (huge[0] % 7)

    assert f(2.0) == 2.0 * (huge[0] % 7)
    assert f(-2.0) == 2.0 * (huge[0] % 7)
