"""Prepares the runs of bundles, each with one provider, and shares providers and adapters between them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.usage import Budget
from pytest_corpus.bundles import metrics
from pytest_corpus.bundles.contract import Judge
from pytest_corpus.bundles.errors import BundleError, BundleProblem, suggestion
from pytest_corpus.bundles.loading.bundle import Bundle, Case, ProviderChoice, Scorer
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.bundles.providers.corpus import SimilarityProvider
from pytest_corpus.bundles.providers.protocol import BundleProvider
from pytest_corpus.bundles.providers.registry import make_provider
from pytest_corpus.bundles.reporting.section import Head, failure_message, metrics_to_show
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.asking import CaseRunner
from pytest_corpus.bundles.running.cassettes import Cassettes, mode_of
from pytest_corpus.bundles.running.pool import Pool
from pytest_corpus.bundles.running.shards import select_cases
from pytest_corpus.bundles.running.store import CaseStore
from pytest_corpus.verdict.shards import Shard

Openers = Mapping[str, Callable[[], AdapterClient]]
"""For each adapter, by label, a function that opens it."""


@dataclass(frozen=True, kw_only=True)
class BundleOptions:
    """The options of all runs of bundles.

    Attributes:
        limit: the largest number of cases of each bundle.
        cassettes: the mode of cassettes; None for the default.
        full: True if the terminal may show prompts and answers; `evidence_option` names the option that allows it.
        full_files: True if the HTML page may contain prompts and answers.
        stops_early: True if the run ends at the first failure.
    """

    providers: tuple[str, ...] = ()
    limit: int | None = None
    cassettes: str | None = None
    baseline: Path | None = None
    update_baseline: bool = False
    budget: Budget = field(default_factory=Budget)
    full: bool = False
    full_files: bool = False
    stops_early: bool = False
    shard: Shard | None = None
    evidence_option: str = "--corpus-evidence=full"


@dataclass
class BundleRun:
    """One bundle with one provider: the selected cases and the pool that runs them."""

    bundle: Bundle
    provider: str
    adapter: str
    asking: CaseRunner
    cases: tuple[Case, ...]
    options: BundleOptions
    make_store: Callable[["BundleRun"], CaseStore]
    cassettes: str = "off"
    selected: list[str] = field(default_factory=list)
    reference: str = ""
    """The label of the run to compare with; empty if there is none."""

    named: set[str] = field(default_factory=set)
    """The cases that the messages of thresholds already named."""

    _results: dict[str, CaseResult] = field(default_factory=dict)
    _decided: bool = False

    @property
    def label(self) -> str:
        """The name of the variant, if any, and of the provider; unique within the bundle."""
        return f"{self.bundle.variant} {self.provider}".lstrip()

    @cached_property
    def is_whole(self) -> bool:
        """True if all cases of the bundle were selected. Use it only after the selection of cases."""
        return set(self.selected) == {case.id for case in self.bundle.cases}

    @property
    def tolerates_failed_cases(self) -> bool:
        """True if thresholds decide about failed cases, so that a failed case alone is not a failed test (R80)."""
        complete = self.is_whole or (self.options.shard is not None and len(self.selected) == len(self.cases))
        return bool(self.bundle.thresholds) and complete and not self.options.stops_early

    @cached_property
    def _can_stop_early(self) -> bool:
        # A worker knows only some of the results.
        return self.bundle.stops and self.is_whole and "PYTEST_XDIST_WORKER" not in os.environ

    @cached_property
    def pool(self) -> Pool:
        """The pool that runs the selected cases. Use it only after the selection of cases."""
        return Pool(self.asking, self.cases, self.make_store(self))

    def result(self, case: str) -> CaseResult:
        """Return the result of a case. The case runs now, unless it ran before or the thresholds are decided."""
        if not self._can_stop_early:
            return self.pool.result(case)
        if case in self._results:
            return self._results[case]
        found = self.pool.leave_out(case) if self._decided else self.pool.result(case)
        self._results[case] = found
        if not self._decided and metrics.is_checkpoint(len(self._results)):
            known = list(self._results.values())
            self._decided = metrics.are_decided(self.bundle.thresholds, known)
        return found

    def explain(self, result: CaseResult) -> str:
        """Return the message that explains why a case did not pass."""
        options = self.options
        return failure_message(self.bundle.file, self.label, result, full=options.full, option=options.evidence_option)

    @property
    def head(self) -> Head:
        """The facts for the run's report section."""
        bundle = self.bundle
        return Head(
            file=bundle.file,
            name=bundle.name,
            version=bundle.version,
            provider=self.provider,
            variant=self.bundle.variant,
            reference=self.reference,
            adapter=self.adapter,
            cases=tuple(case.id for case in bundle.cases),
            selected=len(self.selected),
            thresholds=bundle.thresholds,
            metrics=metrics_to_show(bundle),
            cassettes=self.cassettes,
            samples=bundle.samples,
            currency=bundle.currency,
        )


