"""Looking for damage."""

from typing import TypedDict

from tessarray._native._session import Session
from tessarray._native._store import Store

class FindingFields(TypedDict):
    kind: str
    key: str
    chunk: tuple[int, ...] | None
    message: str

def check_store(
    store: Store, path: str, deep: bool, session: Session | None = None
) -> list[FindingFields]: ...
def repair_store(
    store: Store, path: str, deep: bool, session: Session | None = None
) -> list[FindingFields]: ...
