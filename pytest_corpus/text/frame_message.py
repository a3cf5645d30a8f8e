"""Encodes and decodes the message of `proto/corpus/v1/adapter.proto`: ``message Frame { bytes json = 1; }``.

The message is small, so it needs no generated code and no protobuf library.
"""

_JSON = b"\x0a"  # the tag of field 1, wire type 2 (length-delimited)


def pack(json: bytes) -> bytes:
    """Encode a JSON document as a message."""
    return _JSON + _encode_varint(len(json)) + json


def unpack(message: bytes) -> bytes:
    """Return the JSON document in a message. Unknown fields are skipped; of repeated fields the last one counts.

    Raises:
        ValueError: the bytes are not a protobuf message.
    """
    found, at = b"", 0
    while at < len(message):
        tag, at = _decode_varint(message, at)
        kind = tag & 7
        if kind == 2:
            length, at = _decode_varint(message, at)
            if at + length > len(message):
                raise ValueError("a field is cut off")
            if tag >> 3 == 1:
                found = message[at : at + length]
            at += length
        elif kind == 0:
            _, at = _decode_varint(message, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("a field of an unknown type")
    if at != len(message):
        raise ValueError("a field is cut off")
    return found


def _encode_varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*parts, number))


def _decode_varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        number |= (data[at] & 0x7F) << shift
        at += 1
        if not data[at - 1] & 0x80:
            return number, at
    raise ValueError("a number is cut off")
