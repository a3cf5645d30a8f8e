"""The changes of verdict and the regressions as an Atom feed (RFC 4287)."""

from collections.abc import Mapping
from html import escape
from itertools import islice
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pytest_corpus.reports.difference import KINDS
from pytest_corpus.reports.site.index import turns
from pytest_corpus.reports.text import VERDICT_WORDS, count, printable

MOST = 100  # entries
NONE = ("1970-01-01T00:00:00Z", "")  # the time and the digest of a feed without entries


def render(index: Mapping[str, Any], address: str) -> str:
    """The feed.

    Args:
        address: that of the site, which makes the links absolute; may be empty.
    """
    entries = list(islice(turns(index), MOST))
    times = [(run["started_at"], run["sha256"]) for adapter in index["adapters"] for run in adapter["runs"]]
    first, newest = min(times, default=NONE), max(times, default=NONE)
    listed = "".join(_entry(adapter, run, address) for adapter, run in entries)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>{_id(address or first[1])}</id>
<title>Corpus Protocol v1.0 conformance: changes</title>
<updated>{newest[0]}</updated>
<author><name>pytest-corpus</name></author>
<link rel="self" type="application/atom+xml" href="{_text(address)}feed.xml"/>
<link rel="alternate" type="text/html" href="{_text(address)}index.html"/>
{listed}</feed>
"""


def _entry(adapter: Mapping[str, Any], run: Mapping[str, Any], address: str) -> str:
    said = VERDICT_WORDS[run["verdict"]]
    if (was := VERDICT_WORDS[run["before"]["verdict"]]) != said:
        said += f" (was {was})"
    lines = [f"regression: {why}" for why in run["regression"]]
    lines += [f"{count(len(names), 'requirement')} {KINDS[kind]}" for kind, names in run["changes"].items()]
    return f"""<entry>
<id>{_id(adapter["slug"] + run["sha256"])}</id>
<title>{_text(f"{adapter['name']}: {said}")}</title>
<updated>{run["started_at"]}</updated>
<link rel="alternate" type="text/html" href="{_text(address + adapter["page"])}"/>
<summary>{_text("; ".join(lines) or said)}</summary>
</entry>
"""


def _id(name: str) -> str:
    """A URN that stays the same as long as the name does."""
    return f"urn:uuid:{uuid5(NAMESPACE_URL, name)}"


def _text(value: str) -> str:
    return escape(printable(value), quote=True)
