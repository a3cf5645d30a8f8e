"""Good and bad requests of the embedding component."""

from collections.abc import Iterator
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.requests import Request, Requests, canary, in_ms
from pytest_corpus.suites.embedding.support.answers import embeddings_of, vector_of
from pytest_corpus.suites.embedding.support.texts import CHARACTERS_IN_A_TOKEN, FILLER, MOST_LENGTH, Texts

OPERATIONS = ("embed", "embed_batch", "stream_embed")
"""The operations that embed."""


class EmbeddingRequests(Requests):
    """Requests of the embedding component. Texts are kept within the stated limits."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def minimal(self, name: str) -> dict[str, Any]:
        if name not in (*OPERATIONS, "count_tokens"):
            return {}
        text = self._texts.fit("hi")
        return {**({"texts": [text]} if name == "embed_batch" else {"text": text}), "model": self._texts.model}

    def with_text(self, name: str, text: str, **changed: Any) -> dict[str, Any]:
        """The arguments of an operation for this text."""
        key = {"texts": [text]} if name == "embed_batch" else {"text": text}
        return {**self.minimal(name), **key, **changed}

    def distinct(self, name: str) -> dict[str, Any]:
        return self.with_text(name, self._texts.unique()) if "model" in self.minimal(name) else self.minimal(name)

    def long(self, name: str) -> dict[str, Any]:
        if "model" not in self.minimal(name) or self._texts.small:
            return self.distinct(name)
        return self.with_text(name, f"{self._texts.unique()} {self._texts.fit(FILLER)}"[: self._texts.limit])

    def wrong_types(self, name: str) -> dict[str, Any]:
        if name in ("embed", "stream_embed", "count_tokens"):
            return {**self.minimal(name), "text": 7}
        return {**self.minimal(name), "texts": "hi"} if name == "embed_batch" else {}

    def with_number(self, number: float) -> list[Request]:
        found = [Request(op, {**self.minimal(op), "text": number}) for op in ("embed", "stream_embed", "count_tokens")]
        return found + [Request(op, self.minimal(op), {"deadline_ms": number}) for op in self._texts.deadlined()]

    def with_integer(self, number: int) -> list[Request]:
        raise NotApplicable(f"no operation takes a whole number such as {number}")

    def with_items(self, count: int) -> list[Request]:
        texts = [self._texts.unique() for _ in range(self._texts.room(count))]
        return [Request("embed_batch", {**self.minimal("embed_batch"), "texts": texts})]

    def distinguishable(self) -> list[dict[str, Any]]:
        self._texts.require("embed")
        many = max(2, min(8, self._texts.capabilities.limit("concurrency") or 8))
        texts = [self._texts.unique() for _ in range(many)]
        requests = [self._texts.envelope("embed", self.with_text("embed", text)) for text in texts]
        if many >= 4 and self._texts.works("embed_batch"):
            half = self._texts.envelope(
                "embed_batch", {**self.minimal("embed_batch"), "texts": texts[: self._texts.room(2)]}
            )
            requests[-1] = half
        if len(self._texts.capabilities.models) > 1:
            requests[0]["args"]["model"] = self._texts.capabilities.models[-1]
        return requests

    def fingerprint(self, reply: Reply) -> Any:
        result = expect.success(reply, "the answer that the request gets alone")
        found = [vector_of(each) for each in embeddings_of(result)]
        return tuple(tuple(vector or ()) for vector in found)

    def with_canaries(self, *, refused: bool) -> list[Request]:
        text = canary()
        found = self._refused(text) if refused else self._good(text)
        return [Request(op, args, ctx, {"content": text}) for op, args, ctx in found]

    def _good(self, text: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Valid requests with a text in them."""
        for op in (*OPERATIONS, "count_tokens"):
            yield op, self.with_text(op, text), {}
        if self._texts.capabilities.flag("supports_normalization") is True:
            for op in OPERATIONS:
                yield op, self.with_text(op, text, normalize=True), {}
        if self._texts.room(3) == 3:
            yield "embed_batch", {**self.minimal("embed_batch"), "texts": ["a", text, text]}, {}

    def _refused(self, text: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Requests that are wrong in some way, each with a text in it."""
        batch, limit = self.minimal("embed_batch"), self._texts.limit
        wrong: list[dict[str, Any]] = [{"text": [text]}, {"text": {text: 1}}, {"text": text, "model": [text]}]
        wrong += [{"text": text, "truncate": text}, {"text": text, "normalize": {"a": text}}]
        if self._texts.capabilities.models:
            wrong.append({"text": text, "model": self._texts.unknown_model()})
        if limit is not None and limit <= MOST_LENGTH:
            length = limit * CHARACTERS_IN_A_TOKEN if limit * CHARACTERS_IN_A_TOKEN <= MOST_LENGTH else limit
            wrong.append({"text": f"{text} {FILLER * (length // len(FILLER) + 1)}", "truncate": False})
        for op in OPERATIONS:
            for args in wrong:
                yield op, self.batched(op, args), {}
        for op in (*OPERATIONS, "count_tokens"):
            yield op, self.with_text(op, text), {"deadline_ms": in_ms(-60_000)}
        yield "count_tokens", {**self.minimal("count_tokens"), "text": [text]}, {}
        yield "embed_batch", {**batch, "texts": text}, {}
        most = self._texts.capabilities.limit("max_batch_size") or MOST_LENGTH
        if most < 1_000:
            yield "embed_batch", {**batch, "texts": [text] * (most + 1)}, {}

    def batched(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments of an operation that embeds, given those of `embed`."""
        if name == "embed_batch":
            args = {("texts" if key == "text" else key): [args[key]] if key == "text" else args[key] for key in args}
        return {**self.minimal(name), **args}
