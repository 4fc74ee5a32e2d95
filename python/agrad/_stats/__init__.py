"""Distributions in SciPy's terms, made from the table of densities, distribution functions and quantiles.

``families`` reads the table: which distributions there are, and how SciPy's parameters become the arguments of the rules.
``distributions`` makes SciPy's methods of it. ``agrad.stats`` has a distribution for each family.
"""
