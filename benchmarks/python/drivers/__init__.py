"""One module a system.

Each has

- `LIBRARY`, what the cases' functions need of it, and `VERSIONS`;
- `variants(case)`: the pairs (variant, form) in which it can take a case;
- `gradient(function, point, variant)`: a callable without arguments that returns value and gradient, from the NumPy array
  `point` to a NumPy array;
- `product(function, point, vector, variant)` and `hessian(function, point, variant)`: the same for the Hessian, for the
  variants in `SECOND_ORDER`;
- `RECORDING`, the variant that records at each call, and `COMPILING`, the one that records once, or None;
- `LONGEST_LOOP`, the operations of the longest loop that it can record within minutes.
"""
