"""Solves differential equations: initial value problems and steady states.

Each public function checks and converts its arguments once, to a posed problem, and all that follows only reads the problem.
Between `solve_ivp` and its first step:

1. `states` converts a state of another structure to a vector, and functions of the state to functions of the vector.
2. `problem.posed_problem` checks fun, y0 and args (by `_record.arguments`, as all checks).
3. `method_table` finds the entry of the method, `scipy.algebra_of` converts the linear algebra, and `methods` checks the
   choices that depend on the method.
4. `events` checks doses, events and stops: the interruptions.
5. `times` checks t_span and t_eval; `backwards` turns functions and interruptions where time decreases.
6. `options` checks tolerances and step sizes, from which `methods` creates the core's method.
7. `initial_value` solves the posed problem; `repeats`, `progress` and `backwards` handle equal times, reports and s = -t.
8. `recorded_solve` records fun (`record`), creates the core's operation, and solves at once or records the operation; so does
   `event_solve` where there are interruptions, or where fun compares t with numbers.

The other public functions go the same way: `short_functions` and `adjoint` (ode_*), `steady_state`, and in rooms of their own
`_dae` and `_many`. `dense` solves a posed problem at other times, `explain` logs a recorded solve again.
"""
