"""The help texts of `tessarray collection`, with examples."""

COLLECTION = """Collections: thousands of datasets in one pack, built from files and read across.

\b
  tessarray collection build 'data/**/*.nc' fleet.pack
  tessarray collection schema fleet.pack                     what the datasets have in common
  tessarray collection where fleet.pack 'TEMP.max > 30'      which of them, without reading values
  tessarray collection read fleet.pack TEMP '[:, :10]'       a slice of all of them

History and care are those of any pack: tessarray pack --help.
"""

BUILD = """Make a collection of files, or add to one. Each file becomes a dataset.

netCDF-3 and netCDF-4, HDF5, Zarr, and what else convert reads. Files may differ in variables, shapes and types. A build
that was interrupted goes on with --incremental. A dataset is named by its file's path below the folder or pattern that
is given: data/01/cast.nc is 01-cast.

\b
Examples:
  tessarray collection build 'data/**/*.nc' fleet.pack --on-error skip
  tessarray collection build data/ fleet.pack --include TEMP --include PRES --codec zstd:3
  tessarray collection build 'data/**/*.nc' fleet.pack --incremental
  tessarray collection build data/2024-01/ fleet.pack --incremental --root data
"""

LS = """List the datasets.

\b
Examples:
  tessarray collection ls fleet.pack
  tessarray collection ls fleet.pack --where 'TEMP.max > 30' --json
"""

SHOW = """Show a dataset: variables, shapes, types and attributes.

\b
Example:
  tessarray collection show fleet.pack D2901746_211
"""

SCHEMA = """Say which variables there are, in how many datasets, and where the datasets differ.

\b
Example:
  tessarray collection schema fleet.pack
"""

STATS = """List minimum, maximum, mean and counts of variables, dataset by dataset, or in all.

\b
Examples:
  tessarray collection stats fleet.pack
  tessarray collection stats fleet.pack TEMP --each
"""

READ = """Read a variable of many datasets: summarise it, print it, or write it to a .npz file.

Packed values are unpacked, and fill values are NaN, unless --raw asks for the stored ones.

\b
Examples:
  tessarray collection read fleet.pack TEMP
  tessarray collection read fleet.pack TEMP '[0, :10]' --name D2901746_211 --values
  tessarray collection read fleet.pack TEMP --where 'TEMP.max > 30' --out temp.npz
"""

ADD = """Add files to a collection, each as a dataset of the file's name. What is there already is not added again.

\b
Example:
  tessarray collection add fleet.pack new-1.nc new-2.nc
"""

REMOVE = """Remove datasets, in one transaction.

\b
Example:
  tessarray collection remove fleet.pack D2901746_211
"""

WHERE = """List the datasets for which a condition holds, by attributes and statistics: no values are read.

\b
Examples:
  tessarray collection where fleet.pack "TEMP.max > 30 and PLATFORM_NUMBER == '13857'"
  tessarray collection where fleet.pack '`wind/u`.mean < 0 or not title in ["a", "b"]'
"""

EXPORT = """Write a dataset to a file: netCDF-4 where DST ends in .nc, else Zarr (.zip too).

\b
Examples:
  tessarray collection export fleet.pack D2901746_211 cast.nc
  tessarray collection export fleet.pack D2901746_211 cast.zarr
"""
