"""The frames of a stream that are held to their schemas where not all of them are."""

from __future__ import annotations


class Samples:
    """The numbers of the frames that are sampled: at even distances, the first among them."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.following = 1
        self._distance = min(1 / rate, 1e18) if rate else 0
        self._taken = 0

    def copy(self) -> Samples:
        other = Samples(self.rate)
        other.__dict__.update(self.__dict__)
        return other

    def until(self, number: int) -> list[int]:
        """The samples from here up to a frame, which stay to be taken."""
        found: list[int] = []
        following, taken = self.following, self._taken
        while self.rate and following <= number:
            found.append(following)
            taken += 1
            following = int(taken * self._distance) + 1
        return found

    def pass_by(self, number: int) -> None:
        """Move on to the first sample after a frame."""
        while self.rate and self.following <= number:
            self._taken += 1
            self.following = int(self._taken * self._distance) + 1
