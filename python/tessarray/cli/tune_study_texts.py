"""The help texts of the studies. `\\b` keeps the lines of a paragraph apart."""

CHUNKS = """Measure what a chunk shape costs each way of reading.

A ladder of shapes with one codec: the array's own, what other libraries choose, a slab, a column, cubes, shards. For
each query: chunks touched, bytes fetched for a byte used, requests, time measured and predicted. The source is only
read; what is written goes to scratch space and is removed.

\b
Examples:
  tessarray tune chunks cube.nc:t2m
  tessarray tune chunks cube.nc:t2m --access 'map: [t, :, :] x 0.5' --access 'series: [:, y, x] x 0.5'
  tessarray tune chunks cube.zarr --store 's3-like(ttfb=30ms,bw=200MB/s)' --budget 2min --plot chunks.png
"""

CODECS = """Measure codecs, levels and shuffles on blocks of the array: ratio, and speed each way.

On one thread, in memory; intervals are over the blocks. Also the entropy.

\b
Examples:
  tessarray tune codecs cube.nc:t2m
  tessarray tune codecs cube.nc:t2m --readers zarr-python,tensorstore --plot codecs.svg
  tessarray tune codecs cube.zarr --codec zstd:3 --codec blosc:lz4:5:shuffle --codec pcodec:8 --json
"""

WORKERS = """Measure how reads and writes go faster with more workers, and when one is enough.

Reading all, slices and writing with 1, 2, 4 ... workers; then selections of more and more chunks with one and with all.

\b
Examples:
  tessarray tune workers cube.zarr:t2m
  tessarray tune workers cube.nc:t2m --layout layout.json --threads 16
  tessarray tune workers cube.zarr --access 'map: [t, :, :]' --plot workers.png
"""

MEMORY = """Measure the peak memory of reading, writing and changing, above the values, in new processes.

Against workers and sizes of chunks and shards; with a formula to plan with.

\b
Examples:
  tessarray tune memory cube.nc:t2m
  tessarray tune memory cube.nc:t2m --layout layout.json --threads 8
  tessarray tune memory cube.zarr --codec blosc:lz4:5:shuffle --plot memory.png
"""

HELP = {"chunks": CHUNKS, "codecs": CODECS, "workers": WORKERS, "memory": MEMORY}
