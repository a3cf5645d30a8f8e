"""Models by name, for any component that lists them."""

from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.shared.claims.tokens import Counting


class ListedModels(Counting):
    """A component whose capabilities may list models."""

    def unknown_model(self) -> str:
        """A name that is surely not listed.

        Raises:
            NotApplicable: capabilities list no models.
        """
        self.models()
        return f"no-such-model-{canary()}"

    def unknown_models(self) -> tuple[str, ...]:
        """Names that are surely not listed: a strange one, and one that begins like a listed one.

        Raises:
            NotApplicable: capabilities list no models.
        """
        return self.unknown_model(), f"{self.models()[0]}-{canary()}"
