"""Defines constraining transforms: bijections between free numbers and values that satisfy a constraint."""
