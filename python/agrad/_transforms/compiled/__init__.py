"""Defines compiled functions, which record once and run programs afterwards."""