@dataclass(frozen=True)
class SelectedProvider:
    """The provider of a run; for `corpus`, also the label of the adapter."""

    choice: ProviderChoice
    adapter: str = ""


class BundleSession:
    """Prepares the runs of bundles, and closes their providers and adapters.

    Args:
        store: creates the store of a run.
        functions: returns the plugin functions for the name of a hook and a bundle file.
        adapters: returns the adapters under test of a component.
        scorer_source: the end of an error message, which says how the user can supply a missing scorer.
    """

    def __init__(
        self,
        options: BundleOptions,
        store: Callable[[BundleRun], CaseStore],
        functions: Callable[[str, str], dict[str, Any]],
        adapters: Callable[[str], Openers],
        scorer_source: str,
    ) -> None:
        self.options = options
        self.runs: list[BundleRun] = []
        self._store, self._functions, self._adapters, self._scorer_source = store, functions, adapters, scorer_source
        self._known: dict[str, dict[str, Any]] = {}
        self._providers: dict[tuple[Any, ...], BundleProvider] = {}
        self._clients: dict[tuple[str, str], AdapterClient] = {}
        self._tapes: dict[tuple[Path, str], Cassettes] = {}

    def prepare_runs(self, path: Path) -> list[BundleRun]:
        """Load a bundle and return a run for each of its variants and providers. Raises BundleError."""
        bundle = load_bundle(path)
        found = [
            self._prepare_run(each, chosen)
            for each in bundle.variant_bundles
            for chosen in choose_providers(each, self.options.providers, list(self._adapters("llm")))
        ]
        labels = [run.label for run in found]
        if len(set(labels)) < len(labels):
            raise BundleError(
                BundleProblem(bundle.file, f"the provider {labels[0]} would run it twice; name each once")
            )
        for run in found:
            named = [each for each in found if each.bundle.variant == bundle.compare_with]
            reference = next((each for each in named if each.adapter == run.adapter), named[0])
            run.reference = "" if reference is run else reference.label
        self.runs += found
        return found

    def _prepare_run(self, bundle: Bundle, chosen: SelectedProvider) -> BundleRun:
        options = self.options
        is_mock = chosen.choice.name == "mock"
        mode = "off" if is_mock else mode_of(options.cassettes, bundle.folder, os.environ)
        provider = self._make_provider(bundle, chosen, plays=mode == "none")
        asking = CaseRunner(
            bundle,
            chosen.choice,
            provider,
            self._scorer_functions(bundle),
            tuple(
                self._make_judge(bundle, scorer, plays=mode == "none")
                for scorer in bundle.contract.scorers
                if scorer.asks_provider
            ),
            options.budget,
            self._tapes.setdefault((bundle.folder, mode), Cassettes(bundle.folder, mode)) if mode != "off" else None,
            keeps_content=options.full or options.full_files,
            keeps_passing=options.full_files,
        )
        cases = select_cases(bundle, options.shard) if options.shard else bundle.cases[: options.limit]
        return BundleRun(bundle, provider.label, chosen.adapter, asking, cases, options, self._store, mode)

    def _make_provider(
        self, bundle: Bundle, chosen: SelectedProvider, *, plays: bool, purpose: str = ""
    ) -> BundleProvider:
        choice = chosen.choice
        # Each bundle plays a script from its beginning.
        own = (bundle.path, bundle.variant, choice.script, purpose) if choice.name == "mock" else None
        key = (choice.name, choice.model, choice.base_url, chosen.adapter, own, plays)
        if key not in self._providers:
            adapter = (chosen.adapter, lambda: self._open_client("llm", chosen.adapter)) if chosen.adapter else None
            brought = self._functions_of("providers", bundle)
            self._providers[key] = make_provider(choice, bundle.file, brought, adapter, plays=plays)
        return self._providers[key]

    def _open_client(self, component: str, label: str) -> AdapterClient:
        if (component, label) not in self._clients:
            self._clients[component, label] = self._adapters(component)[label]()
        return self._clients[component, label]

    def _make_judge(self, bundle: Bundle, scorer: Scorer, *, plays: bool) -> Judge:
        """Return the judge for a scorer: the scorer with the provider that it asks."""
        if scorer.rubric is not None:
            choice, llms = scorer.rubric.provider, list(self._adapters("llm"))
            label = llms[0] if llms and choice.name == "corpus" else ""
            chosen = SelectedProvider(choice, label)
            return Judge(scorer, self._make_provider(bundle, chosen, plays=plays, purpose=scorer.name))
        assert scorer.similarity is not None
        known = list(self._adapters("embedding"))
        label = scorer.similarity.adapter or (known[0] if known else "")
        if label not in known and not plays:
            hint = suggestion(label, known) if known else "declare one with --corpus-adapter=module:factory"
            said = f"the scorer {scorer.name!r} asks an adapter with the component embedding; {hint}"
            raise BundleError(BundleProblem(bundle.file, said))
        opened = (lambda: self._open_client("embedding", label)) if label in known else None
        return Judge(scorer, SimilarityProvider(scorer.similarity.model, opened))

    def _scorer_functions(self, bundle: Bundle) -> dict[str, Any]:
        own = [scorer for scorer in bundle.contract.scorers if not scorer.asks_provider]
        known = self._functions_of("scorers", bundle) if own else {}
        for scorer in own:
            if scorer.name not in known:
                hint = suggestion(scorer.name, known) if known else self._scorer_source
                raise BundleError(BundleProblem(bundle.file, f"the scorer {scorer.name!r} is not known; {hint}"))
        return known

    def _functions_of(self, kind: str, bundle: Bundle) -> dict[str, Any]:
        if kind not in self._known:
            self._known[kind] = self._functions(f"pytest_corpus_bundle_{kind}", bundle.file)
        return self._known[kind]

    def close(self, *, finish: bool = False) -> None:
        """Start no further cases; close adapters and clients. With `finish`, wait for the running cases first."""
        for run in self.runs:
            if "pool" in vars(run):
                if finish:
                    run.pool.finish()
                run.pool.abandon_cases()
        while self._clients:
            self._clients.popitem()[1].close()
        while self._providers:
            self._providers.popitem()[1].close()


