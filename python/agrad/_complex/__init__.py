"""Defines complex recorded arrays, which are pairs of real ones, and NumPy's Fourier transforms.

``array`` has the class; ``ufuncs``, ``functions`` and ``fourier`` have what NumPy computes of such arrays, in tables;
``protocol`` attaches the tables to the class, and to operators of real arrays with complex operands.
"""
