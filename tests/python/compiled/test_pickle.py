"""Compiled functions pickled with what they recorded: in this process, in another one, copied; and what cannot be."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import agrad as ag
import fuzz_pickles
import kept_functions as functions
from agrad import _core

Pair = namedtuple("Pair", "a b")


@dataclass
class Model:
    rates: np.ndarray
    scale: float
    name: str = "model"


@dataclass
class Rates:
    rates: np.ndarray
    scale: float


CALLS = 0


def counting(x, model, pair, *, power):
    global CALLS
    CALLS += 1
    if model.scale > 0:
        return {"value": np.sum(pair.a * x**power), "rates": Rates(model.rates * 2.0, model.scale)}
    return {"value": np.sum(x), "rates": Rates(model.rates, model.scale)}


def loss(theta):
    chain = theta[0]
    for k in range(40):
        chain = np.sin(chain) + 0.1 * k  # straight code
    matrix = np.outer(theta, theta) + 3.0 * np.eye(theta.size)
    many = sum(np.cos(each) * each for each in theta)  # runs
    return (
        chain
        + many
        + np.linalg.slogdet(matrix)[1]
        + np.sum(np.linalg.solve(matrix, theta) ** 2)
        + np.max(theta)
        + np.sum(np.cumsum(np.sort(theta)))
        + ag.normal_lpdf(theta, 0.0, 1.0)
        + ag.bernoulli_logit_glm_lpmf([1, 0], np.ones((2, theta.size)), 0.0, theta)
        + np.interp(theta[0], np.arange(3.0), np.arange(3.0) ** 2)
    )


@ag.compile
def decorated(x):
    return np.sum(x**2)


AT = np.linspace(0.2, 0.9, 14)


def through_pickle(x):
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("transformation", [lambda f: f, ag.grad, ag.value_and_grad, ag.hessian])
def test_round_trips_keep_programs_and_bits(transformation):
    f = ag.compile(transformation(loss))
    wanted = f(AT)
    g = through_pickle(f)
    assert type(g) is type(f)
    assert str(g) == str(f)
    for mine, theirs in ((g(AT), wanted), (g(2 * AT), f(2 * AT))):
        for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (mine, theirs)), strict=True):
            np.testing.assert_array_equal(one, other)
    assert pickle.dumps(through_pickle(g)) == pickle.dumps(g)


@pytest.mark.thread_unsafe(reason="counts calls of a function of the module")
def test_nothing_is_recorded_again():
    f = ag.compile(counting)
    model, pair = Model(np.arange(3.0), 1.0), Pair(2.0, None)
    wanted = f(np.ones(3), model, pair, power=2)
    f(np.ones(3), Model(np.arange(3.0), -1.0), pair, power=2)  # the other path
    before = CALLS
    g = through_pickle(f)
    got = g(np.ones(3), model, pair, power=2)
    assert got["value"] == wanted["value"]
    np.testing.assert_array_equal(got["rates"].rates, wanted["rates"].rates)
    assert type(got["rates"]) is Rates
    assert g(np.ones(3), Model(np.arange(3.0), -2.0), pair, power=2)["value"] == 3.0
    assert before == CALLS
    assert len(g.recorded()[0][1]) == 2
    g(np.ones(4), model, pair, power=2)  # another signature
    assert before + 1 == CALLS


def test_functions_that_recorded_nothing_travel_too():
    f = through_pickle(ag.compile(ag.grad(loss)))
    assert f.recorded() == []
    np.testing.assert_array_equal(f(AT), ag.compile(ag.grad(loss))(AT))


def test_a_decorated_function_is_pickled_by_its_name():
    decorated(np.ones(2))
    assert through_pickle(decorated) is decorated
    assert copy.deepcopy(decorated) is not decorated
    assert copy.deepcopy(decorated)(np.ones(2)) == 2.0


def test_copies_share_programs_and_go_on_by_themselves():
    f = ag.compile(loss)
    f(AT)
    for g in (copy.deepcopy(f), copy.copy(f)):
        assert g is not f
        assert g(AT) == f(AT)
        g(AT[:4])
        assert len(g.recorded()) == 2
        assert len(f.recorded()) == 1
    nested = copy.deepcopy({"f": f})["f"]
    assert nested(AT) == f(AT)
    assert copy.deepcopy(f).recorded()[0][1][0].program is f.recorded()[0][1][0].program


def bits(result):
    return pickle.dumps(result)


@pytest.mark.parametrize("function", [*functions.PLAIN, *functions.LOOPS, *functions.SOLVES, functions.by_hand])
@pytest.mark.parametrize("transformation", [lambda f: f, ag.grad, ag.value_and_grad, ag.jacobian])
def test_every_function_loads_again_with_the_same_bits(function, transformation):
    f = ag.compile(transformation(function))
    wanted = f(functions.X)
    g = through_pickle(f)
    ((_, (path,)),) = g.recorded()
    assert bits(g(functions.X)) == bits(wanted)
    assert bits(g(1.01 * functions.X)) == bits(f(1.01 * functions.X))
    assert next(each for _, paths in g.recorded() for each in paths) is path  # which was not recorded again


@pytest.mark.parametrize("function", [*functions.PLAIN, functions.scanned, functions.solved])
def test_second_derivatives_load_again(function):
    for made, arguments in ((ag.hessian, (functions.X,)), (ag.hvp, (functions.X, np.cos(functions.X)))):
        f = ag.compile(made(function))
        wanted = f(*arguments)
        assert bits(through_pickle(f)(*arguments)) == bits(wanted)


def test_sparse_vmapped_and_nested_transformations_load_again():
    x = functions.X
    sparse = ag.compile(ag.hessian(functions.chained_squares, sparse=True))
    wanted = sparse(x)
    found = through_pickle(sparse)(x)
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())
    table = np.stack([x, 2 * x, x[::-1]])
    for vmapped in (ag.vmap(functions.chains), ag.vmap(ag.grad(functions.linalg)), ag.vmap(functions.chains, threads=2)):
        f = ag.compile(vmapped)
        wanted = f(table)
        assert bits(through_pickle(f)(table)) == bits(wanted)
    assert through_pickle(ag.vmap(functions.chains, threads=2))(table).shape == (3,)
    assert bits(through_pickle(ag.jacobian(ag.grad(functions.chains)))(x)) == bits(ag.jacobian(ag.grad(functions.chains))(x))


def test_functions_that_decorators_made_are_pickled_by_their_names():
    assert through_pickle(slope) is slope
    f = ag.compile(slope)
    wanted = f(3.0)
    assert through_pickle(f)(3.0) == wanted == 6.0


@ag.grad
def slope(x):
    return x**2


@pytest.mark.parametrize("function", functions.SOLVES)
def test_a_solve_carries_its_program_along(function):
    f = ag.compile(ag.grad(function))
    f(functions.X)
    ((_, (path,)),) = f.recorded()
    assert path.program.externals
    kept = path.program.to_bytes()
    again = _core.program_of(kept)
    assert again.externals == path.program.externals
    assert again.to_bytes() == kept


def test_a_loop_that_takes_a_new_path_is_recorded_again():
    f = ag.compile(functions.conditional)
    values = [f(functions.X), f(-functions.X)]
    g = through_pickle(f)
    assert [g(functions.X), g(-functions.X)] == values


def test_programs_with_callbacks_are_recorded_again():
    f = ag.compile(ag.grad(functions.called_back))
    wanted = f(functions.X)
    g = through_pickle(f)
    assert g.recorded() == []
    np.testing.assert_array_equal(g(functions.X), wanted)
    assert copy.deepcopy(f).recorded()
    ((_, (path,)),) = f.recorded()
    (name,) = path.program.externals
    assert path.program.to_bytes() is None
    with pytest.raises(ValueError, match="cannot be stored as bytes") as failure:
        pickle.dumps(path.program)
    assert str(failure.value).startswith(f"program: operation is {name}, but must be one of plain data")


def test_functions_without_a_name_are_refused_by_pickle():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(ag.compile(lambda x: x))


def program_of_loss():
    f = ag.compile(loss)
    f(AT)
    ((_, (path,)),) = f.recorded()
    return path.program


def test_other_versions_and_damage_are_refused_in_words():
    kept = program_of_loss().to_bytes()
    inside = kept[fuzz_pickles.SEAL :]
    begin = 8 + len(ag.__version__)
    assert inside[8:begin] == ag.__version__.encode()
    other = fuzz_pickles.mended(kept, (5).to_bytes(8, "little") + b"0.0.9" + inside[begin:])
    message = (
        f"program: version of the pickle is 0.0.9, but must be {ag.__version__}; a program is read only by the version "
        "of agrad that pickled it, record the program again"
    )
    with pytest.raises(ValueError, match="version") as failure:
        _core.program_of(other)
    assert str(failure.value) == message
    for bad, words in (
        (
            kept[:-1],
            "checksum of the pickle is .*, but must be .*; bytes of the pickle are damaged or lost, record the program again",
        ),
        (kept[:8] + b"\7" + kept[9:], "format of the pickle is version 7, but must be version 6; record the program again"),
        (b"something else altogether", "the beginning of the pickle is not that of a program, but must be as it was pickled"),
        (
            fuzz_pickles.mended(kept, inside[:-8]),
            "in the pickle is damaged, but must be as it was pickled; record the program again",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            _core.program_of(bad)


def test_what_belongs_to_a_program_is_sealed_with_it():
    f = ag.compile(ag.grad(counting_nothing, argnums=1))
    f(AT, 2.0 * AT)
    restore, (version, seal, kind, function, control, entries) = f.__reduce__()
    assert bits(restore(version, seal, kind, function, control, entries)(AT, 2.0 * AT)) == bits(f(AT, 2.0 * AT))
    ((example, kept),) = entries
    other = ag.grad(counting_nothing, argnums=0)
    for bad in (
        (seal, kind, other, control, entries),
        (seal[::-1], kind, function, control, entries),
        (seal, kind, function, "states", entries),
        (seal, kind, function, control, [(example, kept * 2)]),
    ):
        with pytest.raises(
            ValueError, match="compile: the pickle is damaged, but must be as it was pickled; record the function"
        ):
            restore(version, *bad)
    with pytest.raises(
        ValueError, match="compile: format of the pickle is version 9, but must be version 4; record the function"
    ):
        restore(9, seal, kind, function, control, entries)


def counting_nothing(x, y):
    return np.sum(x * y**2)


def test_damaged_pickles_end_in_errors_or_in_the_same_results():
    """A few of those that ``python tests/python/fuzz_pickles.py 20000`` makes."""
    command = [sys.executable, str(Path(fuzz_pickles.__file__)), "1000"]
    environment = {**os.environ, "PYTHONPATH": str(Path(ag.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("refused") == 2


MODULE = """
    import numpy as np
    import agrad as ag

    CALLS = 0

    def loss(x):
        global CALLS
        CALLS += 1
        return np.sum(np.sin(x) ** 2)

    fast = ag.compile(ag.value_and_grad(loss))

    @ag.compile
    def decorated(x):
        return loss(x) * 2.0
