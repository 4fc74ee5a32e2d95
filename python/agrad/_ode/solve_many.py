"""Defines solve_many, which solves problems with the same right-hand side in threads, each with its own step control."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from agrad._core import ConfiguredMethod, ManyOperation
from agrad._ode.algebra import Algebra, mass_entries, method_with_mass
from agrad._ode.arguments import RightHandSide, check_callable, whole
from agrad._ode.doses import Dose
from agrad._ode.member import Member, SharedArguments
from agrad._ode.method_table import method_named
from agrad._ode.methods import check_choices, method_of
from agrad._ode.options import Tolerances, step_options, tolerances_of
from agrad._ode.progress import Progress, reporter_of
from agrad._ode.record import RecordedFunction, joined
from agrad._ode.result import OdeResult
from agrad._record.control import chosen_control

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
    switches: str = "auto",
    mass_matrix: Any = None,
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
    method, rtol, atol, max_num_steps, first_step, max_step, error_control, switches, mass_matrix
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
    function = "solve_many"
    check_callable(function, "fun", fun)
    if not isinstance(subjects, Iterable):
        raise TypeError(f"{function}: subjects is {subjects!r}, but must be a sequence of agrad.Subject")
    named, note = method_named(function, method)
    entry = method_with_mass(function, named, mass_matrix)
    check_choices(function, entry, Algebra(), "adjoint", error_control, switches)
    error_control = chosen_control(error_control)

    @cache
    def method_for(size: int) -> ConfiguredMethod:
        tolerances = tolerances_of(function, size, ("rtol", "atol"), rtol, atol, allows_zero=True)
        options = step_options(function, size, tolerances, max_num_steps, first_step, max_step, error_control=error_control)
        return method_of(function, entry, options._replace(mass=mass_entries(function, mass_matrix, size)))

    members = []
    for number, subject in enumerate(subjects):
        if not isinstance(subject, Subject):
            raise TypeError(f"{function}: subjects[{number}] is {subject!r}, but must be an agrad.Subject")
        name, has_mass = f"{function}(subjects[{number}])", mass_matrix is not None
        members.append(Member(name, subject, fun, method_for, has_mass, holds_switches=switches == "auto"))
    arguments, slopes, parts = SharedArguments(), dict[Any, RecordedFunction](), []
    for member in members:
        problem = member.problem
        if member.outputs.size == 0:
            continue
        slope = slopes.get(member.key)
        if slope is None:
            slope = slopes[member.key] = RecordedFunction(
                function, problem.f, problem.times.t0, [problem.states], problem.args, all_numbers=True
            )
        recorded = member.record(slope)
        parts.append((recorded.operation, [place for x in recorded.parts for place in arguments.places(x)]))
    reporter = reporter_of(function, progress, 0.0, float(len(parts)), what="subjects ")
    many = ManyOperation(function, parts, whole(function, "threads", threads, least=0), reporter.host)
    recording, argument = joined(arguments.parts or [np.zeros(0)], list(slopes.values()))
    flat: Any = many.solve(argument) if recording is None else many.record(argument)
    results, begin = [], 0
    for member in members:
        end = begin + member.n * member.outputs.size + member.extra_outputs
        results.append(member.result(flat[begin:end], entry.name, (rtol, atol)))
        results[-1].message += note
        begin = end
    return results
