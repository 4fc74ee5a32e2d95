"""Defines transformations: functions that make functions of functions."""
