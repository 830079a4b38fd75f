"""A fair, verified, reproducible benchmark of array stores. Tessarray is one system among others here.

Only the adapter `systems/tessarray.py` imports `tessarray`, in the process that measures it, as the other adapters
import theirs; what shows results knows `tessarray.display` besides, which says how figures and pages look. The parts
that run in a system's own environment (`model`, `data`, `systems`, `worker`) need NumPy and the standard library alone.
"""
