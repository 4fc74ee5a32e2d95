"""Compiled functions: recorded once, and run again as programs."""
