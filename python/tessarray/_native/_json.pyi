"""Documents."""

from typing import Any

def parse_json(document: bytes) -> Any: ...
