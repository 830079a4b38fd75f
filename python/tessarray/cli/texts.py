"""The help texts, with examples. `\\b` keeps the lines of a paragraph apart."""

APP = """Store, slice and append N-dimensional arrays.

\b
  tessarray demo                                  the main job, with pictures
  tessarray convert cube.nc cube.zarr --verify    a file into a store
  tessarray read cube.zarr:t2m '[0, :, 10:20]'    a slice of it

Every command has --help. --debug shows the trace of an error.
"""

CONVERT = """Copy a file into a store (or a store into netCDF-4), block by block.

Nothing is at DST until the copy is whole. After Ctrl-C or a crash, --resume goes on.

\b
Examples:
  tessarray convert cube.nc cube.zarr --verify
  tessarray convert cube.nc cube.zarr.zip --codec zstd:5 --memory 512MiB
  tessarray convert cube.nc cube.zarr --chunks time=24,lat=64,lon=64 --shards time=240,lat=-1,lon=-1
  tessarray convert scan.tif scan.zarr --chunks 1,256,256 --shards none
  tessarray convert cube.zarr back.nc --include 't*'
"""

INFO = """Say what a store or one array of it is: shape, type, layout, codecs, size.

\b
Examples:
  tessarray info cube.zarr
  tessarray info cube.zarr:t2m --json
"""

TREE = """List the groups and arrays of a store.

\b
Example:
  tessarray tree cube.zarr
"""

READ = """Read a selection: print it, write it to a file, or summarise it.

Selections are NumPy's: numbers, slices (negative steps too), lists, '...'.

\b
Examples:
  tessarray read cube.zarr:t2m '[0, :, 10:20]'
  tessarray read cube.zarr/t2m '[..., ::-1]' --out flipped.npy
  tessarray read cube.zarr:t2m '[[0, 5, 9], 3]' --json
  tessarray read cube.zarr:t2m --stats
"""

CHECK = """Look for damage in a store. Exit code 1 if something is found.

\b
Examples:
  tessarray check cube.zarr
  tessarray check cube.zarr --deep --json
  tessarray check cube.zarr --repair            what would be removed
  tessarray check cube.zarr --repair --apply    remove it
"""

COPY = """Copy a store byte by byte, between folders and zips.

\b
Examples:
  tessarray copy cube.zarr cube.zarr.zip
  tessarray copy cube.zarr.zip cube2.zarr
"""

DEMO = """The main job on your file, or on a weather-like cube it makes: convert, verify, slice, compare, draw.

\b
Examples:
  tessarray demo
  tessarray demo my-file.nc --out demo-output
"""

CODECS = """List the codecs, with the short form that --codec takes.

\b
Example:
  tessarray codecs --json
"""

VERSION = """Print the version of Tessarray and of what it was built with.

\b
Example:
  tessarray version --json
"""
