"""Defines solve_many, which solves problems with the same right-hand side in threads, each with its own step control."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agrad._core import Array, EventOperation, ManyOperation, OdeOperation, check_initial_value_problem, count_time_switches
from agrad._loops.body import keep
from agrad._ode.arguments import as_given, check_callable, further_arguments, real_values, vector, whole
from agrad._ode.backwards import SlopeOfMinusTime, check_no_doses, turned_statistics
from agrad._ode.events import Dose, DoseTable
from agrad._ode.methods import options_of, served
from agrad._ode.options import Steps, Tolerances, never_zero
from agrad._ode.progress import Progress, told_of
from agrad._ode.record import PosedProblem, RecordedSlope, RightHandSide, named_by_time
from agrad._ode.repeats import raise_equal, runs_of
from agrad._ode.result import OdeResult, output_times
from agrad._ode.statistics import Statistics
from agrad._ode.step_report import Explained
from agrad._record.structure import find_recording
from agrad._record.trees import flatten, is_number

__all__ = ["Subject", "solve_many"]


@dataclass(frozen=True)
class Subject:
    """An initial value problem of :func:`solve_many`.

    Attributes
    ----------
    t_span : pair of floats
        Initial and final time; where the times decrease, doses are not allowed. The results are differentiable with respect to
        t_span and t_eval.
    y0 : array-like, shape (n,)
        The initial state.
    t_eval : array-like, shape (k,), optional
        Output times within t_span, in the order of t_span; by default the two ends of t_span. Recorded times must differ.
    args : tuple
        Further arguments of the right-hand side: any nested structures of numbers and arrays.
    doses : sequence of Dose
        Amounts that are added to states of this subject, at once or as infusions.
    """

    t_span: Sequence[Any]
    y0: Any
    t_eval: Any = None
    args: tuple[Any, ...] = ()
    doses: Sequence[Dose] = ()


class _Arguments:
    """The common vector of the arguments of all solves; an object that several problems share is stored once."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self._begins: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no `id` is used again
        self._size = 0

    def places(self, x: Any) -> range:
        """Returns the indices of the entries of x in the vector, and adds x where the vector does not contain x."""
        flat = np.ravel(x)
        begin = self._begins.get(id(x))
        if begin is None:
            begin = self._begins[id(x)] = self._size
            self._kept.append(x)
            self.parts.append(flat)
            self._size += flat.size
        return range(begin, begin + flat.size)


class _Problem:
    """A subject's checked problem."""

    def __init__(self, number: int, subject: Subject) -> None:
        if not isinstance(subject, Subject):
            raise TypeError(f"solve_many: subjects[{number}] is {subject!r}, but must be an agrad.Subject")
        #: The beginning of messages about this subject.
        self.function = function = f"solve_many(subjects[{number}])"
        self.args, self.y0 = further_arguments(function, subject.args), vector(function, "y0", subject.y0)
        self.states = real_values(function, "y0", self.y0)
        self.doses = DoseTable(function, "doses", subject.doses)
        self._take_times(subject)
        leaves, _, structure = flatten(self.args)
        taken = [isinstance(leaf, Array) or is_number(leaf) for leaf in leaves]
        self.parameters = [leaf for leaf, is_taken in zip(leaves, taken, strict=True) if is_taken]
        kept = tuple(_frozen(leaf) for leaf, is_taken in zip(leaves, taken, strict=True) if not is_taken)
        self.posed: PosedProblem | None = None
        #: How many numbers follow the states: time and state of the end where there are doses, switches or recorded times.
        self.more = 0
        #: Problems with the same key share a recording of the right-hand side.
        self.key = (structure, tuple(np.shape(x) for x in self.parameters), kept, self.states.size, self.is_backwards)

    def _take_times(self, subject: Subject) -> None:
        function = self.function
        t_span, t_eval = as_given(function, "t_span", subject.t_span), as_given(function, "t_eval", subject.t_eval)
        t0, times = output_times(function, t_span, t_eval, freely=True)
        self.is_backwards = bool(t0 > real_values(function, "t_span", t_span)[1])
        if self.is_backwards:
            check_no_doses(function, self.doses)
        given = t_span if t_eval is None else t_eval
        start = t_span[0] if isinstance(t_span, Array) else t0
        #: The user's output times; `outputs` are the times for the solver, of s = -t where time decreases.
        self.asked = given if isinstance(given, Array) else times
        self.runs = runs_of(times)
        if self.runs is not None and isinstance(given, Array):
            raise_equal(function, self.runs, "where it is recorded")
        outputs = self.asked if self.runs is None else times[self.runs.is_first]
        self.start, outputs = (0.0 - start, 0.0 - outputs) if self.is_backwards else (start, outputs)
        self.t0, values = real_values(function, "t_span", self.start).item(), real_values(function, "t_eval", outputs)
        starts_there = bool(values[0] == self.t0)
        if values.size > starts_there:
            check_initial_value_problem(named_by_time(function, self.is_backwards), self.states, self.t0, values[starts_there:])
        self.times_move = isinstance(self.start, Array) or isinstance(outputs, Array)
        #: Whether an `EventOperation` solves the problem, whose outputs include the state at the initial time.
        self.has_all = bool(self.doses.rows) or self.times_move
        self.outputs = outputs if self.has_all else outputs[starts_there:]
        self.is_known_first = starts_there and not self.has_all
        self.is_solved = self.outputs.size > 0


