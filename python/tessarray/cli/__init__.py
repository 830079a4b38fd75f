"""The command line: `tessarray convert`, `info`, `tree`, `read`, `check`, `copy`, `demo`, `codecs`, `version`."""

from tessarray.cli.main import main

__all__ = ["main"]
