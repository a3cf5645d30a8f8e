"""The records of a loaded bundle, and the reader of its cases from JSON Lines (R84)."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.errors import BundleError, BundleProblem, suggestion
from pytest_corpus.bundles.evaluation.expression import Expression
from pytest_corpus.bundles.evaluation.syntax import ExpressionError
from pytest_corpus.bundles.evaluation.template import Template
from pytest_corpus.bundles.evaluation.values import OperationError, check_pattern
from pytest_corpus.bundles.loading.files import display_path, read_text
from pytest_corpus.bundles.loading.output_schema import OutputSchema
from pytest_corpus.bundles.matching import MATCHES, TEXT_MATCHES, name_type
from pytest_corpus.bundles.metrics import Threshold
from pytest_corpus.text.strict_json import parse


class NotGiven:
    """The type of `NOT_GIVEN`, which marks an absent value, because null is a value."""

    def __repr__(self) -> str:
        return "(not given)"


NOT_GIVEN = NotGiven()


@dataclass(frozen=True, slots=True)
class Case:
    """One case: the variables of the templates, and the expected answer.

    Attributes:
        line: the line of the dataset.
        expected: NOT_GIVEN if the case has no expected answer.
        match: how answers are compared with it, one of `matching.MATCHES`.
        invariants: the case's own invariants, in addition to those of the bundle.
    """

    id: str
    input: Mapping[str, Any]
    line: int
    expected: Any = NOT_GIVEN
    match: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    invariants: tuple[Expression, ...] = ()

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags in the metadata: a list of texts, or one text."""
        given = self.metadata.get("tags", ())
        found = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        return tuple(tag for tag in found if isinstance(tag, str) and tag)


@dataclass(frozen=True)
class ProviderChoice:
    """The provider that a bundle names, with its model (None: the default model) and options.

    `script` is the file with the answers of the provider `mock`.
    """

    name: str
    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    base_url: str | None = None
    script: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Similarity:
    """Compares an answer with the expected answer by their embeddings.

    `adapter` is the label of the embedding adapter; an empty label means the first embedding adapter.
    """

    model: str
    adapter: str = ""


@dataclass(frozen=True)
class Rubric:
    """The text of a rubric, the provider that grades answers by it, and the number of grades for each answer."""

    text: str
    provider: ProviderChoice
    samples: int = 1


@dataclass(frozen=True)
class Scorer:
    """A scorer, and the lowest score that passes. Its function comes from `similarity`, `rubric` or a plugin."""

    name: str
    minimum: float = 1.0
    similarity: Similarity | None = None
    rubric: Rubric | None = None

    @property
    def asks_provider(self) -> bool:
        """True if the scorer asks a provider."""
        return self.similarity is not None or self.rubric is not None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics that the scorer adds to reports."""
        several = self.rubric is not None and self.rubric.samples > 1
        return (f"score_{self.name}", *((f"agreement_{self.name}",) if several else ()))


@dataclass(frozen=True)
class Price:
    """The price of one million tokens of a model."""

    prompt: float = 0.0
    completion: float = 0.0


@dataclass(frozen=True)
class Contract:
    """The checks that every answer of a bundle must pass."""

    schema: OutputSchema | None = None
    invariants: tuple[Expression, ...] = ()
    match: str = "subset"
    scorers: tuple[Scorer, ...] = ()


@dataclass(frozen=True)
class Variant:
    """One combination of prompt and provider in a bundle's `variants`."""

    name: str
    prompt: Template
    system: Template | None
    provider: ProviderChoice | None


@dataclass(frozen=True)
class Bundle:
    """A loaded bundle. `file` is the name of its bundle.yaml in messages; `provider` is None if it names none."""

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
    """The smallest number of samples of each case. If they do not decide the case, more follow, up to `samples`."""

    stops: bool = False
    """True if no further case runs once the thresholds are decided."""

    min_passing: int = 1
    prices: Mapping[str, Price] = field(default_factory=dict)
    """The prices of tokens, by model."""

    currency: str = ""
    variants: tuple[Variant, ...] = ()
    variant: str = ""
    """The name of this variant; empty for a bundle without variants."""

    compare_with: str = ""
    """The name of the variant that the other variants are compared with."""

    @property
    def folder(self) -> Path:
        """The folder that contains the files of the bundle."""
        return self.path.parent

    @property
    def concurrency(self) -> int:
        """The largest number of cases that run concurrently."""
        return self.max_parallel if self.parallel else 1

    @property
    def variant_bundles(self) -> list["Bundle"]:
        """A list with one bundle for each variant, or with this bundle if it has no variants."""
        return [
            replace(
                self, variants=(), variant=each.name, prompt=each.prompt, system=each.system, provider=each.provider
            )
            for each in self.variants
        ] or [self]

    @property
    def extra_metrics(self) -> list[str]:
        """The metrics that the bundle's scorers and prices add."""
        scores = [name for scorer in self.contract.scorers for name in scorer.metrics]
        return [*scores, *(["cost"] if self.prices else [])]

    def cost(self, models: Iterable[str], prompt: int | None, completion: int | None) -> float | None:
        """Return the cost of the tokens, at the price of the first model with a price; None if the cost is unknown."""
        price = next((self.prices[model] for model in models if model in self.prices), None)
        if price is None or prompt is None or completion is None:
            return None
        return (prompt * price.prompt + completion * price.completion) / 1e6

    def prompts(self, case: Case) -> tuple[str, str | None]:
        """Return the prompt and the system prompt of a case. Raises TemplateError if they cannot be rendered."""
        system = self.system.render(case.input) if self.system else None
        return self.prompt.render(case.input), system


