"""The HTML pages of the site, which depend on its data only."""

import base64
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reports.html.page import render_page
from pytest_corpus.reports.site.plot import plot_history
from pytest_corpus.reports.text import VERDICT_WORDS
from pytest_corpus.spec.components import TITLES

TITLE = "Corpus Protocol v1.0 conformance"

Entry = Mapping[str, Any]


def render_overview(index: Entry) -> str:
    """Return the first page: adapters by component and by feature."""
    adapters = index["adapters"]
    tested = [name for name in TITLES if any(name in each["components"] for each in adapters)]
    met = {verdict for each in adapters for verdict in _verdicts(each)}
    return render_page(
        "overview.html",
        TITLE,
        adapters=adapters,
        refused=index["refused"],
        tested=tested,
        verdicts=[(verdict, words) for verdict, words in VERDICT_WORDS.items() if verdict in met],
        verdicts_of=_verdicts,
        features=[_features(name, [each for each in adapters if name in each["components"]]) for name in tested],
    )


def render_adapter(entry: Entry, badge: str) -> str:
    """Return the page of one adapter, with its badge (SVG)."""
    picture = base64.b64encode(badge.encode()).decode()
    given = {"heading": TITLE, "entry": entry, "picture": picture, "plot": plot_history(entry["runs"])}
    return render_page("adapter.html", f"{entry['name']} - {TITLE}", **given)


def render_refused(index: Entry) -> str:
    """Return the page of the refused files."""
    return render_page("refused.html", f"Refused - {TITLE}", heading=TITLE, refused=index["refused"])


def _features(component: str, adapters: list[Entry]) -> tuple[str, list[str], list[Entry]]:
    chapters = dict.fromkeys(chapter for each in adapters for chapter in each["components"][component]["features"])
    return component, list(chapters), adapters


def _verdicts(each: Entry) -> list[str]:
    return list(dict.fromkeys((each["verdict"], *(part["verdict"] for part in each["components"].values()))))
