"""Defines solve_many, which solves problems with the same right-hand side in threads, each with its own step control."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from agrad._core import ConfiguredMethod, ManyOperation, SolverError
from agrad._many.member import Member, SharedArguments
from agrad._ode.algebra import Algebra, mass_entries, method_with_mass
from agrad._ode.doses import Dose
from agrad._ode.event_solve import EventSolve
from agrad._ode.events import NO_INTERRUPTIONS, interruptions_of
from agrad._ode.method_table import method_named
from agrad._ode.methods import check_choices, method_of
from agrad._ode.options import Tolerances, step_options, tolerances_of
from agrad._ode.progress import Progress, reporter_of
from agrad._ode.record import RecordedFunction, joined, naming_lines
from agrad._ode.recorded_solve import RecordedSolve
from agrad._ode.result import OdeResult
from agrad._record.arguments import RightHandSide, check_callable, whole
from agrad._record.control import chosen_control
from agrad._record.structure import find_recording

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
        Doses of this subject, which change states at once or as infusions; see :class:`Dose` for the units.
    before : bool or array-like of bool, shape (k,)
        Whether the output is the state before doses at its time, for all output times or for each; see :func:`solve_ivp`.
    tstops : array-like, shape (s,)
        Times at which steps must end, besides those of all subjects; see :func:`solve_ivp`.

    Raises
    ------
    ShapeError
        (By :func:`solve_many`) t_span is no pair, or y0 or t_eval is no vector.
    DomainError
        (By :func:`solve_many`) a number is not finite, the two times of t_span are equal, or t_eval is out of order or leaves
        t_span.
    TypeError
        (By :func:`solve_many`) `args` is no tuple, `doses` is no sequence of Dose, or an entry is no real number.
    ValueError
        (By :func:`solve_many`) there are doses and t_span decreases.
    """

    t_span: Sequence[Any]
    y0: Any
    t_eval: Any = None
    args: tuple[Any, ...] = ()
    doses: Sequence[Dose] = ()
    before: Any = False
    tstops: Any = ()


