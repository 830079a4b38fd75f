"""A fair, verified, reproducible benchmark of array stores. Tessarray is one system among others here.

This package never imports `tessarray`; only the adapter `systems/tessarray.py` does, in the process that measures it,
as the other adapters import theirs. The parts that run in a system's own environment (`model`, `data`, `systems`,
`worker`) need NumPy and the standard library alone.
"""
