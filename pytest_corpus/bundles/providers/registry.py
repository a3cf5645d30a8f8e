"""The providers by name. To add a provider, write a module and add a line here."""

from collections.abc import Callable, Mapping
from importlib import import_module

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.bundles.errors import BundleError, BundleProblem, suggestion
from pytest_corpus.bundles.loading.bundle import ProviderChoice
from pytest_corpus.bundles.providers.corpus import CorpusProvider
from pytest_corpus.bundles.providers.hook import Complete, HookProvider
from pytest_corpus.bundles.providers.mock import MockProvider
from pytest_corpus.bundles.providers.protocol import BundleProvider

CLIENTS = {"openai": "OpenAIProvider", "anthropic": "AnthropicProvider"}
"""The providers with an official client: module and class."""

BUILT_IN = ("corpus", "openai", "anthropic", "mock")


def provider_names(hooks: Mapping[str, Complete]) -> list[str]:
    """Return the provider names that a bundle may use."""
    return [*BUILT_IN, *hooks]


def make_provider(
    choice: ProviderChoice,
    file: str,
    hooks: Mapping[str, Complete],
    adapter: tuple[str, Callable[[], AdapterClient]] | None,
    *,
    plays: bool = False,
) -> BundleProvider:
    """Create the provider that a bundle names.

    Args:
        file: the bundle.yaml, for messages.
        hooks: the functions of plugins, by the name of the provider.
        adapter: the label of the LLM adapter under test and the function that opens it, or None.
        plays: True if only recordings are replayed, so that the official client and its key are not needed.

    Raises:
        BundleError: the provider is unknown, or a library or a key is missing.
    """
    if choice.name == "mock":
        return MockProvider(choice.script)
    if choice.name == "corpus":
        if adapter is None:
            said = (
                "the provider corpus asks the LLM adapter under test; declare one with --corpus-adapter=module:factory"
            )
            raise BundleError(BundleProblem(file, said))
        return CorpusProvider(adapter[0], choice.model, adapter[1])
    if choice.name in CLIENTS:
        module = import_module(f"pytest_corpus.bundles.providers.{choice.name}")
        made: BundleProvider = getattr(module, CLIENTS[choice.name])(choice, file, plays=plays)
        return made
    if choice.name in hooks:
        return HookProvider(choice.name, choice.model, hooks[choice.name])
    said = f"the provider {choice.name!r} is not known; {suggestion(choice.name, provider_names(hooks))}"
    raise BundleError(BundleProblem(file, said))
