"""What the engine has opened."""

from typing import final

from tessarray._native._session import Session
from tessarray._native._store import Store

@final
class Node:
    """An array or a group that the engine has opened."""

    @property
    def is_array(self) -> bool: ...
    @property
    def path(self) -> str: ...
    @property
    def options(self) -> tuple[bool, bool, bool]:
        """Whether every read verifies, empty chunks are stored, missing chunks are read."""
    def configured(self, options: tuple[bool, bool, bool]) -> Node: ...

def open_node(store: Store, path: str, kind: str | None = None, session: Session | None = None) -> Node: ...