def choose_providers(bundle: Bundle, asked: Sequence[str], adapters: Sequence[str]) -> list[SelectedProvider]:
    """Return the providers of a bundle: the requested ones, else the one in its file, else the adapters under test.

    Args:
        asked: the requested providers, each as ``NAME`` or ``NAME:MODEL``.
        adapters: the labels of the LLM adapters under test.

    Raises:
        BundleError: there is no provider.
    """
    if asked:
        choices = [_requested_choice(bundle, each) for each in dict.fromkeys(asked)]
    elif bundle.provider is not None:
        choices = [bundle.provider]
    elif adapters:
        choices = [ProviderChoice("corpus")]
    else:
        said = "no provider is named; add 'provider', or declare an LLM adapter with --corpus-adapter=module:factory"
        raise BundleError(BundleProblem(bundle.file, said))
    found: list[SelectedProvider] = []
    for choice in choices:
        if choice.name == "corpus" and adapters:
            found += [SelectedProvider(choice, label) for label in adapters]
        else:
            found.append(SelectedProvider(choice))
    return found


def _requested_choice(bundle: Bundle, asked: str) -> ProviderChoice:
    """Return the provider that a command-line argument names, with the options in the file of the bundle."""
    name, _, model = asked.partition(":")
    own = bundle.provider or ProviderChoice(name)
    if own.name == name:
        return replace(own, model=model or own.model)
    return replace(own, name=name, model=model or None, base_url=None)
