"""Loads a bundle.yaml and finds all mistakes in the bundle before any call."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pytest_corpus import resources
from pytest_corpus.bundles import metrics
from pytest_corpus.bundles.errors import BundleError, BundleProblem, import_library, suggestion
from pytest_corpus.bundles.evaluation.template import Template, TemplateError
from pytest_corpus.bundles.loading.bundle import (
    Bundle,
    Contract,
    Price,
    ProviderChoice,
    Rubric,
    Scorer,
    Similarity,
    Variant,
    parse_invariant,
    read_cases,
)
from pytest_corpus.bundles.loading.files import Key, SourceFile, display_path, read_text, read_yaml, resolve_inside
from pytest_corpus.bundles.loading.output_schema import OutputSchema, read_schema
from pytest_corpus.bundles.matching import name_type
from pytest_corpus.bundles.metrics import Threshold
from pytest_corpus.text import bounded

T = TypeVar("T")


def load_bundle(path: Path) -> Bundle:
    """Load a bundle.yaml. Raises BundleError with all problems of the bundle, with files and lines."""
    source = read_yaml(path)
    # The validator repeats the same message for each missing key.
    problems = dict.fromkeys(_find_shape_problems(source))
    if problems:
        raise BundleError(problems)
    return _BundleLoader(path, source).load()


def is_bundle(path: Path) -> bool:
    """True if a file has the key `prompt_path` or `dataset_path` at its top level, unlike a bundle.yaml of other tools
    (R77).
    """
    try:
        text = bounded.read_contents(path).decode("utf-8-sig", "replace")
    except bounded.FileRefused:
        return False
    return any(line.startswith(("prompt_path:", "dataset_path:")) for line in text.splitlines())


@cache
def _validator() -> Any:
    import jsonschema

    text = (resources.folder("schemas") / "bundle" / "bundle.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def _find_shape_problems(source: SourceFile) -> Iterator[BundleProblem]:
    for error in sorted(_validator().iter_errors(source.value), key=lambda each: source.line(*each.absolute_path)):
        path: tuple[Key, ...] = tuple(error.absolute_path)
        named = ".".join(map(str, path)) or "bundle.yaml"
        value, rule = error.instance, error.validator_value
        if error.validator == "additionalProperties":
            for key in (key for key in value if key not in error.schema["properties"]):
                yield source.problem_at(
                    f"unknown key {key!r}; {suggestion(key, error.schema['properties'])}", *path, key
                )
        elif error.validator == "required":
            where = f" in {named}" if path else ""
            missing = [key for key in rule if key not in value]
            yield from (source.problem_at(f"the key {key!r} is missing{where}", *path) for key in missing)
        elif error.validator == "type":
            yield source.problem_at(_describe_wrong_type(named, value, rule), *path)
        elif error.validator == "enum":
            # YAML reads > without quotes as the beginning of a multi-line text.
            quotes = 'write ">" with quotes' if path[-1:] == ("operator",) and not str(value).strip() else ""
            yield source.problem_at(f"{named} is {value!r}; {quotes or suggestion(str(value), rule)}", *path)
        elif error.validator in _LIMITS:
            yield source.problem_at(f"{named} is {value!r}, and must be {_LIMITS[error.validator]} {rule}", *path)
        elif error.validator in ("minLength", "minProperties"):
            yield source.problem_at(f"{named} is empty", *path)
        elif error.validator == "pattern" and "propertyNames" in error.absolute_schema_path:
            said = f"the name {value!r} in {named} must consist of letters, digits, '_', '-' and '.'"
            yield source.problem_at(said, *path)
        else:
            yield source.problem_at(f"{named} is not as it must be: {error.message[:200]}", *path)


_LIMITS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "maxLength": "no longer than"}

_TYPES = {
    "object": "a mapping", "array": "a list", "string": "text", "number": "a number", "integer": "a whole number",
    "boolean": "true or false", "null": "null",
}  # fmt: skip


def _describe_wrong_type(named: str, value: Any, rule: str | list[str]) -> str:
    wanted = " or ".join(_TYPES[name] for name in ([rule] if isinstance(rule, str) else rule))
    simple = isinstance(value, bool | int | float)
    hint = "; quote it" if rule == "string" and (simple or not isinstance(value, dict | list | type(None))) else ""
    got = repr(value) if simple else name_type(value)
    return f"{named} is {got}, and must be {wanted}{hint}"


_CONVERTERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("version", "description", "parallel"), lambda value: value),
    "max_parallel": int,
    "timeout": float,
    "retries": int,
}
"""The keys whose values are copied to the bundle, with the function that converts them."""


class _BundleLoader:
    """Reads the parts of a bundle.yaml of valid shape, and collects problems."""

    def __init__(self, path: Path, source: SourceFile) -> None:
        self._path, self._source = path, source
        self._folder = path.parent
        self._given: dict[str, Any] = source.value
        self._problems: list[BundleProblem] = []

    def load(self) -> Bundle:
        given = self._given
        schema = self._collect_problems(self._read_schema, "output_contract", "schema_path")
        contract = self._read_contract(schema)
        prompt, system = self._read_prompts(given)
        cases = (
            self._collect_problems(lambda: read_cases(self._resolve_file("dataset_path"), contract), "dataset_path")
            or ()
        )
        several = given.get("samples", 1)
        at_least, samples = self._read_samples(several) if isinstance(several, dict) else (int(several), int(several))
        provider = self._read_provider(given.get("provider"), "provider")
        variants = tuple(self._read_variants(prompt, system, provider))
        named = given.get("variants", {}).get("compare_with")
        if named is not None and variants and named not in (names := [variant.name for variant in variants]):
            self._add_problem(f"compare_with is {named!r}; {suggestion(named, names)}", "variants", "compare_with")
        stops = "stop" in given
        if stops and not given.get("thresholds"):
            self._add_problem("stop: decided needs thresholds, which are what is decided", "stop")
        prices = {name: Price(**each) for name, each in given.get("prices", {}).get("models", {}).items()}
        thresholds = tuple(self._read_thresholds(at_least, contract, stops=stops))
        if given.get("min_passing", 1) > samples:
            self._add_problem(
                f"min_passing is {given['min_passing']}, and there are only {samples} samples", "min_passing"
            )
        if self._problems or prompt is None:
            raise BundleError(self._problems)
        bundle = Bundle(
            path=self._path,
            file=self._source.file,
            name=given["name"],
            prompt=prompt,
            system=system,
            # A sequential test takes its cases at random, the same in every process.
            cases=tuple(sorted(cases, key=lambda case: sha256(case.id.encode()).digest())) if stops else cases,
            contract=contract,
            thresholds=thresholds,
            provider=provider,
            samples=samples,
            at_least=at_least,
            stops=stops,
            min_passing=int(given.get("min_passing", samples)),
            prices=prices,
            currency=given.get("prices", {}).get("currency", ""),
            variants=variants,
            compare_with=named or (variants[0].name if variants else ""),
            **{key: made(given[key]) for key, made in _CONVERTERS.items() if key in given},
        )
        problems = list(_find_unrenderable(bundle, display_path(resolve_inside(self._folder, given["dataset_path"]))))
        if problems:
            raise BundleError(problems)
        return bundle

    def _collect_problems(self, work: Callable[[], T], *path: Key) -> T | None:
        """Return the result of a function; if it fails, add the problems and return None."""
        try:
            return work()
        except BundleError as error:
            self._problems += error.problems
        except TemplateError as error:
            self._problems.append(BundleProblem(self._source.file, str(error), error.line))
        except ValueError as error:
            self._add_problem(str(error), *path)
        return None

    def _add_problem(self, message: str, *path: Key) -> None:
        self._problems.append(self._source.problem_at(message, *path))

    def _resolve_file(self, key: str) -> Path:
        return resolve_inside(self._folder, self._given[key])

    def _read_prompts(self, given: Mapping[str, Any], *path: Key) -> tuple[Template | None, Template | None]:
        """Return the templates of the prompt and of the system prompt that a mapping names."""
        prompt, system = (
            self._read_template(given[key], *path, key) if key in given else None
            for key in ("prompt_path", "system_path")
        )
        return prompt, system

    def _read_template(self, given: str, *path: Key) -> Template | None:
        def make_template() -> Template:
            path = resolve_inside(self._folder, given)
            template = Template(read_text(path), display_path(path))
            try:
                template.check()
            except TemplateError as error:
                raise BundleError(BundleProblem(display_path(path), str(error), error.line)) from None
            return template

        return self._collect_problems(make_template, *path)

    def _read_schema(self) -> OutputSchema | None:
        given = self._given.get("output_contract", {}).get("schema_path")
        return read_schema(self._folder, given) if given is not None else None

    def _read_contract(self, schema: OutputSchema | None) -> Contract:
        given = self._given.get("output_contract", {})
        invariants = [
            self._collect_problems(lambda text=text: parse_invariant(text), "output_contract", "invariants", number)  # type: ignore[misc]
            for number, text in enumerate(given.get("invariants", ()))
        ]
        return Contract(
            schema=schema,
            invariants=tuple(each for each in invariants if each is not None),
            match=given.get("expected_match", "subset"),
            scorers=tuple(self._read_scorers(given.get("scorers", ()))),
        )

    def _read_scorers(self, given: Iterable[Mapping[str, Any]]) -> Iterator[Scorer]:
        for number, each in enumerate(given):
            path: tuple[Key, ...] = ("output_contract", "scorers", number)
            asks = each.keys() & {"similarity", "rubric"}
            if asks and "minimum" not in each:
                self._add_problem(f"the scorer {each['name']!r} needs a minimum", *path)
            if len(asks) > 1:
                self._add_problem(f"the scorer {each['name']!r} is either a similarity or a rubric", *path)
            similarity = Similarity(**each["similarity"]) if "similarity" in each else None
            rubric = self._read_rubric(each["rubric"], *path, "rubric") if "rubric" in each else None
            if similarity is not None:
                self._collect_problems(lambda: import_library("scipy", self._source.file))
            yield Scorer(each["name"], each.get("minimum", 1.0), similarity, rubric)

    def _read_rubric(self, given: Mapping[str, Any], *path: Key) -> Rubric | None:
        text = self._collect_problems(lambda: read_text(resolve_inside(self._folder, given["path"])), *path, "path")
        choice = self._read_provider(given["provider"], *path, "provider")
        if text is not None and not text.strip():
            self._add_problem(f"the rubric {given['path']!r} is empty", *path, "path")
        return None if text is None or choice is None else Rubric(text.strip(), choice, int(given.get("samples", 1)))

    def _read_variants(
        self, prompt: Template | None, system: Template | None, provider: ProviderChoice | None
    ) -> Iterator[Variant]:
        """Yield each combination of the prompts and models in `variants`, in the order of the file."""
        given = self._given.get("variants")
        if given is None:
            return
        if not given.keys() & {"prompts", "models"}:
            self._add_problem("variants needs prompts or models", "variants")
            return
        prompts: dict[str, tuple[Template | None, Template | None]] = {}
        for name, each in given.get("prompts", {}).items():
            paths = {"prompt_path": each} if isinstance(each, str) else each
            own, own_system = self._read_prompts(paths, "variants", "prompts", name)
            prompts[name] = own, own_system if "system_path" in paths else system
        models: dict[str, ProviderChoice | None] = {}
        usual = self._given.get("provider", {"name": "corpus"})
        for name, each in given.get("models", {}).items():
            changed = {"model": each} if isinstance(each, str) else each
            other = changed.get("name", usual["name"]) != usual["name"]
            kept = {
                key: value for key, value in usual.items() if not other or key not in ("model", "base_url", "script")
            }
            models[name] = self._read_provider({**kept, **changed}, "variants", "models", name)
        for one, (own, own_system) in (prompts or {"": (prompt, system)}).items():
            for other_name, choice in (models or {"": provider}).items():
                if own is not None:
                    yield Variant("/".join(filter(None, (one, other_name))), own, own_system, choice)

    def _read_provider(self, given: Mapping[str, Any] | None, *path: Key) -> ProviderChoice | None:
        if given is None:
            return None
        script = None
        if "script" in given:
            script = self._collect_problems(lambda: resolve_inside(self._folder, given["script"]), *path, "script")
        most = given.get("max_tokens")
        return ProviderChoice(**{**given, "script": script, "max_tokens": None if most is None else int(most)})

    def _read_samples(self, given: Mapping[str, Any]) -> tuple[int, int]:
        least, most = int(given["at_least"]), int(given["at_most"])
        if least > most:
            self._add_problem(f"samples.at_least is {least}, and at_most only {most}", "samples", "at_least")
        return least, most

    def _read_thresholds(self, samples: int, contract: Contract, *, stops: bool) -> Iterator[Threshold]:
        extra = [name for scorer in contract.scorers for name in scorer.metrics]
        known = metrics.metric_names(samples, [*extra, *(["cost"] if "prices" in self._given else [])])
        seen: dict[str, int] = {}
        for number, entry in enumerate(self._given.get("thresholds", ())):
            threshold = Threshold(**entry, sequential=stops)
            path: tuple[Key, ...] = ("thresholds", number)
            if threshold.metric not in known:
                said = f"the metric {threshold.metric!r} is not known; {suggestion(threshold.metric, known)}"
                self._add_problem(said, *path, "metric")
            elif metrics.is_rate(threshold.metric) and not 0 <= threshold.value <= 1:
                said = f"{threshold.metric} is a rate from 0 to 1, and is held to {threshold.value!r}"
                self._add_problem(said, *path, "value")
            elif (same := f"{threshold.metric}{threshold.operator}{float(threshold.value)}") in seen:
                said = f"the threshold {threshold} appears twice, in line {seen[same]} already"
                self._add_problem(said, *path)
            elif flaw := self._confidence_mistake(threshold, entry):
                self._add_problem(flaw, *path)
            else:
                seen[same] = self._source.line(*path)
                yield threshold

    def _confidence_mistake(self, threshold: Threshold, entry: Mapping[str, Any]) -> str:
        """Return the mistake in the confidence of a threshold as a sentence; empty if there is none."""
        if threshold.confidence is None:
            if threshold.sequential:
                return f"stop: decided needs a confidence in the threshold {threshold}"
            return "on_undecided needs a confidence" if "on_undecided" in entry else ""
        self._collect_problems(lambda: import_library("scipy", self._source.file))
        if threshold.operator == "==" or not metrics.has_interval(threshold.metric):
            return f"the threshold {threshold} takes no confidence; means and rates do, with >=, >, <= or <"
        if threshold.sequential and not metrics.is_rate(threshold.metric):
            return f"stop: decided is for rates, and {threshold.metric} is none"
        return ""


def _find_unrenderable(bundle: Bundle, dataset: str) -> Iterator[BundleProblem]:
    """Yield the problems of cases whose prompt cannot be rendered, at most ten."""
    count = 0
    templates = dict.fromkeys(each for own in bundle.variant_bundles for each in (own.prompt, own.system) if each)
    for case in bundle.cases:
        for template in templates:
            try:
                template.render(case.input)
            except TemplateError as error:
                place = f"{template.file}:{error.line}" if error.line else template.file
                yield BundleProblem(dataset, f"the case {case.id!r} makes no prompt: {place}: {error}", case.line)
                count += 1
        if count >= 10:
            return
