"""Reports on streams: the defects, the end, and how much was checked."""

from dataclasses import dataclass
from typing import Final, Literal

from pytest_corpus.spec.errors import STREAM_ERROR_CODES

Terminal = Literal["success", "error"]


class ErrorType:
    """The types of defects of a stream; `FrameError.error_type` is one of these."""

    # Bytes that are not JSON. The frame counts and may end the stream, but is not looked at any further.
    FRAME_UTF8: Final = "FRAME_UTF8"
    FRAME_JSON: Final = "FRAME_JSON"  # syntax, an empty payload, NaN, a lone surrogate, a byte order mark
    DUPLICATE_KEY: Final = "DUPLICATE_KEY"
    FRAME_DEPTH: Final = "FRAME_DEPTH"
    FRAME_SIZE: Final = "FRAME_SIZE"
    UNFINISHED_EVENT: Final = "UNFINISHED_EVENT"  # server-sent events that end before the blank line

    # The frame and its parts.
    FRAME_TYPE: Final = "FRAME_TYPE"  # a frame that is not a JSON object
    FRAMING: Final = "FRAMING"  # an overlay frame where canonical was expected, or the reverse
    FRAME_SHAPE: Final = "FRAME_SHAPE"  # a missing chunk, or keys that do not belong
    FRAME_OK: Final = "FRAME_OK"
    FRAME_CODE: Final = "FRAME_CODE"
    FRAME_MS: Final = "FRAME_MS"
    CHUNK_SCHEMA: Final = "CHUNK_SCHEMA"
    ERROR_ENVELOPE: Final = "ERROR_ENVELOPE"

    # The stream.
    NO_TERMINAL: Final = "NO_TERMINAL"
    AFTER_TERMINAL: Final = "AFTER_TERMINAL"


@dataclass(frozen=True, slots=True)
class FrameError:
    """One defect: in frame `frame_number` (from 1; 0 is the stream), at `path` as in `Problem.path`."""

    frame_number: int
    error_type: str
    message: str
    path: str = ""

    @property
    def code(self) -> str:
        """The one of `PROTOCOL_ERROR_CODES` that says the same (SCHEMA 11.2); `CHUNK_SCHEMA` where none does."""
        return STREAM_ERROR_CODES.get(self.error_type, self.error_type)

    def __str__(self) -> str:
        where = f"frame {self.frame_number}" if self.frame_number else "the stream"
        return f"{where}: {self.error_type}: {f'{self.path} ' if self.path else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class StreamReport:
    """The result of the validation of a stream.

    Attributes:
        total_frames: all frames, those after the terminal included.
        frames_validated: the frames whose content was held to its schema. In the modes STRICT and
            COLLECT_ERRORS that is every frame up to the terminal, itself included.
        validation_errors: the defects, in the order of the frames.
        terminal: how the stream ended; None where no frame ended it.
        errors_omitted: how many defects there were beyond those that a report holds.
    """

    total_frames: int
    frames_validated: int
    validation_errors: tuple[FrameError, ...]
    terminal: Terminal | None
    errors_omitted: int = 0

    @property
    def is_valid(self) -> bool:
        """True if the stream has no defect. A stream that ends with a proper error envelope is valid."""
        return not self.validation_errors

    @property
    def error_summary(self) -> str:
        """All defects, a line each; empty for a valid stream."""
        lines = [str(error) for error in self.validation_errors]
        if self.errors_omitted:
            lines.append(f"and {self.errors_omitted} more")
        return "\n".join(lines)
