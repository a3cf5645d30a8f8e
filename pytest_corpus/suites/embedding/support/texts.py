"""Texts of any length within the stated limits, and the models that embed them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import MOST_WORDS, Shared, find_limit
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.shared.claims.tokens import NO_STRINGS, ListedModels

SMALL = 160
"""If the limit is smaller, some texts of the suite may be too long."""

TELLING = 4
"""The smallest limit that allows enough different texts."""

LENGTHS, BATCHES = (1_000, 500, 250, 100, 50, 20), (24, 8, 4, 3, 2, 1)
"""Lengths of texts, and numbers of texts in a batch, to try where no limit is stated."""

MOST_LENGTH = 100_000
"""A longer text is not sent in a test of the limit."""

CHARACTERS_IN_A_TOKEN = 8
"""A text with this many characters for each token of a limit certainly exceeds the limit (R120)."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"

FILLER = "the river runs past stone and light in early spring when people walk home slowly from their work "
"""Ordinary words that fill a text up to a length."""

OTHER = "music bread winter paper horse garden bright summer coffee letters mountain window between never again "
"""Ordinary words, none of which occurs in `FILLER`."""

NO_MODELS: tuple[tuple[str, Any], ...] = (("model", 7), ("model", ["m"]), ("model", {"name": "m"}))
NO_BOOLEANS: tuple[Any, ...] = ("false", 7, [], {"a": 1})
FLAGS: tuple[tuple[str, Any], ...] = tuple((name, value) for name in ("truncate", "normalize") for value in NO_BOOLEANS)
"""Pairs of an option and a value of the wrong type."""

SCRIPTS = {
    "latin": "Gr\u00fc\u00dfe aus K\u00f6ln",
    "combining": "cafe\u0301 n\u0303andu\u0301",
    "cyrillic": "\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
    "hebrew_arabic": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "cjk": "\u6771\u4eac\u90fd \uc11c\uc6b8",
    "devanagari": "\u0928\u092e\u0938\u094d\u0924\u0947",
    "emoji": "ok \U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "astral": "x \U0001d11e \U00020000",
    "signs": ' a "quoted" \\ text, {"json": [1]} <b>&amp;</b> %s ',
    "lines": "one\ntwo\tthree",
    "upper_and_lower": "The Quick BROWN Fox",
}
"""Texts that every model must embed."""

_LETTERS = "20-7E E0-17F 300-30F 3B1-3C9 410-44F 5D0-5EA 627-64A 905-939 3041-3096 4E00-9FA5 AC00-D7A3 1F600-1F64F"
LETTERS = [(int(first, 16), int(last, 16)) for first, _, last in (each.partition("-") for each in _LETTERS.split())]
"""Ranges of letters, marks and signs in several scripts."""

UNRELATED = (
    "the cat sleeps on the warm window",
    "stock prices fell sharply in March",
    "add two eggs and stir the flour",
    "his train to the north was late",
)


@dataclass(slots=True)
class EmbeddingShared(Shared):
    """Data that all tests share: the default model, vectors, and the noise between embeddings of the same text.

    Attributes:
        length, batch: what trials found for limits that are not stated; 0 if they found no limit.
    """

    learnt = (*Shared.learnt, "noise", "length", "batch")

    model: str | None = None
    length: int | None = None
    batch: int | None = None
    vectors: dict[tuple[Any, ...], list[float]] = field(default_factory=dict)
    noise: float | None = None


