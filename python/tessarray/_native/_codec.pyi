"""Codecs from texts."""

from typing import Any

def codecs_from_text(text: str) -> list[dict[str, Any]]: ...
