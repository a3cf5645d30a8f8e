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

_STREAM_ERRORS = {
    "SERIALIZATION": "FRAME_UTF8 FRAME_JSON DUPLICATE_KEY FRAME_DEPTH FRAME_SIZE UNFINISHED_EVENT",
    "ENVELOPE_TYPE": "FRAME_TYPE",
    "STREAM_ENVELOPE": "FRAMING FRAME_SHAPE FRAME_OK FRAME_CODE FRAME_MS ERROR_ENVELOPE",
    "STREAM_TERMINATION": "NO_TERMINAL AFTER_TERMINAL",
}

STREAM_ERROR_CODES = {defect: code for code, defects in _STREAM_ERRORS.items() for defect in defects.split()}
"""The code of each defect of a stream. A defect in a chunk (`CHUNK_SCHEMA`) has none, for the protocol does not define
one, and goes by its own name."""
