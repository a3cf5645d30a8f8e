"""Vectors from hashes of a text's tokens, instead of an embedding model."""

import hashlib
import math
from collections.abc import Sequence

from pytest_corpus.reference.language import Language

Vector = list[float]


class FeatureSpace(Language):
    """Maps texts to vectors. Texts that share tokens are close; all vectors differ, and none is zero."""

    def features_of(self, text: str) -> list[str]:
        """Return the tokens of a text, and the whole text."""
        return [*(token.strip() for token in self.split(text)), f"text:{text}"]

    def sum_of_features(self, text: str, model: str, dimensions: int) -> Vector:
        """Return the sum of the directions of all features; its length is not 1."""
        directions = [self.direction(feature, model, dimensions) for feature in self.features_of(text)]
        return [math.fsum(components) for components in zip(*directions, strict=True)]

    def direction(self, feature: str, model: str, dimensions: int) -> Vector:
        """Return pseudo-random components between -1 and 1, which differ for each model."""
        content = f"{model}\0{feature}".encode("utf-8", "surrogatepass")
        return [(byte - 127.5) / 127.5 for byte in hashlib.shake_128(content).digest(dimensions)]


def unit_vector(vector: Sequence[float]) -> Vector:
    """Return the vector with the same direction and length 1."""
    length = math.hypot(*vector)
    return [component / length for component in vector]