def solve_many(
    fun: RightHandSide,
    subjects: Sequence[Subject],
    method: str = "auto",
    *,
    events: Any = None,
    tstops: Any = (),
    max_events: int = 1000,
    rtol: float = 1e-6,
    atol: Tolerances = 1e-8,
    max_num_steps: int = 100_000,
    first_step: float | None = None,
    max_step: float = np.inf,
    error_control: str = "auto",
    switches: str = "auto",
    mass_matrix: Any = None,
    linear_solver: str = "auto",
    jac_sparsity: Any = None,
    sensitivities: str = "adjoint",
    return_partial: bool = False,
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
    events : callable, Event, or sequence of these, optional
        As for :func:`solve_ivp`: events of all subjects, with each subject's arguments. Each has `t_events` of its own. The
        events are counted by a solve for each subject before the solves in threads.
    tstops, max_events
        As for :func:`solve_ivp`; the tstops and a subject's own are stops.
    method, rtol, atol, max_num_steps, first_step, max_step, error_control, switches, mass_matrix
        As for :func:`solve_ivp`, for all subjects; each has its own step sizes.
    linear_solver, jac_sparsity, sensitivities
        As for :func:`solve_ivp`, for all subjects; with `jac_sparsity` all have states of the same size.
    return_partial : bool
        Whether subjects whose solver fails have the solution before the failure, with success False, as of
        :func:`solve_ivp`; the other subjects lose nothing. If a subject fails, all subjects are solved again, one by one first.
    threads : int
        The most threads; 0 means a thread for each processor.
    progress : bool or callable
        As for :func:`solve_ivp`, but with the number of finished subjects: ``progress(done, subjects, pass)``.

    Returns
    -------
    list of OdeResult
        A result for each subject, with t, y and stats; with events also t_events and y_events.

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
    function = "solve_many"
    check_callable(function, "fun", fun)
    if not isinstance(subjects, Iterable):
        raise TypeError(f"{function}: subjects is {subjects!r}, but must be a sequence of agrad.Subject")
    named, note = method_named(function, method)
    entry = method_with_mass(function, named, mass_matrix)
    algebra = Algebra(linear_solver, jac_sparsity)
    check_choices(function, entry, algebra, sensitivities, error_control, switches)
    error_control = chosen_control(error_control)
    shared = interruptions_of(function, (), events, tstops, max_events) or NO_INTERRUPTIONS
    if shared.events is not None and sensitivities != "adjoint":
        raise ValueError(f"{function}: sensitivities is {sensitivities!r}, but must be 'adjoint' where there are events")

    @cache
    def method_for(size: int) -> ConfiguredMethod:
        tolerances = tolerances_of(function, size, ("rtol", "atol"), rtol, atol, allows_zero=True)
        options = step_options(
            function, size, tolerances, max_num_steps, first_step, max_step, algebra=algebra, error_control=error_control
        )
        return method_of(function, entry, options._replace(mass=mass_entries(function, mass_matrix, size)), sensitivities)

    members = []
    for number, subject in enumerate(subjects):
        if not isinstance(subject, Subject):
            raise TypeError(f"{function}: subjects[{number}] is {subject!r}, but must be an agrad.Subject")
        name, has_mass = f"{function}(subjects[{number}])", mass_matrix is not None
        members.append(Member(name, subject, fun, method_for, shared, has_mass, holds_switches=switches == "auto"))
    population = _Population(function, whole(function, "threads", threads, least=0), progress)
    try:
        flat = population.solve(members)
    except SolverError:
        if not return_partial:
            raise
        differentiated = population.is_recorded(members)
        members = [member.shortened(differentiated, population.record) for member in members]
        flat = population.solve(members)
    results, begin = [], 0
    for member in members:
        end = begin + member.size
        results.append(member.result(flat[begin:end], entry.name, (rtol, atol)))
        results[-1].message += note
        begin = end
    return results


class _Population:
    """The recordings of functions that members share, and the solve of all members."""

    def __init__(self, function: str, threads: int, progress: Progress) -> None:
        self.function, self.threads, self.progress = function, threads, progress
        self._functions: dict[Any, RecordedFunction] = {}

    def record(self, member: Member) -> RecordedSolve:
        """Records a member; members with the same key share the recordings."""
        problem = member.problem

        def recorded(f: Any, result: str, number: int) -> RecordedFunction:
            key = (member.key, result, number)
            if key not in self._functions:
                self._functions[key] = RecordedFunction(
                    self.function,
                    f,
                    problem.times.t0,
                    [problem.states],
                    problem.args,
                    all_numbers=True,
                    result=result,
                    finds_jumps=result == "slope" and problem.holds_switches,
                )
            return self._functions[key]

        return member.record(recorded(problem.f, "slope", 0), recorded)

    def is_recorded(self, members: Sequence[Member]) -> bool:
        """Returns whether a part of a recorded member is recorded."""
        return any(find_recording(each.recorded.parts) is not None for each in members if each.recorded is not None)

    def solve(self, members: Sequence[Member]) -> Any:
        """Returns the numbers of all members, one after the other."""
        arguments, parts = SharedArguments(), []
        solved = [member for member in members if member.outputs.size]
        solves = [self.record(member) for member in solved]
        differentiated = self.is_recorded(solved)
        for member, solve in zip(solved, solves, strict=True):
            member.count(differentiated)
            given = solve.whole if isinstance(solve, EventSolve) else solve.parts
            parts.append((solve.operation, [place for x in given for place in arguments.places(x)]))
        reporter = reporter_of(self.function, self.progress, 0.0, float(len(parts)), what="subjects ")
        many = ManyOperation(self.function, parts, self.threads, reporter.host)
        recording, argument = joined(arguments.parts or [np.zeros(0)], list(self._functions.values()))
        with naming_lines(list(self._functions.values())):
            return many.solve(argument) if recording is None else many.record(argument)
