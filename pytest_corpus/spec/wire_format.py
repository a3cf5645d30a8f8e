"""A frame as bytes: its greatest size, and the byte order mark, which it must not have."""

from typing import Final

MAX_FRAME_BYTES: Final = 1_048_576
"""The most that one frame may measure as UTF-8 JSON (SPECIFICATION 4.2.3.4)."""

BOM: Final = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which may not stand before JSON (RFC 8259 8.1)."""
