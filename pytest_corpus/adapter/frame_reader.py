"""From the bytes of an answer to a frame: the one reader of all transports."""

import re

from pytest_corpus.adapter.exchange import Frame
from pytest_corpus.adapter.snapshot import NotJSON
from pytest_corpus.text.strict_json import NOT_PLAIN, Fault, read_exactly, read_plainly

_PERHAPS_INFINITE = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{309}")
"""What stands in any text whose value is not finite, and hardly in others."""


def read_frame(data: bytes, at_s: float) -> Frame:
    """The frame that came after `at_s` seconds, with the JSON value of its bytes and their number.

    Non-finite numbers and lone surrogates are kept, for requirements of their own to judge; an integer that no
    double holds counts as infinite.

    Raises:
        NotJSON: the bytes are not UTF-8 or not JSON, begin with a byte order mark, name a key twice in one object,
            or nest too deep (RFC 8259).
    """
    if (value := read_plainly(data)) is not NOT_PLAIN:
        return Frame(value, len(data), at_s, finite=True)
    value, flaw = read_exactly(data)
    if flaw is not None:
        fault = f"with {flaw.fault.value}" if flaw.fault is Fault.DUPLICATE_KEY else f"that {flaw.message}"
        raise NotJSON(f"an answer {fault}")
    return Frame(value, len(data), at_s, finite=_PERHAPS_INFINITE.search(data) is None)
