"""A system for `tessarray bench`, in one file: NumPy's own `.npy` format, uncompressed and mapped into memory.

    tessarray bench run planes --adapter examples/bench_adapter.py --systems npy,zarr-python --scale 0.01

Every verb is optional; what is left out is reported as not supported. The base class, `tessarray_bench.systems.base`,
says what each verb is given and must return.
"""

import numpy as np

from tessarray_bench.systems.base import System


class Npy(System):
    name = "npy"
    title = "NumPy .npy"
    modules = ("numpy",)
    environment = "own"  # the interpreter that runs the benchmark
    store = "store.npy"
    format = "npy"
    codecs = ("none",)
    sources = {  # noqa: RUF012 - setting -> the page that recommends it
        "memory map": "https://numpy.org/doc/stable/reference/generated/numpy.lib.format.open_memmap.html"
    }

    @classmethod
    def supports(cls, workload):
        if workload.kind == "array" and str(workload.layout.codec) != "none":
            return "compression"
        return None

    def start(self, workers):
        """Nothing to import: NumPy is there. A system with threads takes `workers` here (None: its default)."""

    def create(self, path, array):
        return np.lib.format.open_memmap(path, "w+", np.dtype(array.dtype), array.shape)

    def write(self, handle, values):
        handle[...] = values

    def finish(self, handle):
        handle.flush()

    def open(self, path):
        return np.load(path, mmap_mode="r")

    def read(self, handle, selection):
        return np.array(handle[selection])

    def read_points(self, handle, coordinates):
        return handle[coordinates]

    def facts(self, path):
        stored = np.load(path, mmap_mode="r")
        whole = list(stored.shape)
        return {"chunks": whole, "shards": None, "codec": "none", "checksum": None, "dtype": stored.dtype.str}
