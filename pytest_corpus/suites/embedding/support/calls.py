"""Calls that embed texts, and the vectors in their answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.embedding.support.answers import embedded_by, vector_of, without_vector
from pytest_corpus.suites.embedding.support.requests import EmbeddingRequests
from pytest_corpus.suites.embedding.support.texts import Texts


class EmbeddingCalls(Texts):
    """Embeds texts: anew, or once a run for tests that look at the answer alone."""

    requests_type = EmbeddingRequests
    requests: EmbeddingRequests

    def embed(self, text: str, **changed: Any) -> Reply:
        """Embed a text with some arguments changed."""
        return self.call("embed", self.requests.with_text("embed", text, **changed))

    def batch(self, texts: list[str], **changed: Any) -> Reply:
        """Embed a batch of texts with some arguments changed."""
        return self.call("embed_batch", {**self.requests.minimal("embed_batch"), "texts": texts, **changed})

    def streamed(self, text: str, **changed: Any) -> StreamReply:
        """Stream the embedding of a text with some arguments changed."""
        return self.stream("stream_embed", self.requests.with_text("stream_embed", text, **changed))

    def ask(self, name: str, text: str, **changed: Any) -> Reply | StreamReply:
        """Embed one text by any operation that embeds."""
        return self.invoke(name, self.requests.with_text(name, text, **changed))

    @remembered
    def known(self, name: str, text: str, **changed: Any) -> Reply | StreamReply:
        """The answer to a request for one text, asked once a run: for a test that looks at the answer alone."""
        return self.ask(name, text, **changed)

    def known_model(self, name: str, model: str) -> Reply | StreamReply:
        return self.known(name, self.fit("hi"), model=model)

    def known_embed(self, text: str, **changed: Any) -> Reply:
        """The answer of `embed` to a text, asked once a run."""
        reply = self.known("embed", text, **changed)
        assert isinstance(reply, Reply)
        return reply

    def known_stream(self, text: str, **changed: Any) -> StreamReply:
        """The stream for a text, asked for once a run."""
        stream = self.known("stream_embed", text, **changed)
        assert isinstance(stream, StreamReply)
        return stream

    @remembered
    def known_batch(self, texts: list[str], **changed: Any) -> Reply:
        """The answer to a batch, asked once a run: for a test that looks at the answer alone."""
        return self.batch(texts, **changed)

    def embedding(self, reply: Reply | StreamReply) -> Mapping[str, Any]:
        """The first embedding of an answer; empty if there is none."""
        return next(iter(embedded_by(reply)), {})

    def vector(self, name: str, text: str, **changed: Any) -> list[float]:
        """The vector that an operation gives to a text now. Raises Undecided if it gives none (`vector_in`)."""
        return self.vector_in(self.ask(name, text, **changed), name, text, **changed)

    def known_vector(self, name: str, text: str, **changed: Any) -> list[float]:
        """The vector that an operation gives to a text, asked once a run."""
        return self.vector_in(self.known(name, text, **changed), name, text, **changed)

    def vector_in(self, reply: Reply | StreamReply, name: str, text: str, **changed: Any) -> list[float]:
        """The vector in an answer. Raises Undecided if it has none, which may be another requirement's finding."""
        found = vector_of(self.embedding(reply))
        if found is None:
            raise without_vector(self, name, text, reply, changed)
        return found

    def own_vectors(self, texts: Sequence[str], **changed: Any) -> dict[str, list[float]]:
        """The vector that each text gets in a batch of its own, of an instance that was not asked before."""
        keys = {text: (text, *sorted(changed.items())) for text in texts}
        missing = [text for text, key in keys.items() if key not in self.shared.vectors]
        other = self.fresh() if missing else self
        with self.client.provider.paused():
            for text in missing:
                with inputs.apart(f"embedding vector {keys[text]}"):
                    self.shared.vectors[keys[text]] = other.vector("embed_batch", text, **changed)
        return {text: self.shared.vectors[key] for text, key in keys.items()}
