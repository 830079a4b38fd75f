"""Looking things up in a pack: the number of a version by what people call it, and its catalogue by a query."""

from __future__ import annotations

import datetime
from typing import Any

from tessarray import moments
from tessarray._native import PackCore
from tessarray.errors import InvalidTypeError, MissingPackageError, NotFoundError

__all__ = ["VersionLike", "number_of", "query"]

VersionLike = int | str | datetime.datetime


def number_of(core: PackCore, version: VersionLike, where: str) -> int:
    """The number that a version, a tag or a moment stands for. where: the pack, for messages.

    Raises `NotFoundError` if there is none, `InvalidTypeError` for anything else.
    """
    if isinstance(version, bool) or not isinstance(version, int | str | datetime.datetime):
        raise InvalidTypeError(
            f"version: expected a number, a tag or a moment, found {type(version).__name__}"
        )
    if isinstance(version, int):
        return core.version(version).number
    if isinstance(version, datetime.datetime):
        return core.version_at(moments.text_of(version))
    tagged = core.tagged(version)
    if tagged is not None:
        return tagged
    number = moments.number_of(version)
    if number is not None:
        return core.version(number).number
    moment = moments.moment_of(version)
    if moment is not None:
        return core.version_at(moment)
    names = ", ".join(name for name, _ in core.tags()) or "none"
    raise NotFoundError(f"{where}: no tag {version!r} (there are: {names})", path=version)


def query(parquet: bytes, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Run a query over a table called `catalogue`: names of columns, and rows. Needs duckdb."""
    import tempfile

    try:
        import duckdb
    except ImportError as error:
        raise MissingPackageError("catalogue queries need duckdb: pip install duckdb") from error
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(parquet)
        file.flush()
        with duckdb.connect() as connection:
            connection.execute(
                "create temp view catalogue as select * from read_parquet(?)".replace(
                    "?", "'" + file.name.replace("'", "''") + "'"
                )
            )
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return names, cursor.fetchall()
