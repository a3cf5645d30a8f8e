"""Parts of basic faults of vector and graph adapters."""

import uuid
from typing import Any


class OneStore(dict[str | None, Any]):
    """The data of all tenants, which is that of each."""

    def get(self, _tenant: str | None, default: Any = None) -> Any:
        return super().get(None, default)

    def setdefault(self, _tenant: str | None, default: Any = None) -> Any:
        return super().setdefault(None, default)

    def __getitem__(self, _tenant: str | None) -> Any:
        return super().__getitem__(None)

    def __setitem__(self, _tenant: str | None, value: Any) -> None:
        super().__setitem__(None, value)


def is_uuid(name: str) -> bool:
    """True if a text is a UUID."""
    try:
        return str(uuid.UUID(name)) == name.lower()
    except ValueError:
        return False


def uuid_for(name: str) -> str:
    """The UUID in place of an id."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
