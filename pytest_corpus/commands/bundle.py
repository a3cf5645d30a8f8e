"""`pytest-corpus bundle`: write, check, run and compare behaviour bundles without pytest."""

import argparse
import importlib
import inspect
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_corpus import resources
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.opening.factory import import_factory, split_label
from pytest_corpus.adapter.usage import Budget, parse
from pytest_corpus.bundles.errors import BundleError, suggestion
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.bundles.providers.hook import collect_functions
from pytest_corpus.bundles.providers.mock import check_scripts
from pytest_corpus.bundles.reporting import comparison, section
from pytest_corpus.bundles.reporting.section import collect_contents
from pytest_corpus.bundles.results import NOT_ASKED, PASSED, CaseResult
from pytest_corpus.bundles.running.cassettes import MODES
from pytest_corpus.bundles.running.shards import write_durations
from pytest_corpus.bundles.running.store import CaseStore, SpentBudget
from pytest_corpus.bundles.session import BundleOptions, BundleRun, BundleSession
from pytest_corpus.commands import FINDINGS, FINE, INTERRUPTED, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands import _reports as written
from pytest_corpus.commands._combining import combine_reports
from pytest_corpus.reports import bundle_view, formats
from pytest_corpus.reports.reading import bundle_flaw
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import write_atomically, write_folder
from pytest_corpus.text.values import from_json_value

