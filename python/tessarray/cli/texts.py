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
  tessarray convert cast-1.nc fleet.pack/cast-1      into a pack, as one transaction
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

EXPLAIN = """Say why reading a selection takes as long as it does, and what would make it faster.

Reads it a few times and copies what it touches into memory. The store is never changed.

\b
Examples:
  tessarray explain cube.zarr:t2m '[:, 10, 20]'
  tessarray explain cube.zarr/t2m '[0]' --json
  tessarray explain cube.zarr:t2m --limit 1GiB    the whole array, as far as that goes
"""

TUNE = """Find the chunks, shards, codec and workers that suit an array and how it is read: by measuring.

\b
  tessarray tune SRC --access 'map: [t, :, :] x 0.5' --access 'series: [:, y, x] x 0.5'
  tessarray tune SRC --help         every option, with examples
  tessarray tune rerun layout.json  does the proposal still stand?

The studies below measure one question each on your data.
"""

TUNE_RUN = """Measure layouts of an array for the way it is read, and propose one. The source is only read.

\b
A query class is a selection with a weight, the share of calls that are like it:
  a name       one random index:     [t, :, :]    a map at a random time
  :            the whole axis:       [:, y, x]    the series of a random point
  :n           a run of n anywhere:  [:30, :64, :64]
  a:b, 7       fixed places
  time=t       by dimension names, where the array has them: [time=t, lat=:30]
Weights add up to 1.

\b
Examples:
  tessarray tune era5.nc:t2m --access 'map: [t, :, :] x 0.5' --access 'series: [:, y, x] x 0.5'
  tessarray tune cube.zarr --access '[t, :, :]' --objective size --max-files 1000 --budget 5min
  tessarray tune cube.zarr --log reads.jsonl --store 's3-like(ttfb=30ms,bw=200MB/s)'
  tessarray tune scan.npy --access '[:16, :, :]' --append-axis 0:16 --apply scan.zarr --report scan.html
"""

TUNE_RERUN = """Ask again what a layout file was the answer to, and say whether its proposal still stands.

\b
Examples:
  tessarray tune rerun layout.json
  tessarray tune rerun layout.json --source newer.nc:t2m --budget 2min --seed 1
"""

CHECK = """Look for damage in a store. Exit code 1 if something is found.

\b
Examples:
  tessarray check cube.zarr
  tessarray check cube.zarr --deep --json
  tessarray check cube.zarr --missing           arrays of which chunks are not stored, too
  tessarray check cube.zarr --repair            what would be removed
  tessarray check cube.zarr --repair --apply    remove it
"""

COPY = """Copy a store or a pack byte by byte, between folders and zips.

\b
Examples:
  tessarray copy cube.zarr cube.zarr.zip
  tessarray copy cube.zarr.zip cube2.zarr
  tessarray copy fleet.pack backup.pack         while others write to it, too
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

PACK = """Packs: the history of one, and looking after it.

\b
  tessarray pack versions fleet.pack              what was committed
  tessarray pack diff fleet.pack 3 7              what changed
  tessarray pack export fleet.pack plain.zarr     as plain Zarr
"""

PACK_VERSIONS = """List the versions: number, time, author, tags, nodes created, changed and deleted, message.

\b
Example:
  tessarray pack versions fleet.pack --json
"""

PACK_DIFF = """List the arrays and groups that differ between two versions.

\b
Examples:
  tessarray pack diff fleet.pack 3
  tessarray pack diff fleet.pack release-1 2026-11-21T14:00
"""

PACK_TAG = """Name a version. Tagged versions are not expired.

\b
Examples:
  tessarray pack tag fleet.pack release-1
  tessarray pack tag fleet.pack release-1 --delete
"""

PACK_ROLLBACK = """Make a new version with the content of an earlier one. Nothing is removed.

\b
Example:
  tessarray pack rollback fleet.pack 3
"""

PACK_COMPACT = """Store everything anew, each variable in one run, as a new version.

\b
Example:
  tessarray pack compact fleet.pack
"""

PACK_EXPIRE = """Remove old versions, and the files that only they needed.

Tagged versions stay, and all that began within the retention: it must be longer than any reader holds a version.

\b
Examples:
  tessarray pack expire fleet.pack --keep 10 --dry-run
  tessarray pack expire fleet.pack --retention 7d
"""

PACK_CHECK = """Look for damage in a pack. Exit code 1 if something is found.

\b
Example:
  tessarray pack check fleet.pack --deep
"""

PACK_REPAIR = """Make a version without what is damaged, so that the rest can be used.

\b
Examples:
  tessarray pack repair fleet.pack            what would be lost
  tessarray pack repair fleet.pack --apply    do it
"""

PACK_EXPORT = """Copy a version to a plain Zarr store, without decoding anything.

\b
Examples:
  tessarray pack export fleet.pack plain.zarr
  tessarray pack export fleet.pack one.zarr.zip --version release-1 --path cast-1
"""

PACK_CATALOGUE = """Query the catalogue with SQL (needs duckdb), or write it as one Parquet file.

\b
Examples:
  tessarray pack catalogue fleet.pack --sql "select node, dtype, shape from catalogue where kind = 'array'"
  tessarray pack catalogue fleet.pack --out catalogue.parquet
"""

PACK_CATALOGUE_SQL = (
    """select node, kind, dtype, shape, codecs from catalogue where kind is not null order by node"""
)
