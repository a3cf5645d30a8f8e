"""The codes of what is wrong with a message, and their texts (SCHEMA 11.2)."""

VALIDATION_ERROR_CODES = {
    "type": "Value must be of type {expected_type}",
    "required": "Missing required field: {field}",
    "additionalProperties": "Additional properties not allowed: {property}",
    "pattern": "Value must match pattern: {pattern}",
    "enum": "Value must be one of: {choices}",
    "minimum": "Value must be at least {minimum}",
    "maximum": "Value must be at most {maximum}",
    "minLength": "Value must have at least {min_length} characters",
    "maxLength": "Value must have at most {max_length} characters",
    "format": "Value must be a valid {format}",
}
"""Of each schema rule that has a text of its own: the text, with the place of what the rule asks for."""

PROTOCOL_ERROR_CODES = {
    "ENVELOPE_SHAPE": "Protocol envelope missing required fields",
    "ENVELOPE_TYPE": "Protocol envelope must be a JSON object",
    "CTX_VALIDATION": "Operation context validation failed",
    "ARGS_VALIDATION": "Operation arguments validation failed",
    "SERIALIZATION": "JSON serialization/deserialization failed",
    "STREAM_TERMINATION": "Stream missing or has multiple terminal frames",
    "STREAM_ENVELOPE": "Stream frame missing protocol envelope fields",
    "VERSION_MISMATCH": "Schema version not supported",
}
"""Errors of a message as a whole; `WireValidationError.code` and most `FrameError.code` are of them."""

STREAM_ERROR_CODES = {
    "FRAME_UTF8": "SERIALIZATION",
    "FRAME_JSON": "SERIALIZATION",
    "DUPLICATE_KEY": "SERIALIZATION",
    "FRAME_DEPTH": "SERIALIZATION",
    "FRAME_SIZE": "SERIALIZATION",
    "UNFINISHED_EVENT": "SERIALIZATION",
    "FRAME_TYPE": "ENVELOPE_TYPE",
    "FRAMING": "STREAM_ENVELOPE",
    "FRAME_SHAPE": "STREAM_ENVELOPE",
    "FRAME_OK": "STREAM_ENVELOPE",
    "FRAME_CODE": "STREAM_ENVELOPE",
    "FRAME_MS": "STREAM_ENVELOPE",
    "ERROR_ENVELOPE": "STREAM_ENVELOPE",
    "NO_TERMINAL": "STREAM_TERMINATION",
    "AFTER_TERMINAL": "STREAM_TERMINATION",
}
"""Of each defect of a stream its code. What stands in a chunk (`CHUNK_SCHEMA`) is no matter of the protocol, has none
there, and goes by its own name."""