def _frozen(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.str, leaf.shape, leaf.tobytes()
    return type(leaf), leaf if isinstance(leaf, Hashable) else id(leaf)


def solve_many(
    fun: RightHandSide,
    subjects: Sequence[Subject],
    method: str = "auto",
    *,
    rtol: float = 1e-6,
    atol: Tolerances = 1e-8,
    max_num_steps: int = 100_000,
    first_step: float | None = None,
    max_step: float = np.inf,
    error_control: str = "auto",
    threads: int = 0,
    progress: Progress = False,
) -> list[OdeResult]:
    """Solve the initial value problems of a population, in parallel threads; the results are differentiable.

    Parameters
    ----------
    fun : callable
        The right-hand side ``fun(t, y, *args)`` of all subjects, written with NumPy; see :func:`solve_ivp`. fun is recorded
        once for all subjects whose states and arguments have the same shapes.
    subjects : sequence of Subject
        The problems, each with a time span, an initial state, output times, doses and arguments of its own.
    method, rtol, atol, max_num_steps, first_step, max_step, error_control
        As for :func:`solve_ivp`, for all subjects; each has its own step sizes.
    threads : int
        The most threads; 0 means a thread for each processor.
    progress : bool or callable
        As for :func:`solve_ivp`, but with the number of finished subjects: ``progress(done, subjects, pass)``.

    Returns
    -------
    list of OdeResult
        A result for each subject, with t, y and stats.

    Raises
    ------
    ShapeError, DomainError, SolverError
        As :func:`solve_ivp`, with the subject's number; of several errors the first subject's.
    TypeError
        A subject is no :class:`Subject`, or `subjects` is no sequence.

    Notes
    -----
    Values and gradients are the same to the bit for every number of threads. Floating-point arguments are inputs of the
    recorded right-hand side, other arguments are constants of the recording. Arguments that several subjects share should be
    the same object: the adjoints are then added at once.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> decay = lambda t, y, k: -k * y
    >>> def total(k):
    ...     subjects = [ag.Subject((0.0, end), [1.0], [end], (k,)) for end in (0.5, 1.0, 2.0)]
    ...     return sum(result.y[0, 0] for result in ag.solve_many(decay, subjects, rtol=1e-9, atol=1e-9))
    >>> print(f"{ag.grad(total)(1.0):.6f}")  # -sum(t exp(-t))
    -0.941815
    """
    check_callable("solve_many", "fun", fun)
    if not isinstance(subjects, Iterable):
        raise TypeError(f"solve_many: subjects is {subjects!r}, but must be a sequence of agrad.Subject")
    tolerances = {"rtol": rtol, "atol": never_zero("solve_many", "atol", atol)}
    method, note = served(method)
    steps = Steps(first_step, max_step, error_control=error_control)
    make_options = options_of("solve_many", method, tolerances, max_num_steps, steps)
    problems = [_Problem(number, subject) for number, subject in enumerate(subjects)]
    arguments, posed = _Arguments(), []
    slopes: dict[Any, RecordedSlope] = {}
    for problem in problems:
        if not problem.is_solved:
            continue
        slope = slopes.get(problem.key)
        if slope is None:
            its = SlopeOfMinusTime(fun, "solve_many") if problem.is_backwards else fun
            slope = RecordedSlope("solve_many", its, problem.t0, problem.states, problem.args, all_numbers=True)
            slopes[problem.key] = slope
        problem.posed = _posed(problem, slope, make_options)
        posed.append(problem.posed)
    parts = [(each.operation, [place for x in each.parts for place in arguments.places(x)]) for each in posed]
    told = told_of("solve_many", progress, 0.0, float(len(parts)), what="subjects ")
    many = ManyOperation("solve_many", parts, whole("solve_many", "threads", threads, least=0), told.host)
    states = _solved(many, arguments, slopes)
    results = _results(problems, states, method, (rtol, atol))
    for result in results:
        result.message += note
    return results


def _posed(problem: _Problem, slope: RecordedSlope, make_options: Callable[[int], Any]) -> PosedProblem:
    """Returns the solve of a problem as an operation, with the parts of the operation's argument."""
    function, n, is_recorded, doses = problem.function, problem.states.size, isinstance(problem.y0, Array), problem.doses
    options, count = make_options(n), problem.outputs.size
    solver = named_by_time(function, problem.is_backwards)
    values = [problem.y0, np.reshape(problem.start, (1,)), problem.outputs, *problem.parameters, *slope.captured]
    operation: OdeOperation | EventOperation
    if problem.has_all or count_time_switches(slope.program, n):
        problem.more = 1 + n
        values += doses.parts
        moves = problem.times_move or doses.times_move
        operation = EventOperation(solver, slope.program, n, count, options, doses.rows, 0, [], 1, moves, [], -1, count)
    else:
        operation = OdeOperation(solver, slope.program, n, count, options, is_recorded, False, False)
    if not options.same_steps:  # else derivatives with respect to all parameters count, wanted or not
        active = [np.full(np.size(x), isinstance(x, Array)) for x in [*problem.parameters, *slope.captured]]
        operation.set_active(np.concatenate([np.zeros(0, bool), *active]).tolist())
    return PosedProblem(function, operation, values)


def _solved(operation: ManyOperation, arguments: _Arguments, slopes: dict[Any, RecordedSlope]) -> Any:
    recording = find_recording(arguments.parts)
    if recording is None:
        return operation.solve(np.concatenate([np.zeros(0), *arguments.parts]))
    for slope in slopes.values():
        keep(recording, slope.bodies)
    joined: Any = np.concatenate([recording.array(x) for x in arguments.parts])
    return operation.record(joined)


def _results(problems: Sequence[_Problem], flat: Any, method: str, tolerances: tuple[Any, Any]) -> list[OdeResult]:
    results, begin = [], 0
    for problem in problems:
        n, count = problem.states.size, problem.outputs.size
        end = begin + n * count
        y = np.reshape(flat[begin:end], (count, n))
        if problem.is_known_first:
            y = np.concatenate([np.reshape(problem.y0, (1, n)), y])
        explained = Explained(problem.posed, method, tolerances, problem.is_backwards)
        columns = np.transpose(y) if problem.runs is None else np.transpose(y)[:, problem.runs.places]
        result = OdeResult(problem.asked, columns, _explained=explained)
        if problem.posed is not None:
            counts = Statistics(problem.posed.operation.statistics)
            result.stats = turned_statistics(counts) if problem.is_backwards else counts
            if method == "auto":
                result.describe_switch()
        results.append(result)
        begin = end + problem.more
    return results
