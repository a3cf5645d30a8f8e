"""pytest's own JUnit file, which carries id, level and status of each requirement as properties."""

from collections.abc import Sequence

import pytest

from pytest_corpus.reports.formats import JUNIT


def switch_on(config: pytest.Config, reports: Sequence[str]) -> None:
    """Let pytest write the `.junit.xml` among the reports, as with ``--junitxml``.

    pytest's plugin reads the option when it is configured, which is after every plugin that is not its own.

    Raises:
        pytest.UsageError: pytest can write no such file, or another one was asked for.
    """
    paths = dict.fromkeys(path for path in reports if path.lower().endswith(JUNIT))
    given = ", ".join(f"--corpus-report={path}" for path in paths)
    if not hasattr(config.option, "xmlpath"):
        raise pytest.UsageError(f"{given}: pytest's plugin junitxml, which writes it, is switched off")
    if len(paths) > 1 or config.option.xmlpath:
        asked = f" and --junitxml={config.option.xmlpath}" if config.option.xmlpath else ""
        raise pytest.UsageError(f"{given}{asked}: pytest writes one JUnit file a run; name one")
    config.option.xmlpath = str(config.invocation_params.dir / next(iter(paths)))
