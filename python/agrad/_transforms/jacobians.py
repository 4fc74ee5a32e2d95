"""Jacobians by a mode of the caller's choice: columns by tangents (forward), rows by adjoints (reverse)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad._core import Array, Program, Recording
from agrad._record.nested import Part
from agrad._transforms.base import Arguments, Jacobian, check_tangents
from agrad._transforms.parameters import ArgNums, Parameters

__all__ = ["jacfwd", "jacrev"]


class ForwardJacobian(Jacobian):
    """See :func:`jacfwd`."""

    name = "jacfwd"

    def of_part(self, part: Part, output: Array, parameters: Parameters, aux: Any) -> Any:
        return self.finish(part.columns(output), parameters, aux)

    def of_recording(self, recording: Recording, output: Array, inputs: list[Array], parameters: Parameters, aux: Any) -> Any:
        program = recording.program(output)
        return self.of_run(program, parameters.leaves, slice(None), parameters, aux)

    def of_program(self, program: Program, inputs: list[Any], wanted: Any, parameters: Parameters) -> Any:
        check_tangents(self.name, program, "use jacrev", order=1)
        result = program.jacobian_products(inputs, np.eye(program.input_size)[wanted])
        return None if result is None else result[1].T


class ReverseJacobian(Jacobian):
    """See :func:`jacrev`."""

    name = "jacrev"

    def of_part(self, part: Part, output: Array, parameters: Parameters, aux: Any) -> Any:
        return self.finish(part.rows(output), parameters, aux)

    def of_program(self, program: Program, inputs: list[Any], wanted: Any, parameters: Parameters) -> Any:
        result = program.adjoint_products(inputs, np.eye(program.output_size))
        return None if result is None else result[1][:, wanted]


def jacfwd(function: Callable[Arguments, Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[Arguments, Any]:
    """Make a function that returns the Jacobian of `function` by forward mode: one run carries eight columns.

    Parameters
    ----------
    function : callable
        Returns an array, a list that is made into one by :func:`agrad.array`, or a nested structure of arrays.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new one returns ``(jacobian, aux)``.

    Returns
    -------
    callable
        As :func:`jacobian`, which chooses the mode itself.

    Raises
    ------
    NotImplementedError
        (When called) an operation has no tangents, as a :func:`custom_vjp`.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.jacfwd(lambda x: [x**2, x**3, np.exp(0.0 * x)])(2.0)
    array([ 4., 12.,  0.])
    """
    return ForwardJacobian(function, argnums, has_aux=has_aux)


def jacrev(function: Callable[Arguments, Any], argnums: ArgNums = 0, *, has_aux: bool = False) -> Callable[Arguments, Any]:
    """Make a function that returns the Jacobian of `function` by reverse mode: one run forward, one sweep back a row.

    Parameters
    ----------
    function : callable
        Returns an array, a list that is made into one by :func:`agrad.array`, or a nested structure of arrays.
    argnums : int or sequence of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        The function returns ``(value, aux)``; the new one returns ``(jacobian, aux)``.

    Returns
    -------
    callable
        As :func:`jacobian`, which chooses the mode itself.

    Examples
    --------
    >>> import numpy as np, agrad as ag
    >>> ag.jacrev(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return ReverseJacobian(function, argnums, has_aux=has_aux)