"""


def test_another_process_takes_the_programs_over(tmp_path):
    (tmp_path / "kept_model.py").write_text(textwrap.dedent(MODULE))
    package = str(Path(ag.__file__).parents[1])
    dump = "import pickle, kept_model as m, numpy as np; f = [m.fast, m.decorated]; x = np.arange(3.0); [g(x) for g in f];"
    dump += "open('kept', 'wb').write(pickle.dumps(f))"
    load = "import pickle, numpy as np; f = pickle.load(open('kept', 'rb')); x = np.arange(3.0); r = [g(x) for g in f];"
    load += "import kept_model as m; assert f[1] is m.decorated; print(m.CALLS, r[0][0], r[0][1].tolist(), r[1])"
    path = f"import sys; sys.path[:0] = [{package!r}, '.'];"
    for code in (dump, load):
        run = subprocess.run([sys.executable, "-c", path + code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    x = np.arange(3.0)
    f = ag.compile(ag.value_and_grad(lambda x: np.sum(np.sin(x) ** 2)))
    value, gradient = f(x)
    assert run.stdout.split(maxsplit=1) == ["0", f"{value} {gradient.tolist()} {2 * value}\n"]


POOL = """
    import multiprocessing
    import numpy as np
    import kept_model

    def count(_):
        return kept_model.CALLS

    if __name__ == "__main__":
        points = [np.arange(3.0) * k for k in range(4)]
        wanted = [kept_model.fast(x)[0] for x in points]
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            assert [value for value, _ in pool.map(kept_model.fast, points)] == wanted
            assert sum(pool.map(count, points)) == 0
        print("done")
"""


def test_pools_of_processes_record_nothing(tmp_path):
    (tmp_path / "kept_model.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "pool.py").write_text(textwrap.dedent(POOL))
    environment = {**os.environ, "PYTHONPATH": str(Path(ag.__file__).parents[1])}
    command = [sys.executable, "pool.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "done\n"
