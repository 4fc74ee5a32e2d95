"""NumPy for recorded arrays: its functions, its protocols, and the methods of its arrays."""
