"""Defines linearize, which returns a function's value and its derivative at a point as a function of directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agrad._record.recording import innermost
from agrad._record.structure import Outputs
from agrad._record.trees import split
from agrad._transforms.compiled.paths import Path
from agrad._transforms.engine import PartEngine, ProgramEngine
from agrad._transforms.products import Inside, Recorded, check_for, is_recorded, parameters_of

__all__ = ["linearize"]


def linearize(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of a function, and a function that multiplies the Jacobian at this point by vectors, in forward mode.

    Parameters
    ----------
    function : callable
        Takes the primals as positional arguments; returns numbers and arrays in any nested structure. A compiled function
        runs its recorded program.
    *primals : floating-point numbers, arrays, nested structures of them
        The arguments at which to differentiate; all are parameters.
    has_aux : bool
        The function returns ``(value, aux)``; aux is returned as plain values, or recorded ones inside of a
        recorded function.

    Returns
    -------
    tuple
        ``(value, pushforward)`` or ``(value, pushforward, aux)``. ``pushforward(*tangents)`` takes a tangent for each primal
        and returns the directional derivative, of the structure of the value. Unlike :func:`jvp`, calls of the pushforward do
        not call the function again.

    Raises
    ------
    ShapeError, TypeError, NotImplementedError
        As :func:`jvp`.

    Notes
    -----
    The pushforward is the derivative at the primals and no approximation of the function: at other primals linearize again. It
    does not store the values of the operations; each call runs the recorded program with a tangent, values included.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, 2nd edition, chapter 3.

    Examples
    --------
    >>> import agrad as ag
    >>> value, pushforward = ag.linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> value, pushforward(1.0, 0.0), pushforward(0.0, 1.0)
    (6.0, 3.0, 2.0)
    """
    around = innermost()
    parameters = parameters_of("linearize", function, primals, has_aux, around)

    def direction(tangents: tuple[Any, ...]) -> Any:
        if len(tangents) != len(primals):
            raise TypeError(
                f"linearize: number of tangents is {len(tangents)}, but must be {len(primals)}, one for each primal"
            )
        return parameters.direction("linearize", "tangents", tangents)

    aux = None
    if around is not None:
        inside = Inside("linearize", function, primals, parameters, around)
        recorded, aux = inside.outputs(has_aux)

        def within(*tangents: Any) -> Any:
            _, flat = PartEngine(inside.part, recorded.joined).value_and_jvp(direction(tangents))
            return inside.together(recorded, flat)

        value = inside.together(recorded, recorded.joined)
        return (value, within, aux) if has_aux else (value, within)

    leaves = [leaf.copy() for leaf in parameters.leaves]  # the caller may write into the arrays later
    outputs: Outputs | Path
    check = check_for("linearize")
    if is_recorded(function):
        path, flat = function.run(primals, lambda program: ProgramEngine(program, leaves, check).value())
        outputs, value, program = path, path.together(split(flat, path.shapes)), path.program
    else:
        here = Recorded("linearize", function, primals, parameters, has_aux)
        outputs, value, aux = here.outputs, here.value(), here.aux
        program = here.engine.program().program
    engine = ProgramEngine(program, leaves, check)
    engine.check(1)

    def pushforward(*tangents: Any) -> Any:
        _, flat = engine.value_and_jvp(direction(tangents))
        return outputs.together(split(flat, outputs.shapes))

    return (value, pushforward, aux) if has_aux else (value, pushforward)