KEYS = ("input", "id", "expected_output", "metadata", "expected_match", "invariants")
MEANT = {"expected": "expected_output", "vars": "input", "inputs": "input", "tags": "metadata"}
"""Keys that other tools use, each with the key to suggest instead. The most similar key would be a wrong suggestion."""

LONGEST_ID = 200
_NO_METADATA: dict[str, Any] = {}


def read_lines(path: Path) -> Iterator[tuple[int, Any, str]]:
    """Yield the number, value and flaw (usually empty) of each line that is not blank. Only line feeds end lines."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            value, flaw = parse(line.strip(" \t\r").encode("utf-8"))
            yield number, value, str(flaw or "")


def read_cases(path: Path, contract: Contract) -> tuple[Case, ...]:
    """Read the cases of a dataset. Raises BundleError if it has no case or a line is not a valid case."""
    reader = _DatasetReader(display_path(path), contract)
    for number, value, flaw in read_lines(path):
        reader.read_case(number, value, flaw)
    if not reader.cases and not reader.problems:
        reader.problems.append(BundleProblem(reader.file, "has no cases; write one JSON object per line"))
    if reader.problems:
        raise BundleError(reader.problems)
    return tuple(reader.cases)


def default_id(value: Any) -> str:
    """Return the id of a case that has none: a hash of its input as canonical JSON, the same in each process."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"case-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


class _DatasetReader:
    """Reads the cases of a dataset and collects its problems."""

    def __init__(self, file: str, contract: Contract) -> None:
        self.file, self._contract = file, contract
        self.cases: list[Case] = []
        self.problems: list[BundleProblem] = []
        self._lines: dict[str, int] = {}

    def read_case(self, number: int, value: Any, flaw: str) -> None:
        try:
            if flaw:
                raise ValueError(f"is not valid JSON: {flaw}" if "JSON" not in flaw else flaw)
            case = self._parse_case(number, value)
            if first := self._lines.get(case.id):
                named = "id" in value
                said = f"the id {case.id!r}" if named else "the same input without an id"
                raise ValueError(f"{said} is in line {first} already; give each case an id of its own")
            self._lines[case.id] = number
            self.cases.append(case)
        except ValueError as error:
            self.problems.append(BundleProblem(self.file, str(error), number))

    def _parse_case(self, number: int, value: Any) -> Case:
        if not isinstance(value, dict):
            raise ValueError(f"is {name_type(value)}; a case is an object with the key 'input'")
        for key in value:
            if key not in KEYS:
                known = f"did you mean {MEANT[key]!r}?" if key in MEANT else suggestion(key, KEYS)
                raise ValueError(f"unknown key {key!r}; {known}")
        if "input" not in value:
            raise ValueError("the key 'input' is missing; it holds the variables of the prompt")
        for key, wanted in (("input", dict), ("metadata", dict), ("id", str), ("invariants", list)):
            if key in value and not isinstance(value[key], wanted):
                raise ValueError(f"'{key}' is {name_type(value[key])}, and must be {name_type(wanted())}")
        match = self._parse_match(value)
        return Case(
            id=_check_id(value["id"]) if "id" in value else default_id(value["input"]),
            input=value["input"],
            line=number,
            expected=value.get("expected_output", NOT_GIVEN),
            match=match,
            metadata=value.get("metadata", _NO_METADATA),
            invariants=tuple(map(parse_invariant, value.get("invariants", ()))),
        )

    def _parse_match(self, value: dict[str, Any]) -> str:
        match = value.get("expected_match", self._contract.match)
        if match not in MATCHES:
            raise ValueError(f"'expected_match' is {match!r}; {suggestion(str(match), MATCHES)}")
        if match in TEXT_MATCHES and "expected_output" in value:
            expected = value["expected_output"]
            if not isinstance(expected, str):
                said = f"'expected_output' is {name_type(expected)}, and must be a text for expected_match {match}"
                raise ValueError(said)
            if match == "regex":
                try:
                    check_pattern(expected)
                except OperationError as error:
                    raise ValueError(f"'expected_output': {error}") from None
        return str(match)


def _check_id(given: str) -> str:
    if not given.strip() or len(given) > LONGEST_ID:
        raise ValueError(f"'id' must have from 1 to {LONGEST_ID} characters")
    if not given.isprintable() or "::" in given or given.startswith("threshold["):
        raise ValueError("'id' must be printable text without '::' that does not begin with 'threshold['")
    return given


def parse_invariant(source: Any) -> Expression:
    """Parse an invariant. Raises ValueError if it is not allowed; the message is the end of a sentence."""
    if not isinstance(source, str):
        raise ValueError(f"an invariant is {name_type(source)}, and must be a text")
    expression = Expression(source)
    try:
        _ = expression.tree
    except ExpressionError as error:
        raise ValueError(f"the invariant {source[:100]!r} {error}") from None
    return expression
