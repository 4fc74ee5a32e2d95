"""Defines loops and branches that are recorded once."""
