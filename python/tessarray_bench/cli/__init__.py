"""The commands of `tessarray bench`."""
