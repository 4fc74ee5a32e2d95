"""Progress of long solves: who is called, and with what; nothing here depends on how long anything takes."""

import gc
import sys
import time
import types
import weakref

import numpy as np
import pytest

import agrad as ag

METHODS = ["BDF", "Adams", "Tsit5", "RK45", "CKRK", "DOP853", "Rodas4", "Rodas5P", "auto"]


def predation(t, y, growth):
    return [growth * y[0] - 0.03 * y[0] * y[1], 0.025 * y[0] * y[1] - 0.8 * y[1]]


def solve(growth, progress, method="Tsit5", **options):
    span, times = options.pop("span", (1.0, 5.0)), options.pop("t_eval", [2.0, 4.0])
    return ag.solve_ivp(predation, span, [30.0, 4.0], method, times, args=(growth,), progress=progress, **options)


class Heard:
    """A callable that keeps what it is called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, t, t_end, name):
        assert type(t) is type(t_end) is float
        self.calls.append((t, t_end, name))

    def ends(self):
        """The last call of each pass, one after the other."""
        pairs = zip(self.calls, [*self.calls[1:], (None, None, None)], strict=True)
        return [now for now, then in pairs if now[2] != then[2]]


@pytest.fixture
def bars(monkeypatch):
    """A tqdm that draws nothing, and shows bars at once."""
    made = []

    class Bar:
        def __init__(self, **given):
            self.given, self.n, self.seen, self.text, self.closed = given, 0, [], [], 0
            made.append(self)

        def set_description_str(self, text, refresh):
            assert not refresh
            self.text.append(text)

        def refresh(self):
            assert not self.closed
            self.seen.append(self.n)

        def close(self):
            self.closed += 1

    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr("agrad._ode.progress._PATIENCE", 0.0)
    return made


@pytest.mark.parametrize("method", METHODS)
def test_the_end_of_each_pass_is_told(method):
    heard = Heard()
    plain = solve(0.55, heard, method)
    assert heard.calls[-1] == (4.0, 4.0, "forward")
    np.testing.assert_array_equal(plain.y, solve(0.55, False, method).y)
    heard = Heard()
    slope = ag.grad(lambda growth: np.sum(solve(growth, heard, method).y))(0.55)
    assert heard.ends() == [(4.0, 4.0, "forward"), (1.0, 1.0, "backward")]
    assert slope == ag.grad(lambda growth: np.sum(solve(growth, False, method).y))(0.55)


@pytest.mark.parametrize("method", ["BDF", "Tsit5", "Rodas4"])
def test_events_and_doses_are_passes_of_one_solve(method):
    heard = Heard()
    stop = ag.Event(lambda t, y, growth: y[1] - 8.0, terminal=True)
    result = solve(0.55, heard, method, events=stop, doses=[ag.Dose(1.5, 0, 2.0)], t_eval=None)
    assert result.status == 1
    assert heard.ends() == [(result.t[-1], 5.0, "forward")]
    ag.grad(lambda growth: np.sum(solve(growth, heard, method, doses=[ag.Dose(1.5, 0, 2.0)]).y))(0.55)
    assert heard.ends()[-1] == (1.0, 1.0, "backward")


@ag.custom_vjp
def slow(y):
    time.sleep(0.02)
    return -y


slow.defvjp(lambda y: (slow(y), None), lambda kept, g: (-g,))


def test_calls_on_the_way_go_forwards_and_then_back():
    """Each step takes six evaluations, and so longer than the time after which the next call is due."""
    heard = Heard()

    def end(y0):
        return ag.solve_ivp(lambda t, y: slow(y), (0.0, 1.0), y0, "Tsit5", rtol=1e-3, atol=1e-3, progress=heard).y[0, -1]

    ag.grad(end)(np.array([1.0]))
    for name, sign in (("forward", 1), ("backward", -1)):
        times = [t for t, _, which in heard.calls if which == name]
        assert len(times) >= 3
        assert times == sorted(times, key=lambda t: sign * t)
    assert heard.ends() == [(1.0, 1.0, "forward"), (0.0, 0.0, "backward")]


def test_each_run_of_a_compiled_function_is_told():
    heard = Heard()
    gradient = ag.compile(ag.grad(lambda growth: np.sum(solve(growth, heard).y)))
    counts = []
    for growth in (0.5, 0.6, 0.7):
        before = len(heard.calls)
        gradient(growth)
        counts.append([call[2] for call in heard.calls[before:]])
    assert counts[1:] == [["forward", "backward"]] * 2


def test_a_solve_inside_of_a_right_hand_side_is_not_told():
    heard = Heard()

    def outer(t, y):
        inner = ag.solve_ivp(lambda s, z: -z * y[0], (100.0, 101.0), [1.0], "Tsit5", [101.0])
        return [-y[0] * inner.y[0, 0]]

    ag.solve_ivp(outer, (0.0, 1.0), [1.0], "Tsit5", [1.0], progress=heard)
    assert heard.calls
    assert all(t <= 1.0 for t, _, _ in heard.calls)


@pytest.mark.parametrize("raised", [ValueError("enough"), KeyboardInterrupt()])
@pytest.mark.parametrize("method", ["BDF", "Tsit5"])
def test_what_the_callable_raises_comes_out(method, raised):
    def refuse(t, t_end, name):
        raise raised

    with pytest.raises(type(raised)) as caught:
        solve(0.55, refuse, method)
    assert caught.value is raised
    assert solve(0.55, False, method).success


def test_a_solve_that_fails_tells_no_end():
    heard = Heard()
    with pytest.raises(ag.SolverError):
        ag.solve_ivp(lambda t, y: y**2, (0.0, 2.0), [1.0], "Tsit5", progress=heard)
    assert not [t for t, t_end, _ in heard.calls if t == t_end]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_subjects_are_counted(threads):
    heard = Heard()

    def total(growth):
        subjects = [ag.Subject((0.0, 1.0 + k), [30.0, 4.0], args=(growth,), doses=doses[k % 2]) for k in range(9)]
        return sum(np.sum(result.y) for result in ag.solve_many(predation, subjects, threads=threads, progress=heard))

    doses = [(), [ag.Dose(0.5, 0, 1.0)]]
    slope = ag.grad(total)(0.55)
    assert heard.ends() == [(9.0, 9.0, "forward"), (9.0, 9.0, "backward")]
    gradient = ag.compile(ag.grad(total))
    for _ in range(2):
        before = len(heard.calls)
        assert gradient(0.55) == slope
        assert heard.calls[before:][-1] == (9.0, 9.0, "backward")


def test_a_subject_that_fails_ends_the_count():
    heard = Heard()
    subjects = [ag.Subject((0.0, end), [1.0]) for end in (0.5, 2.0, 0.5)]
    with pytest.raises(ag.SolverError):
        ag.solve_many(lambda t, y: y**2, subjects, progress=heard)
    assert (3.0, 3.0, "forward") not in heard.calls
    assert len(ag.solve_many(lambda t, y: -y, subjects, progress=heard)) == 3
    assert heard.calls[-1] == (3.0, 3.0, "forward")


def test_no_subject_is_no_pass_that_fails():
    heard = Heard()
    assert ag.solve_many(lambda t, y: -y, [], progress=heard) == []


@pytest.mark.thread_unsafe(reason="puts another module in the place of tqdm")
def test_a_bar_is_as_long_as_the_interval_and_is_closed(bars):
    ag.grad(lambda growth: np.sum(solve(growth, True).y))(0.55)
    forward, backward = bars
    assert forward.given["total"] == backward.given["total"] == 3.0
    assert forward.seen[-1] == backward.seen[-1] == 3.0
    assert forward.text[-1] == "solve_ivp forward: t = 4 of 4"
    assert backward.text[-1] == "solve_ivp backward: t = 1 of 1"
    assert forward.closed == backward.closed == 1


@pytest.mark.thread_unsafe(reason="puts another module in the place of tqdm")
def test_a_bar_counts_subjects(bars):
    subjects = [ag.Subject((0.0, 1.0), [1.0])] * 4
    ag.solve_many(lambda t, y: -y, subjects, progress=True)
    assert [(bar.given["total"], bar.text[-1], bar.closed) for bar in bars] == [(4.0, "solve_many forward: subjects 4 of 4", 1)]


@pytest.mark.thread_unsafe(reason="puts another module in the place of tqdm")
def test_a_bar_is_closed_when_a_refresh_is_interrupted(bars, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["tqdm.auto"].tqdm, "refresh", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve(0.55, True)
    assert [bar.closed for bar in bars] == [1]


@pytest.mark.thread_unsafe(reason="puts another module in the place of tqdm")
def test_a_bar_is_closed_when_the_solve_fails(bars):
    """The bar is there, because each step takes longer than the time after which it is due."""

    def refuse():
        if len(calls) > 40:
            raise ZeroDivisionError
        calls.append(0)
        time.sleep(0.02)

    calls = []
    failing = ag.custom_vjp(lambda y: refuse() or -y)
    failing.defvjp(lambda y: (refuse() or -y, None), lambda kept, g: (-g,))
    with pytest.raises(ZeroDivisionError):
        ag.solve_ivp(lambda t, y: failing(y), (0.0, 1e3), [1.0], "Tsit5", rtol=1e-6, progress=True)
    assert [bar.closed for bar in bars] == [1]
    assert bars[0].seen[-1] < 1e3


@pytest.mark.thread_unsafe(reason="puts another module in the place of tqdm")
def test_a_short_solve_shows_no_bar(bars, monkeypatch):
    monkeypatch.setattr("agrad._ode.progress._PATIENCE", 1e6)
    ag.grad(lambda growth: np.sum(solve(growth, True).y))(0.55)
    assert bars == []


@pytest.mark.thread_unsafe(reason="hides a module")
def test_without_tqdm_the_advice_is_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(
        ImportError, match=r"^solve_ivp: progress is True, but tqdm is missing; pip install \"agrad\[progress\]\", or"
    ):
        solve(0.55, True)
    with pytest.raises(ImportError, match=r"^solve_many: progress is True"):
        ag.solve_many(predation, [], progress=True)
    assert solve(0.55, False).success  # it is imported only when asked for


@pytest.mark.thread_unsafe(reason="makes bars at once")
def test_the_real_tqdm(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    monkeypatch.setattr("agrad._ode.progress._PATIENCE", 0.0)
    solve(0.55, True)
    drawn = capsys.readouterr().err
    assert "solve_ivp forward: t = 4 of 4 100%" in drawn


@pytest.mark.thread_unsafe(reason="counts what is alive")
def test_a_callable_that_owns_the_result_is_no_leak():
    class Owner(Heard):
        def __init__(self, **options):
            super().__init__()
            self.result = solve(0.55, self, return_partial=True, **options)
            self.many = ag.solve_many(lambda t, y: -y, [ag.Subject((0.0, 1.0), [1.0])], progress=self)

    for options in ({}, {"doses": [ag.Dose(1.5, 0, 1.0)]}, {"max_num_steps": 3}):
        alive = weakref.ref(Owner(**options))
        gc.collect()
        assert alive() is None


@pytest.mark.parametrize("given", [1, "yes", 0.5])
def test_anything_else_is_refused(given):
    with pytest.raises(TypeError, match=r"^solve_ivp: progress is .*, but must be True, False or callable"):
        solve(0.55, given)
