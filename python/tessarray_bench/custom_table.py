"""The tables of a workload file: read from TOML or YAML, and checked as they are taken apart."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SUFFIXES_YAML = (".yaml", ".yml")


class CustomError(ValueError):
    """A workload file that cannot be used: `file`, `key` (where in it), what was `expected`, what was `found`."""

    def __init__(self, file: str, key: str, expected: str, found: str, hint: str = "") -> None:
        super().__init__(
            f"{file}: {key}: expected {expected}, found {found}" + (f" ({hint})" if hint else "")
        )
        self.file, self.key, self.expected, self.found = file, key, expected, found


class Table:
    """A table of the file, and where in it that is; what is taken from it is checked."""

    def __init__(self, file: str, where: str, given: Any) -> None:
        self.file, self.where = file, where
        if not isinstance(given, dict):
            raise CustomError(file, where or "the file", "a table of keys and values", shown(given))
        self.given: dict[str, Any] = given

    def __contains__(self, key: str) -> bool:
        return key in self.given

    def wrong(self, key: str, expected: str, hint: str = "") -> CustomError:
        """The error for a key: where it stands, what was expected, what was found."""
        found = shown(self.given[key]) if key in self.given else "nothing"
        return CustomError(self.file, self.at(key), expected, found, hint)

    def at(self, key: str) -> str:
        """Where a key stands in the file: `query.map.count`."""
        return f"{self.where}.{key}" if self.where else key

    def only(self, known: Sequence[str]) -> None:
        """Raises CustomError for a key that is not known, with the one that may have been meant."""
        for key in self.given:
            if key not in known:
                raise CustomError(
                    self.file, self.at(str(key)), f"one of {', '.join(known)}", repr(key), meant(key, known)
                )

    def table(self, key: str) -> Table:
        """The table under a key. Raises CustomError."""
        if key not in self.given:
            raise self.wrong(key, "a table of keys and values")
        return Table(self.file, self.at(key), self.given[key])

    def text(self, key: str, default: str | None = None) -> str:
        """The text under a key, not empty. Raises CustomError."""
        found = self.given.get(key, default)
        if not isinstance(found, str) or not found.strip():
            raise self.wrong(key, "a text")
        return found

    def label(self, key: str, default: str | None = None) -> str:
        """A text that can be part of a workload's name."""
        found = self.text(key, default)
        if "/" in found or any(c.isspace() for c in found):
            raise CustomError(self.file, self.at(key), "a name without spaces and slashes", repr(found))
        return found

    def word(self, key: str, known: Sequence[str], default: str | None = None) -> str:
        """The text under a key, one of some. Raises CustomError."""
        found = self.given.get(key, default)
        if found not in known:
            raise self.wrong(key, f"one of {', '.join(known)}", meant(found, known))
        return str(found)

    def number(self, key: str, default: int | None = None, least: int = 1) -> int:
        """The whole number under a key, of `least` or more. Raises CustomError."""
        found = self.given.get(key, default)
        if isinstance(found, bool) or not isinstance(found, int) or found < least:
            raise self.wrong(key, f"a whole number of {least} or more")
        return found

    def lengths(self, key: str, like: Sequence[int] | None = None) -> tuple[int, ...]:
        """A length for each axis; with `like`, as many as that has, and none longer."""
        found = self.given.get(key)
        whole = isinstance(found, list) and bool(found)
        if not whole or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in found or ()):
            raise self.wrong(key, "a list of whole numbers of 1 or more, one for each axis")
        assert found is not None
        if like is not None and len(found) != len(like):
            raise self.wrong(key, f"{len(like)} lengths, as the shape {list(like)} has")
        if like is not None and any(n > extent for n, extent in zip(found, like, strict=True)):
            raise self.wrong(key, f"lengths of at most the shape's, {list(like)}")
        return tuple(found)


def meant(found: Any, known: Sequence[str]) -> str:
    """A question that names the likeliest of the known words, where one is near."""
    near = difflib.get_close_matches(str(found), known, 1)
    return f"did you mean {near[0]!r}?" if near else ""


def shown(value: Any) -> str:
    """A value as the file has it, cut to 80 letters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def parse(path: Path) -> Any:
    """The values of a TOML or YAML file. Raises CustomError."""
    if path.suffix in SUFFIXES_YAML:
        try:
            import yaml  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            hint = "write it as .toml, or `pip install pyyaml`"
            raise CustomError(str(path), "the file", "PyYAML, to read YAML", "no such module", hint) from None
        broken: type[Exception] = yaml.YAMLError
        read = yaml.safe_load
    else:
        broken, read = tomllib.TOMLDecodeError, tomllib.loads
    try:
        return read(path.read_text(encoding="utf-8"))
    except (broken, UnicodeDecodeError) as problem:
        kind = "YAML" if path.suffix in SUFFIXES_YAML else "TOML"
        raise CustomError(str(path), "the file", kind, " ".join(str(problem).split())) from None
    except OSError as problem:
        raise CustomError(str(path), "the file", "a file that can be read", str(problem.strerror)) from None