FILE = "bundle.yaml"
PLACEHOLDER = "BUNDLE"  # the name of the bundle in the skeleton


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions, each with its own arguments."""
    action = console.add_actions(parser)
    init = action("init", "write a small bundle that passes with the provider mock", _init)
    init.add_argument("folder", metavar="DIR", help="a folder that is empty or not there yet")
    check = action("check", "find everything that is wrong with a bundle; nothing is called", _check)
    check.add_argument("folder", metavar="DIR", nargs="+", help="a folder with a bundle.yaml")
    combine = action("combine", "judge the thresholds over the reports of all shards", _combine)
    combine.add_argument("reports", metavar="FILE", nargs="+", help="the JSON report of a run with --corpus-shard")
    console.add_output_argument(combine, "the report of the whole run")
    durations = "write the seconds of each case to durations.json beside its bundle.yaml, for the next cut"
    combine.add_argument("--write-durations", action="store_true", help=durations)
    run_it = action("run", "ask all cases and hold the bundle to its thresholds", _run)
    add = run_it.add_argument
    add("folder", metavar="DIR", help="a folder with a bundle.yaml")
    add("--provider", action="append", metavar="NAME[:MODEL]", help="who answers; repeatable")
    add("--adapter", action="append", metavar="SPEC", help="an LLM adapter for the provider corpus")
    similarity = "an adapter for similarity (default: --adapter)"
    add("--embedding-adapter", action="append", metavar="SPEC", help=similarity)
    add("--plugin", metavar="MODULE", help="a module with pytest_corpus_bundle_providers and ..._scorers")
    add("--limit", type=console.positive_integer, metavar="N", help="only the first N cases; nothing is judged")
    add("--cassettes", metavar="MODE", help="recorded answers: off (default), none, once, new or all")
    add("--baseline", metavar="PATH", help="compare with this baseline")
    add("--update-baseline", action="store_true", help="write the baseline instead")
    add("--budget", metavar="LIMITS", help="what may be used: calls=500,tokens=20000")
    add("--evidence", choices=("shape", "full"), help="full shows prompts and answers")
    diff = action(
        "diff", "changes between two runs of a bundle, case by case; exit code 1 if the later is worse", _diff
    )
    diff.add_argument(
        "old", metavar="OLD", help="the JSON report of the earlier run, or the output of run --format json"
    )
    diff.add_argument("new", metavar="NEW", help="the same of the later run")
    deciding = "a metric that decides; repeatable (default: passes and scores)"
    diff.add_argument("--metric", action="append", metavar="NAME", help=deciding)
    for parser_of_results in (check, combine, run_it, diff):
        console.add_format_argument(parser_of_results)


def _run(given: argparse.Namespace) -> int:
    return _CommandSession(given).run(_find_file(given.folder))


def _find_file(given: str) -> Path:
    path = Path(given)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise CommandError(f"{given}: there is no {FILE}; `pytest-corpus bundle init {given}` writes one")
    return path.absolute()


def _check(given: argparse.Namespace) -> int:
    found: list[dict[str, Any]] = []
    for folder in given.folder:
        try:
            bundle = load_bundle(_find_file(folder))
            check_scripts(bundle)
            found.append({"bundle": folder, "cases": len(bundle.cases), "problems": []})
        except BundleError as error:
            found.append({"bundle": folder, "cases": 0, "problems": [str(problem) for problem in error.problems]})
    lines = (
        each["problems"] or [f"{each['bundle']}: sound, {console.count_in_words(each['cases'], 'case')}"]
        for each in found
    )
    console.print_result(given, {"bundles": found}, *chain.from_iterable(lines))
    return FINDINGS if any(each["problems"] for each in found) else FINE


def _combine(given: argparse.Namespace) -> int:
    target = written.output_target(given.output, formats.FORMATS)
    whole, runs = combine_reports([(Path(name).name, written.read_named_report(name)) for name in given.reports])
    found = whole["bundles"]
    console.print_result(given, {"bundles": found}, *chain.from_iterable(map(section.section_lines, found)))
    try:
        if target is not None:
            write_atomically(formats.render(whole, target[1]), target[0])
        if given.write_durations:
            for file in {head.file for head, _ in runs}:
                write_durations(
                    Path(file).parent, [each for head, known in runs if head.file == file for each in known]
                )
    except OSError as error:
        raise CommandError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return FINDINGS if any(map(_has_failed, found)) else FINE


def _diff(given: argparse.Namespace) -> int:
    before, now = (_read_sections(Path(name)) for name in (given.old, given.new))
    found = []
    for key, each in now.items():
        other = before.get(key)
        if other is None and len(before) == len(now) == 1:
            other = next(iter(before.values()))
        if other is None or other["name"] != each["name"]:
            console.warn(f"{given.new}: {section.describe_section(each)}: {given.old} has no run to compare it with")
            continue
        old, new = (
            comparison.make_outcome(from_json_value(CaseResult, case) for case in run["results"])
            for run in (other, each)
        )
        compared = comparison.compare_runs(old, new, given.metric or ())
        labels = {"before": bundle_view.label_of(other), "now": bundle_view.label_of(each)}
        found.append({"bundle": each["name"], **labels, **compared})
    if not found:
        raise CommandError(f"{given.old} and {given.new} have no bundle in common")
    for name in given.metric or ():
        if not any(name == each["metric"] for entry in found for each in entry["differences"]):
            known = {each["metric"] for entry in found for each in entry["differences"]}
            raise CommandError(f"--metric {name}: not compared; {suggestion(name, known)}")
    lines = (
        [f"{each['bundle']} ({each['now']}):", *comparison.comparison_lines(each, each["before"])] for each in found
    )
    console.print_result(given, {"compared": found}, *chain.from_iterable(lines))
    return FINDINGS if any(each["verdict"] == "worse" for each in found) else FINE


def _read_sections(path: Path) -> dict[tuple[str, str], Any]:
    """Return the bundle sections of a report, by bundle and label."""
    try:
        document = bounded.read_document(path)
    except bounded.FileRefused as error:
        raise CommandError(f"{path}: cannot be read: {error.why}" if error.missing else str(error)) from None
    found = document.get("bundles") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise CommandError(f"{path}: is not a report with bundles; name a file that --corpus-report wrote")
    if said := bundle_flaw(found):
        raise CommandError(f"{path}: is not a sound report: {said}")
    if not all("results" in each for each in found):
        raise CommandError(f"{path}: was written by a version that keeps no results of cases; run the bundle again")
    return {(each["name"], bundle_view.label_of(each)): each for each in found}


def _init(given: argparse.Namespace) -> int:
    folder = Path(given.folder)
    plain = "".join(char if char.isalnum() or char in "_-" else "-" for char in folder.resolve().name) or "bundle"
    try:
        if folder.exists() and any(folder.iterdir()):
            raise CommandError(f"{folder}: is not empty; name a new folder")
        texts = {path.name: path.read_text("utf-8") for path in (resources.folder("skeletons") / "bundle").iterdir()}
        write_folder(((name, text.replace(PLACEHOLDER, plain)) for name, text in texts.items()), folder)
    except OSError as error:
        raise CommandError(f"{folder}: cannot be written: {error.strerror or error}") from None
    console.say(f"{folder}: a bundle with 2 cases; run it with: pytest {shlex.quote(str(folder / FILE))}")
    return FINE


class _CommandSession:
    """One run of the command: its options, plugin, results and baseline."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        if given.cassettes is not None:
            console.check_word(given.cassettes, MODES, "mode of cassettes")
        if given.update_baseline and not given.baseline:
            raise CommandError("--update-baseline: name the file with --baseline PATH")
        self._spent_budget = SpentBudget()
        llm, embedding = given.adapter or (), given.embedding_adapter or given.adapter or ()
        declared = {"llm": _declared_adapters(llm), "embedding": _declared_adapters(embedding)}
        self._plugin = self._import_plugin()
        options = BundleOptions(
            providers=tuple(given.provider or ()),
            limit=given.limit,
            cassettes=given.cassettes,
            budget=self._budget(),
            full=(given.evidence or ("shape" if os.environ.get("CI") else "full")) == "full",
            full_files=given.evidence == "full",
            evidence_option="--evidence full",
        )
        self._session = BundleSession(
            options,
            lambda run: CaseStore(run.selected, run.bundle.concurrency, self._spent_budget),
            self._functions,
            lambda component: {
                label: partial(AdapterClient(each).open, (component,)) for label, each in declared[component].items()
            },
            "--plugin MODULE brings it",
        )
        self._sections: list[dict[str, Any]] = []
        self._entries: dict[str, Any] = {}
        self._outcomes: dict[str, Any] = {}
        self._contents: list[dict[str, Any]] = []

    def run(self, path: Path) -> int:
        """Run the cases of a bundle and print the results."""
        before = self._read_baseline()
        try:
            # After an interruption, the runs with other providers do not start.
            runs = self._session.prepare_runs(path)
            ended = all(self._run_bundle(run, before) for run in runs)
        finally:
            self._session.close()
        for run, built in zip(runs, self._sections, strict=False):
            if run.reference and self._outcomes.keys() >= {run.label, run.reference}:
                found = comparison.compare_runs(self._outcomes[run.reference], self._outcomes[run.label])
                built["compared"] = [{"with": run.reference, **found}, *built.get("compared", ())]
        self._write_baseline(before)
        if self._given.format == "json":
            spent = self._spent_budget.spent
            found = {"bundles": self._sections, "calls": spent.calls, "tokens": spent.tokens}
            console.say_json(found | ({"contents": self._contents} if self._contents else {}))
        else:
            for each in self._sections:
                console.say(*section.section_lines(each))
            console.say(f"used: {self._spent_budget.spent}")
        if not ended:
            return INTERRUPTED
        return FINDINGS if any(map(_has_failed, self._sections)) else FINE

    def _run_bundle(self, run: BundleRun, before: dict[str, Any]) -> bool:
        """Run a bundle with one provider; return False if it was interrupted."""
        run.selected += [case.id for case in run.cases]
        results: list[CaseResult] = []
        ended = True
        try:
            with console.ProgressLine(
                len(run.cases), lambda number: console.count_in_words(number, "case")
            ) as progress:
                for number, case in enumerate(run.cases):
                    progress.show(number, case.id)
                    results.append(run.result(case.id))
        except KeyboardInterrupt:
            ended = False
        finally:
            run.pool.abandon_cases()
        head, tape = run.head, run.asking.cassettes
        built = section.build_section(head, results, stopped=not ended)
        if self._given.format == "json":
            built["results"] = [result.numbers for result in results]
            self._contents += collect_contents(head, results) if run.options.full_files else []
        if ended:
            self._outcomes[run.label] = comparison.make_outcome(results)
        if tape is not None and head.is_whole and (unused := tape.unused_files(head.cases)):
            built["cassettes"]["unused"] = unused
        if ended and head.is_whole and self._given.baseline:
            key = comparison.baseline_key(run.bundle.path, run.label, Path(self._given.baseline))
            self._entries[key] = comparison.make_entry(results, built["metrics"])
            if not self._given.update_baseline:
                built |= comparison.compare_with_baseline(self._entries[key], before.get(key))
        self._sections.append(built)
        if self._given.format != "json":
            for result in results:
                if result.status not in (PASSED, NOT_ASKED):
                    sys.stdout.write(run.explain(result) + "\n")
        return ended

    def _budget(self) -> Budget:
        try:
            return parse(self._given.budget) if self._given.budget else Budget()
        except ValueError as error:
            raise CommandError(f"--budget {self._given.budget}: {error}") from None

    def _read_baseline(self) -> dict[str, Any]:
        if not self._given.baseline:
            return {}
        path = Path(self._given.baseline)
        try:
            return comparison.read_baseline(path) if path.exists() or not self._given.update_baseline else {}
        except comparison.BaselineError as error:
            said = str(error).replace("--corpus-bundle-update-baseline", "--update-baseline")
            raise CommandError(f"--baseline {path}: {said}") from None

    def _write_baseline(self, before: dict[str, Any]) -> None:
        if not self._given.update_baseline:
            return
        try:
            comparison.write_baseline(Path(self._given.baseline), self._entries, before)
        except OSError as error:
            raise CommandError(f"--baseline {self._given.baseline}: cannot be written: {error.strerror}") from None

    def _import_plugin(self) -> Any:
        if not self._given.plugin:
            return None
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(self._given.plugin)
        except Exception as error:  # noqa: BLE001 - foreign code
            said = f"--plugin {self._given.plugin}: cannot be imported: {type(error).__name__}: {error}"
            raise CommandError(said) from None

    def _functions(self, hook: str, file: str) -> dict[str, Any]:
        """Return the functions that the plugin's hook returns. If the hook has a parameter `config`, it gets None."""
        found = getattr(self._plugin, hook, None)
        if found is None:
            return {}

        def ask() -> list[Any]:
            config = {"config": None} if "config" in inspect.signature(found).parameters else {}
            given = found(**config)
            return [] if given is None else [given]

        return collect_functions(hook, ask, file)


def _declared_adapters(given: Iterable[str]) -> dict[str, Declaration]:
    adapters = {label or spec: spec for label, spec in map(split_label, given)}
    return {label: Declaration(label, import_factory(spec), spec) for label, spec in adapters.items()}


def _has_failed(of: Mapping[str, Any]) -> bool:
    """True if a threshold fails, or if thresholds were not judged and a case did not pass (R80)."""
    cases = of["cases"]
    bad = of["verdict"] == "not_judged" and cases["failed"] + cases["error"]
    return bool(bad) or of["verdict"] == "failed"
