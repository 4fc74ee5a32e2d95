"""Random numbers of the distributions whose densities agrad has, by NumPy's generators."""
