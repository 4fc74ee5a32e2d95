"""Loops and branches that are recorded once."""
