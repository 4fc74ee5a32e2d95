"""Defines NumPy for recorded arrays: NumPy's functions, protocols, and methods of arrays."""