class Texts(ListedModels):
    """Makes texts within the stated limits, and chooses the models of requests."""

    component = "embedding"
    principal = "embed"
    principal_stream = "stream_embed"
    wrong_type_requirement = "EMB-ARGS-1"
    unknown = "EMB-MODEL-2"

    shared: EmbeddingShared

    @property
    def limit(self) -> int | None:
        """The maximum number of characters in a text, as stated or as a trial finds it; None if there is none."""
        return self.capabilities.limit("max_text_length") or self.shared.find_once("length", self._find_length) or None

    def _find_length(self) -> int:
        def takes(size: int) -> bool:
            text = (FILLER * (size // len(FILLER) + 1))[:size].strip()
            args = {"text": text, "model": self.model, "truncate": False}
            return not self.call("embed", args).is_a(*PERMANENT)

        with self.client.provider.paused():
            return find_limit(LENGTHS, takes)

    def _find_batch(self) -> int:
        def takes(size: int) -> bool:
            texts = [self.cut_to_limit(f"{number} of them") for number in range(size)]
            return not self.call("embed_batch", {"texts": texts, "model": self.model}).is_a(*PERMANENT)

        with self.client.provider.paused():
            return find_limit(BATCHES, takes)

    @property
    def has_small_limit(self) -> bool:
        """True if an ordinary text may exceed the limit."""
        return self.limit is not None and self.limit < SMALL

    def cut_to_limit(self, text: str) -> str:
        """Return a text, or as much of its beginning as certainly fits the limit."""
        if self.limit is None or len(text.encode()) <= self.limit:
            return text
        cut = text.encode()[: self.limit].decode(errors="ignore")
        return cut.strip() or "a"

    def cap_batch_size(self, wanted: int) -> int:
        """Return this number of texts, or the maximum of a batch if it is smaller (SPECIFICATION 10.2, 16.2).

        If none is stated, a trial finds it.
        """
        stated = [*filter(None, map(self.capabilities.limit, ("max_batch_size", "max_batch_ops")))]
        if not stated and wanted > 1:
            stated = [self.shared.find_once("batch", self._find_batch) or wanted]
        return min([wanted, *stated])

    def can_take_text(self, text: str) -> bool:
        return self.limit is None or len(text.encode()) <= self.limit

    def require_fit(self, reply: Reply | StreamReply) -> None:
        if self.has_small_limit and reply.is_a("BadRequest"):
            raise NotApplicable(f"a max_text_length of {self.limit} may be too small for this request")

    def stated_limit(self) -> int:
        """Return the stated limit. Raises NotApplicable if no limit is stated, or if it is too large to test."""
        limit = expect.applicable(self.capabilities.limit("max_text_length"), "capabilities state no max_text_length")
        expect.applicable(limit <= MOST_LENGTH, f"a text of {limit} characters is too long for a test")
        return limit

    def require_new_texts(self) -> None:
        """Check that the limit allows enough different texts."""
        if self.limit is not None and self.limit < TELLING:
            raise NotApplicable(f"there are too few different texts of {self.limit} characters")

    # -- models --------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The model in plain requests: the first listed model, or a model named in health if none is listed (R13)."""
        return self.shared.find_once("model", self._find_model)

    def _find_model(self) -> str:
        if self.capabilities.models:
            return self.capabilities.models[0]
        default = self.capabilities.document.get("default_model")
        if isinstance(default, str) and default:
            return default
        with self.client.provider.paused():
            health = self.call("health", {}).result
        known = health.get("models") if isinstance(health, Mapping) else None
        names = [name for name in known if isinstance(name, str)] if isinstance(known, (Mapping, list)) else []
        return names[0] if names else "default"

    # -- texts -----------------------------------------------------------------------------------------

    def unique(self, prefix: str = "note") -> str:
        if not self.has_small_limit:
            return super().unique(prefix)
        return self.short_word(inputs.unique_ordinal(MOST_WORDS), min(self.limit or 12, 12))

    def short_word(self, number: int, length: int) -> str:
        """Return a word of this length. Within a run, each number has a different word."""
        start = int.from_bytes(hashlib.sha256(self.settings.run.encode()).digest()[:6], "big")
        value, letters = start + number * 7919, ""
        while len(letters) < length:
            value, rest = divmod(value, len(ALPHABET))
            letters += ALPHABET[rest]
        return letters

    def text_of(self, length: int, words: str = FILLER) -> str:
        """Return a new ASCII text of exactly this length, without blanks at its ends."""
        start = (
            f"{self.unique()} "
            if length > SMALL
            else self.short_word(inputs.unique_ordinal(MOST_WORDS), min(length, 12))
        )
        body = start + words * (max(0, length - len(start)) // len(words) + 1)
        return without_outer_blanks(body[:length])


def without_outer_blanks(text: str) -> str:
    """Return a text with a letter instead of a blank at either end."""
    return ("x" if text[:1].isspace() else text[:1]) + text[1:-1] + ("x" if text[-1:].isspace() else text[1:][-1:])
