"""A tokenizer, and pseudo-random words that a seed determines, instead of a model."""

import re
from collections.abc import Sequence
from random import Random


class Language:
    """Splits text into tokens, counts and cuts them, and generates text. Equal inputs give equal results."""

    token = re.compile(r" ?\S{1,8}|\s")
    """Matches one token. A prefix of a token is a token too, so a longer text never has fewer tokens."""
    vocabulary = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "lagoon")
    words_in_reply = 24

    def split(self, text: str) -> list[str]:
        """Return the tokens of a text; joined, they give the text again."""
        tokens: list[str] = self.token.findall(text)
        return tokens

    def token_count(self, text: str) -> int:
        return len(self.split(text))

    def draft(self, seed: str) -> str:
        """Return the complete text of the model for a seed, before it is cut."""
        return " ".join(Random(seed).choices(self.vocabulary, k=self.words_in_reply))

    def cut_at_stop(self, text: str, stop_sequences: Sequence[str]) -> str:
        """Return the text before its first stop sequence."""
        return text[: min([len(text), *(text.index(stop) for stop in stop_sequences if stop in text)])]
