"""Log densities of named parameters: functions of a vector of free numbers, with what samplers and optimizers ask of them.

declared.py has the parameters in the order of their declaration, joint.py the functions that are compiled, and log_density.py
the object.
"""
