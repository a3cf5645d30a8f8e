"""A bundle as it was read: plain records, ready to be run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.evaluation.expression import Expression
from pytest_corpus.bundles.evaluation.template import Template
from pytest_corpus.bundles.loading.output_schema import OutputSchema
from pytest_corpus.bundles.metrics import Threshold


class NotGiven:
    """The marker of an absent value; null is a value."""

    def __repr__(self) -> str:
        return "(not given)"


NOT_GIVEN = NotGiven()


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what the templates get, and what is expected. `expected` is NOT_GIVEN where nothing is."""

    id: str
    input: Mapping[str, Any]
    line: int
    expected: Any = NOT_GIVEN
    match: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    invariants: tuple[Expression, ...] = ()

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of its metadata: a list of texts, or one text."""
        given = self.metadata.get("tags", ())
        found = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        return tuple(tag for tag in found if isinstance(tag, str) and tag)


@dataclass(frozen=True)
class ProviderChoice:
    """The provider that is asked: its name, its model (None: its default), and the options."""

    name: str
    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    script: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Similarity:
    """The comparison of an answer with its expectation by the embeddings of a model; `adapter` is a label."""

    model: str
    adapter: str = ""


@dataclass(frozen=True)
class Rubric:
    """The rubric by which a provider judges an answer, so many times."""

    text: str
    provider: ProviderChoice
    samples: int = 1


@dataclass(frozen=True)
class Scorer:
    """A scorer and the least score that passes; one with neither similarity nor rubric is brought by a plugin."""

    name: str
    minimum: float = 1.0
    similarity: Similarity | None = None
    rubric: Rubric | None = None

    @property
    def asks(self) -> bool:
        """True if it asks a provider."""
        return self.similarity is not None or self.rubric is not None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its metrics."""
        several = self.rubric is not None and self.rubric.samples > 1
        return (f"score_{self.name}", *((f"agreement_{self.name}",) if several else ()))


@dataclass(frozen=True)
class Price:
    """The price of a model's tokens, per million."""

    prompt: float = 0.0
    completion: float = 0.0


@dataclass(frozen=True)
class Contract:
    """The checks of every answer."""

    schema: OutputSchema | None = None
    invariants: tuple[Expression, ...] = ()
    match: str = "subset"
    scorers: tuple[Scorer, ...] = ()


@dataclass(frozen=True)
class Variant:
    """One cell of a bundle's matrix: its prompts and its provider."""

    name: str
    prompt: Template
    system: Template | None
    provider: ProviderChoice | None


@dataclass(frozen=True)
class Bundle:
    """A bundle; `file` is its bundle.yaml as messages call it, and `provider` None where the file names none."""

    path: Path
    file: str
    name: str
    prompt: Template
    cases: tuple[Case, ...]
    system: Template | None = None
    version: str = ""
    description: str = ""
    contract: Contract = Contract()
    thresholds: tuple[Threshold, ...] = ()
    provider: ProviderChoice | None = None
    parallel: bool = False
    max_parallel: int = 4
    timeout: float = 30.0
    retries: int = 0
    samples: int = 1
    at_least: int = 1
    """Samples of each case; further ones up to `samples` are asked until `min_passing` is met or out of reach."""

    stops: bool = False
    """Ask no further case once the thresholds are decided."""

    min_passing: int = 1
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By model."""

    currency: str = ""
    variants: tuple[Variant, ...] = ()
    variant: str = ""
    """The name of the variant that this is; empty for a bundle without variants."""

    compare_with: str = ""
    """The variant that the others are compared with."""

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.path.parent

    @property
    def side_by_side(self) -> int:
        """The number of cases that run at a time."""
        return self.max_parallel if self.parallel else 1

    @property
    def each_variant(self) -> list["Bundle"]:
        """A bundle for each variant, or this one."""
        return [
            replace(
                self, variants=(), variant=each.name, prompt=each.prompt, system=each.system, provider=each.provider
            )
            for each in self.variants
        ] or [self]

    @property
    def extra_metrics(self) -> list[str]:
        """The metrics of its scorers, and of its prices."""
        scores = [name for scorer in self.contract.scorers for name in scorer.metrics]
        return [*scores, *(["cost"] if self.prices else [])]

    def cost(self, models: Iterable[str], prompt: int | None, completion: int | None) -> float | None:
        """The cost of tokens by the price of the first of these models that has one; None if it is not known."""
        price = next((self.prices[model] for model in models if model in self.prices), None)
        if price is None or prompt is None or completion is None:
            return None
        return (prompt * price.prompt + completion * price.completion) / 1e6

    def holds_to(self, metric: str) -> bool:
        """True if a threshold names a metric."""
        return any(each.metric == metric for each in self.thresholds)

    def prompts(self, case: Case) -> tuple[str, str | None]:
        """The prompt of a case and its system prompt. Raises TemplateError if they cannot be rendered."""
        system = self.system.render(case.input) if self.system else None
        return self.prompt.render(case.input), system
