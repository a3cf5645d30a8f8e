"""The files of reports: one for each adapter, and the file that pytest writes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_corpus.reports.formats import FORMATS, JUNIT, suffix_of


def report_paths(asked: Path, labels: Sequence[str]) -> list[Path]:
    """The path of each adapter's report, with its label if there are several, and a number if labels look alike."""
    if len(labels) < 2:
        return [asked]
    end = len(suffix_of(asked.name, tuple(FORMATS)) or asked.suffix)
    names = [file_name_part(label) for label in labels]
    numbered = [
        f"{name}.{again + 1}" if (again := names[:number].count(name)) else name for number, name in enumerate(names)
    ]
    return [asked.with_name(f"{asked.name[:-end]}.{name}{asked.name[-end:]}") for name in numbered]


def file_name_part(label: str) -> str:
    """A label as a part of a file name."""
    return "".join(char if char.isalnum() or char in "._-" else "_" for char in label)


def switch_on_junit(config: pytest.Config, reports: Sequence[str]) -> None:
    """Let pytest write the `.junit.xml` among the reports, as with ``--junitxml``.

    pytest's plugin reads the option when it is configured, after all external plugins.

    Raises:
        pytest.UsageError: pytest cannot write such a file, or another file was requested.
    """
    paths = dict.fromkeys(path for path in reports if path.lower().endswith(JUNIT))
    given = ", ".join(f"--corpus-report={path}" for path in paths)
    if not hasattr(config.option, "xmlpath"):
        raise pytest.UsageError(f"{given}: pytest's plugin junitxml, which writes it, is switched off")
    if len(paths) > 1 or config.option.xmlpath:
        asked = f" and --junitxml={config.option.xmlpath}" if config.option.xmlpath else ""
        raise pytest.UsageError(f"{given}{asked}: pytest writes one JUnit file a run; name one")
    config.option.xmlpath = str(config.invocation_params.dir / next(iter(paths)))
