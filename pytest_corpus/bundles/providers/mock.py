"""A provider without a model: it answers from a script, or with the expected answers (R79)."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.errors import BundleError, BundleProblem, suggestion
from pytest_corpus.bundles.loading.bundle import Bundle, default_id, read_lines
from pytest_corpus.bundles.loading.files import display_path
from pytest_corpus.bundles.matching import as_text, name_type
from pytest_corpus.bundles.providers.protocol import Answer, BundleProvider, CompletionRequest, ProviderError
from pytest_corpus.spec.errors import BY_CODE, TAXONOMY

KEYS = ("id", "input", "output", "error", "retry_after_ms", "delay_ms", "finish_reason")


class MockProvider(BundleProvider):
    """Answers from a script; without a script, answers with the case's `expected_output`."""

    label = "mock"

    def __init__(self, script: Path | None = None) -> None:
        self._script = _read_script(script) if script is not None else None
        self._calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def complete(self, request: CompletionRequest) -> Answer:
        if self._script is None:
            if not request.has_expected:
                said = "mock has neither a script nor an expected_output to echo"
                raise ProviderError("NotSupported", said, is_own=True)
            return Answer(as_text(request.expected))
        line = self._next(request)
        if delay := line.get("delay_ms", 0):
            time.sleep(delay / 1000)
        if "error" in line:
            code = line["error"]
            name = BY_CODE[code].name if code in BY_CODE else code
            raise ProviderError(name, "from the script", line.get("retry_after_ms"), is_own=True)
        return Answer(as_text(line["output"]), line.get("finish_reason", "stop"))

    def _next(self, request: CompletionRequest) -> Mapping[str, Any]:
        """Return the script line for this call. The lines of a case answer its calls in order; the last one repeats."""
        assert self._script is not None
        key = request.case if request.case in self._script else f"input {default_id(request.input)}"
        lines = self._script.get(key)
        if not lines:
            raise ProviderError("NotSupported", f"the script has no line for the case {request.case!r}", is_own=True)
        with self._lock:
            number = self._calls[request.case]
            self._calls[request.case] += 1
        return lines[min(number, len(lines) - 1)]


def check_scripts(bundle: Bundle) -> None:
    """Check the scripts of a bundle, its variants and its judges. Raises BundleError if one is not valid."""
    choices = [each.provider for each in bundle.variant_bundles]
    choices += [scorer.rubric.provider for scorer in bundle.contract.scorers if scorer.rubric is not None]
    for script in dict.fromkeys(choice.script for choice in choices if choice is not None and choice.script):
        _read_script(script)


def _read_script(path: Path) -> dict[str, list[Mapping[str, Any]]]:
    """Read a script: for each case, its lines in order."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    problems = []
    for number, value, flaw in read_lines(path):
        if said := flaw or _line_fault(value):
            problems.append(BundleProblem(display_path(path), said, number))
        else:
            key = value["id"] if "id" in value else f"input {default_id(value['input'])}"
            found.setdefault(key, []).append(value)
    if problems:
        raise BundleError(problems)
    return found


def _line_fault(value: Any) -> str:
    if not isinstance(value, dict):
        return f"is {name_type(value)}, and must be an object"
    for key in value:
        if key not in KEYS:
            return f"unknown key {key!r}; {suggestion(key, KEYS)}"
    if ("id" in value) == ("input" in value) or ("output" in value) == ("error" in value):
        return "needs 'id' or 'input', and 'output' or 'error'"
    if "error" in value and value["error"] not in BY_CODE and value["error"] not in TAXONOMY:
        return f"'error' is {value['error']!r}; {suggestion(str(value['error']), BY_CODE)}"
    for key in ("retry_after_ms", "delay_ms"):
        number = value.get(key, 0)
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            return f"{key!r} must be a number that is not negative"
    return ""
