"""The questions of a tuning guide, one study each, answered on the user's data: chunk shapes, codecs, workers, memory.
Each reads its source, measures within a budget, and gives a `Study`.
"""

from __future__ import annotations

from tessarray.tuner.studies.chunk_shapes import chunks
from tessarray.tuner.studies.codec_speed import codecs
from tessarray.tuner.studies.memory_use import memory
from tessarray.tuner.studies.model import Column, Study, Table
from tessarray.tuner.studies.worker_scaling import workers

__all__ = ["Column", "Study", "Table", "chunks", "codecs", "memory", "workers"]
