"""The questions of a tuning guide, one study each, answered on the user's data: chunk shapes, codecs, workers, memory,
money, and where the time of a read goes. Each reads its source, measures within a budget, and gives a `Study`.
"""

from __future__ import annotations

from tessarray.tune.studies.chunk_shapes import chunks
from tessarray.tune.studies.codec_speed import codecs
from tessarray.tune.studies.memory_use import memory
from tessarray.tune.studies.model import Column, Study, Table
from tessarray.tune.studies.money import cost
from tessarray.tune.studies.stage_shares import where
from tessarray.tune.studies.worker_scaling import workers

__all__ = ["Column", "Study", "Table", "chunks", "codecs", "cost", "memory", "where", "workers"]
