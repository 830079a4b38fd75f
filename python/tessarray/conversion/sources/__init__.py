"""Sources: one file a format. `open_source` finds the one that fits."""

from tessarray.conversion.sources.detect import open_source

__all__ = ["open_source"]
