"""Solves differential equations: initial value problems, differential-algebraic equations, and steady states."""
