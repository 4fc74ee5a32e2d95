"""Many problems with one right-hand side: `solve_many`, with a `member` for each problem."""
