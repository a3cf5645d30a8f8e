"""The providers that a bundle runs with (R78)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.bundles.loading.bundle import Bundle, ProviderChoice


@dataclass(frozen=True)
class SelectedProvider:
    """A provider, and of corpus the label of the adapter."""

    choice: ProviderChoice
    adapter: str = ""


def choose(bundle: Bundle, asked: Sequence[str], adapters: Sequence[str]) -> list[SelectedProvider]:
    """The providers of a bundle: those that were asked for, else the one of its file, else the adapters under test.

    Args:
        asked: ``NAME`` or ``NAME:MODEL``.
        adapters: the labels of the LLM adapters under test.

    Raises:
        BundleError: there is none.
    """
    if asked:
        choices = [_of_option(bundle, each) for each in dict.fromkeys(asked)]
    elif bundle.provider is not None:
        choices = [bundle.provider]
    elif adapters:
        choices = [ProviderChoice("corpus")]
    else:
        said = "no provider is named; add 'provider', or declare an LLM adapter with --corpus-adapter=module:factory"
        raise BundleError(Problem(bundle.file, said))
    found: list[SelectedProvider] = []
    for choice in choices:
        if choice.name == "corpus" and adapters:
            found += [SelectedProvider(choice, label) for label in adapters]
        else:
            found.append(SelectedProvider(choice))
    return found


def _of_option(bundle: Bundle, asked: str) -> ProviderChoice:
    """A choice of the command line; how to ask stays as the file has it."""
    name, _, model = asked.partition(":")
    own = bundle.provider or ProviderChoice(name)
    if own.name == name:
        return replace(own, model=model or own.model)
    return replace(own, name=name, model=model or None, base_url=None)
