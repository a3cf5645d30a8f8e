"""The root causes of the embedding component, besides the common ones."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.root_causes import Feature, RootCauses
from pytest_corpus.suites.embedding.support.component import Embedding
from pytest_corpus.text.values import strings_of

EMOJI = "a \N{GRINNING FACE}"
LAST_BASIC = "\uffff"
"""The last character of Unicode's basic plane."""


class EmbeddingRootCauses(RootCauses[Embedding]):
    """The common root causes, and one more: a failure of a plain emoji explains failures of texts with emoji."""

    def features(self) -> Iterator[Feature]:
        yield from super().features()
        yield Feature("EMB-EMBED-4", _has_emoji, self._embed_emoji)

    def _embed_emoji(self) -> Reply:
        return self.subject.embed_once(self.subject.cut_to_limit(EMOJI))


def _has_emoji(request: Mapping[str, Any]) -> bool:
    return any(max(text, default="") > LAST_BASIC for text in strings_of(request.get("args")))


ROOT_CAUSES = EmbeddingRootCauses
