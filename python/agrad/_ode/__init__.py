"""Differential equations: initial value problems, differential-algebraic ones, and steady states."""
