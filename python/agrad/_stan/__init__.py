"""Functions in Stan's spelling, made from the rows of the compiled part or without another room: see `agrad.stan`."""
