"""The adapter for Sentence Transformers: its name."""

from corpus_wire.embedding import EmbeddingAdapter


class Adapter(EmbeddingAdapter):
    """An exception of the model would be a mistake of the adapter or a lack of memory, and is `Unavailable`."""

    server = "embedding-sentence-transformers"
