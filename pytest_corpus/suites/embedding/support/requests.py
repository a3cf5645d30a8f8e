"""Valid and invalid requests of the embedding component, and calls that embed texts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered_by_all
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Request, Requests, canary, deadline_in
from pytest_corpus.suites.embedding.support.answers import (
    all_embeddings_of,
    embeddings_of,
    reason_for_missing_vector,
    vector_of,
)
from pytest_corpus.suites.embedding.support.texts import CHARACTERS_IN_A_TOKEN, FILLER, MOST_LENGTH, Texts

OPERATIONS = ("embed", "embed_batch", "stream_embed")
"""The operations that embed."""


class EmbeddingRequests(Requests):
    """Requests of the embedding component, with texts within the stated limits."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def minimal(self, name: str) -> dict[str, Any]:
        if name not in (*OPERATIONS, "count_tokens"):
            return {}
        text = self._texts.cut_to_limit("hi")
        return {**({"texts": [text]} if name == "embed_batch" else {"text": text}), "model": self._texts.model}

    def with_text(self, name: str, text: str, **changed: Any) -> dict[str, Any]:
        """Return the arguments of an operation for this text."""
        key = {"texts": [text]} if name == "embed_batch" else {"text": text}
        return {**self.minimal(name), **key, **changed}

    def distinct(self, name: str) -> dict[str, Any]:
        return self.with_text(name, self._texts.unique()) if "model" in self.minimal(name) else self.minimal(name)

    def long(self, name: str) -> dict[str, Any]:
        if "model" not in self.minimal(name) or self._texts.has_small_limit:
            return self.distinct(name)
        return self.with_text(name, f"{self._texts.unique()} {self._texts.cut_to_limit(FILLER)}"[: self._texts.limit])

    def wrong_types(self, name: str) -> dict[str, Any]:
        if name in ("embed", "stream_embed", "count_tokens"):
            return {**self.minimal(name), "text": 7}
        return {**self.minimal(name), "texts": "hi"} if name == "embed_batch" else {}

    def with_number(self, number: float) -> list[Request]:
        found = [Request(op, {**self.minimal(op), "text": number}) for op in ("embed", "stream_embed", "count_tokens")]
        return found + [
            Request(op, self.minimal(op), {"deadline_ms": number}) for op in self._texts.deadline_operations()
        ]

    def with_integer(self, number: int) -> list[Request]:
        raise NotApplicable(f"no operation takes a whole number such as {number}")

    def with_items(self, count: int) -> list[Request]:
        texts = [self._texts.unique() for _ in range(self._texts.cap_batch_size(count))]
        return [Request("embed_batch", {**self.minimal("embed_batch"), "texts": texts})]

    def distinct_requests(self) -> list[dict[str, Any]]:
        self._texts.require("embed")
        many = max(2, min(6, self._texts.capabilities.limit("concurrency") or 6))
        texts = [self._texts.unique() for _ in range(many)]
        requests = [self._texts.envelope("embed", self.with_text("embed", text)) for text in texts]
        if many >= 4 and self._texts.works("embed_batch"):
            half = self._texts.envelope(
                "embed_batch", {**self.minimal("embed_batch"), "texts": texts[: self._texts.cap_batch_size(2)]}
            )
            requests[-1] = half
        if len(self._texts.capabilities.models) > 1:
            requests[0]["args"]["model"] = self._texts.capabilities.models[-1]
        if self._texts.capabilities.flag("supports_normalization") is True:
            requests[1]["args"]["normalize"] = True
        return requests

    def fingerprint(self, reply: Reply) -> Any:
        result = expect.success(reply, "the answer that the same request gets when sent alone")
        found = [vector_of(each) for each in embeddings_of(result)]
        return tuple(tuple(vector or ()) for vector in found)

    def with_canaries(self, *, refused: bool) -> list[Request]:
        text = canary()
        found = self._invalid_requests(text) if refused else self._valid_requests(text)
        return [Request(op, args, ctx, {"content": text}) for op, args, ctx in found]

    def _valid_requests(self, text: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Yield valid requests that contain the text."""
        for op in (*OPERATIONS, "count_tokens"):
            yield op, self.with_text(op, text), {}
        if self._texts.capabilities.flag("supports_normalization") is True:
            for op in OPERATIONS:
                yield op, self.with_text(op, text, normalize=True), {}
        if self._texts.cap_batch_size(3) == 3:
            yield "embed_batch", {**self.minimal("embed_batch"), "texts": ["a", text, text]}, {}

    def _invalid_requests(self, text: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Yield invalid requests that contain the text."""
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
                yield op, self.adapt_arguments(op, args), {}
        for op in (*OPERATIONS, "count_tokens"):
            yield op, self.with_text(op, text), {"deadline_ms": deadline_in(-60_000)}
        yield "count_tokens", {**self.minimal("count_tokens"), "text": [text]}, {}
        yield "embed_batch", {**batch, "texts": text}, {}
        most = self._texts.cap_batch_size(MOST_LENGTH)
        if most < 1_000:
            yield "embed_batch", {**batch, "texts": [text] * (most + 1)}, {}

    def adapt_arguments(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """Convert arguments of `embed` to the arguments of any operation that embeds."""
        if name == "embed_batch":
            args = {("texts" if key == "text" else key): [args[key]] if key == "text" else args[key] for key in args}
        return {**self.minimal(name), **args}


class EmbeddingCalls(Texts):
    """Embeds texts. The methods with `once` make a call once in a run, for tests that only read the answer."""

    requests: EmbeddingRequests

    def embed(self, text: str, **changed: Any) -> Reply:
        """Embed a text with some arguments changed."""
        return self.call("embed", self.requests.with_text("embed", text, **changed))

    def batch(self, texts: list[str], **changed: Any) -> Reply:
        """Embed a batch of texts with some arguments changed."""
        return self.call("embed_batch", {**self.requests.minimal("embed_batch"), "texts": texts, **changed})

    def stream_text(self, text: str, **changed: Any) -> StreamReply:
        """Stream the embedding of a text with some arguments changed."""
        return self.stream("stream_embed", self.requests.with_text("stream_embed", text, **changed))

    def ask(self, name: str, text: str, **changed: Any) -> Reply | StreamReply:
        """Embed one text with `embed`, `embed_batch` or `stream_embed`."""
        return self.invoke(name, self.requests.with_text(name, text, **changed))

    @remembered_by_all
    def ask_once(self, name: str, text: str, **changed: Any) -> Reply | StreamReply:
        """Embed one text with `embed`, `embed_batch` or `stream_embed`, once in a run."""
        return self.ask(name, text, **changed)

    def ask_model_once(self, name: str, model: str) -> Reply | StreamReply:
        return self.ask_once(name, self.cut_to_limit("hi"), model=model)

    def embed_once(self, text: str, **changed: Any) -> Reply:
        """Embed a text with `embed`, once a run."""
        reply = self.ask_once("embed", text, **changed)
        assert isinstance(reply, Reply)
        return reply

    def stream_once(self, text: str, **changed: Any) -> StreamReply:
        """Stream the embedding of a text, once a run."""
        stream = self.ask_once("stream_embed", text, **changed)
        assert isinstance(stream, StreamReply)
        return stream

    @remembered_by_all
    def batch_once(self, texts: list[str], **changed: Any) -> Reply:
        """Embed a batch, once a run."""
        return self.batch(texts, **changed)

    def embedding(self, reply: Reply | StreamReply) -> Mapping[str, Any]:
        """Return the first embedding of an answer; empty if the answer has no embedding."""
        return next(iter(all_embeddings_of(reply)), {})

    def vector(self, name: str, text: str, **changed: Any) -> list[float]:
        """Send a new request to embed a text and return the vector. Raises Undecided if the answer has no vector."""
        return self.vector_in(self.ask(name, text, **changed), name, text, **changed)

    def vector_once(self, name: str, text: str, **changed: Any) -> list[float]:
        """Embed a text once a run and return its vector."""
        return self.vector_in(self.ask_once(name, text, **changed), name, text, **changed)

    def vector_in(self, reply: Reply | StreamReply, name: str, text: str, **changed: Any) -> list[float]:
        """Return the vector in an answer. Raises Undecided if it has no vector; another requirement may report this."""
        found = vector_of(self.embedding(reply))
        if found is None:
            raise reason_for_missing_vector(self, name, text, reply, changed)
        return found

    def embed_one_by_one(self, texts: Sequence[str], **changed: Any) -> dict[str, list[float]]:
        """Embed each text in its own batch, on a new instance; return the vectors by text."""
        keys = {text: (text, *sorted(changed.items())) for text in texts}
        missing = [text for text, key in keys.items() if key not in self.shared.vectors]
        other = self.fresh() if missing else self
        with self.client.provider.paused():
            for text in missing:
                with inputs.fact_scope(f"embedding vector {keys[text]}"):
                    self.shared.vectors[keys[text]] = other.vector("embed_batch", text, **changed)
        return {text: self.shared.vectors[key] for text, key in keys.items()}
