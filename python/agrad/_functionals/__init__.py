"""Functions of functions: integrals, roots, minima, marginal likelihoods and sums by parts, with derivatives.

The search for a root, a mode or a partition of an interval is a recorded loop on values that carry no derivatives. What
follows the search is recorded as a short formula whose derivatives are those of the exact answer (``implicit``), so every
transformation applies, and a compiled function searches again in each run without Python. Read first: ``root``.
"""
