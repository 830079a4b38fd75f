"""Ranking layouts by the cost model: thousands of shapes by a rough count, the best with every sharding and codec."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tessarray.tuner.costs import CostModel
from tessarray.tuner.expected import expected_chunks
from tessarray.tuner.layout import Layout
from tessarray.tuner.layout_space import LARGEST_CHUNK, LayoutSpace
from tessarray.tuner.leaderboard import Leaderboard
from tessarray.tuner.objectives import score_of
from tessarray.tuner.trial import Ground

__all__ = ["Ranked", "Ranking", "designs"]

Ranked = list[Layout]  # the best by the model first

SHAPES_KEPT = 80  # of thousands, by the rough count
SHARDINGS_KEPT = 3  # of a shape, that are looked at with every codec
DESIGNS = 10  # layouts that the model is fitted to
CERTAIN = 4  # layouts with a codec that break the size limit, from which on the codec is given up
PREDICTED_DRAWS = 2  # selections of each class that a prediction is the mean of
CHUNK_SECONDS = 6e-6  # of handling a chunk, before anything is measured
BYTE_SECONDS = 2e-10  # of moving a byte


class Ranking:
    """Predicts scores of layouts for one array, objective and target."""

    def __init__(self, model: CostModel, space: LayoutSpace, ground: Ground, board: Leaderboard) -> None:
        self.model, self.space, self.ground, self.board = model, space, ground, board

    def ranked(self, shapes: Sequence[tuple[int, ...]], most: int = SHAPES_KEPT) -> Ranked:
        """Layouts with the best `most` of these chunks, and with chunks that are what a class selects; best first.

        Every sharding of a shape is looked at with one codec, the best of them with the others too.
        """
        kept = dict.fromkeys([*self.selected(), *sorted(shapes, key=self.rough)[:most]])
        first, *others = self.space.codecs
        scores: dict[Layout, float] = {}
        for chunks in kept:
            plain = {one: self.score(one) for one in self.space.variants(chunks, [first])}
            best = sorted(plain, key=plain.__getitem__)[:SHARDINGS_KEPT]
            coded = [replace(one, codec=codec) for one in best for codec in others]
            scores |= plain | {one: self.score(one) for one in coded}
        return sorted(scores, key=scores.__getitem__)

    def selected(self) -> list[tuple[int, ...]]:
        """Chunks that are exactly what a class selects, if such a chunk is not too large."""
        size = self.ground.dtype.itemsize
        extents = dict.fromkeys(one.extents for one in self.ground.classes)
        return [
            one for one in extents if math.prod(one) * size <= LARGEST_CHUNK and self.space.fits_ladder(one)
        ]

    def score(self, layout: Layout) -> float:
        """What the objective would make of a layout, by the model and the probed codec; infinite if it is too large.

        Once layouts with the codec were stored, their best ratio counts, not that of the probe's blocks; once several
        were, all of them too large, other shapes are taken to be so too.
        """
        figures = self.model.figures(layout)
        seconds = self.model.weighted(self.ground.classes, self.ground.boxes, layout, PREDICTED_DRAWS)
        measured = self.board.ratios(layout.codec)
        ratio = max(measured, default=figures.ratio)
        stored = math.prod(self.ground.shape) * self.ground.dtype.itemsize / ratio
        if len(measured) >= CERTAIN and self.board.too_large(stored):
            return math.inf
        return score_of(self.board.objective, seconds, stored, figures.encode)

    def rough(self, chunks: tuple[int, ...]) -> float:
        """Seconds of an access by expected chunks alone: cheap enough for thousands of shapes."""
        target, threads = self.model.target, self.model.threads
        figures = self.model.codecs[self.space.codecs[0]]
        nbytes = math.prod(chunks) * self.ground.dtype.itemsize
        cost = nbytes / figures.decode + nbytes / figures.ratio * BYTE_SECONDS + CHUNK_SECONDS
        total = 0.0
        for one in self.ground.classes:
            count = expected_chunks(one.extents, self.ground.shape, chunks)
            seconds = count * cost / min(threads, max(count, 1))
            if target.remote:
                # Shards join neighbours, so a row of chunks is about one request.
                rows = count ** (1 - 1 / max(len(chunks), 1))
                seconds += count * nbytes / figures.ratio / target.bandwidth
                seconds += math.ceil(rows / target.concurrency) * target.first_byte
            total += one.weight * seconds
        return total


def designs(ranked: Ranked) -> list[Layout]:
    """Layouts to fit the model on: from the best to poor ones, so that both ends are known; one without shards."""
    if not ranked:
        return []
    places = np.unique((np.linspace(0, 1, DESIGNS) ** 2 * (len(ranked) - 1)).astype(int))
    plain = next((layout for layout in ranked if layout.shards is None), ranked[0])
    return list(dict.fromkeys([ranked[0], plain, *(ranked[int(place)] for place in places)]))
