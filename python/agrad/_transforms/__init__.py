"""Transformations: functions that are made of functions."""
