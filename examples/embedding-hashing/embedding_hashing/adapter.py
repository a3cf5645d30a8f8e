"""The adapter for scikit-learn: its name."""

from corpus_wire.embedding import EmbeddingAdapter


class Adapter(EmbeddingAdapter):
    """An exception of scikit-learn would be a mistake of the adapter, and is `Unavailable`."""

    server = "embedding-hashing"
