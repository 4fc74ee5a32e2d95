"""Differential-algebraic equations: `solve_dae`, by IDA (`dae_solve`) and by one-step methods (`dae_steps`)."""
