"""The pages of the site, made from its data alone."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_corpus.reports.difference import KINDS
from pytest_corpus.reports.html.page import SIGNS, TONES, choice, page, pairs, status_pill, text, top, verdict_pill
from pytest_corpus.reports.site.plot import plot
from pytest_corpus.reports.text import STATUS_SIGNS, STATUS_WORDS, VERDICT_WORDS, count
from pytest_corpus.reports.view import TONES as VERDICT_TONES
from pytest_corpus.spec.components import TITLES

TITLE = "Corpus Protocol v1.0 conformance"
UNSIGNED = "not signed: anybody can write a report with this name"
NAMED = 8  # the requirements that a change names; further ones are counted

Entry = Mapping[str, Any]


def overview(index: Entry) -> str:
    """The first page: adapters by component and by feature."""
    return page(TITLE, _overview(index))


def adapter(entry: Entry, badge: str) -> str:
    """The page of one adapter, with its badge."""
    return page(f"{entry['name']} - {TITLE}", _adapter(entry, badge))


def refused(index: Entry) -> str:
    """The page of the files that were refused."""
    return page(f"Refused - {TITLE}", _refused(index))


def _overview(index: Entry) -> Iterator[str]:
    adapters, tested = index["adapters"], _tested(index["adapters"])
    runs = count(sum(len(each["runs"]) for each in adapters), "intact run")
    yield f'{top(TITLE)}<main><h1 class="unseen">{TITLE}</h1>'
    yield f'<p>{count(len(adapters), "adapter")}, {runs}. <a href="feed.xml">Feed of changes</a> · '
    yield '<a href="data/index.json">Data</a> · '
    yield f'<a href="refused.html">{count(len(index["refused"]), "file")} refused</a></p>'
    if not adapters:
        yield "<p>No report is valid.</p></main>"
        return
    yield '<section aria-labelledby="requirements"><h2 id="requirements">Adapters</h2>'
    yield '<form id="filters" class="filters" data-rows="adapters" hidden>'
    yield '<label class="search">Search<input type="search" name="search" autocomplete="off"></label>'
    yield choice("Component", "component", [(name, TITLES[name]) for name in tested])
    met = {verdict for each in adapters for verdict in _verdicts(each)}
    yield choice("Verdict", "status", [(each, words) for each, words in VERDICT_WORDS.items() if each in met])
    yield '<button type="reset">Reset</button></form>'
    yield '<p class="count muted small"><output id="shown" role="status"></output></p>'
    titles = "".join(f'<th scope="col">{TITLES[name]}</th>' for name in tested)
    yield from _table("requirements", f'<th scope="col">Adapter</th><th scope="col">Newest run</th>{titles}', "stacked")
    for each in adapters:
        cells = "".join(_component(TITLES[name], each["components"].get(name)) for name in tested)
        newest = f"<td data-label='Newest run'>{verdict_pill(each['verdict'])}<br>{_day(each['runs'][-1])}</td>"
        yield f"{_row(each, each['components'], _verdicts(each))}{newest}{cells}</tr>"
    yield "</tbody></table></div></section>"
    yield '<h2 id="features">Features</h2><p>A feature is a chapter of the requirements; the worst status of its MUSTs '
    yield "counts.</p>"
    yield f'<ul class="legend small">{"".join(f"<li>{status_pill(status)}</li>" for status in STATUS_WORDS)}</ul>'
    for name in tested:
        yield from _features(name, [each for each in adapters if name in each["components"]])
    yield "</main>"


def _features(component: str, adapters: list[Entry]) -> Iterator[str]:
    chapters = dict.fromkeys(chapter for each in adapters for chapter in each["components"][component]["features"])
    columns = "".join(f'<th scope="col">{text(chapter)}</th>' for chapter in chapters)
    yield f'<section class="chapter" aria-labelledby="{component}"><h3 id="{component}">{TITLES[component]}</h3>'
    yield from _table(component, f'<th scope="col">Adapter</th>{columns}', "features")
    for each in adapters:
        part = each["components"][component]
        cells = "".join(_status(part["features"].get(chapter)) for chapter in chapters)
        yield f"{_row(each, [component], [part['verdict']], more=True)}{cells}</tr>"
    yield "</tbody></table></div></section>"


def _table(label: str, columns: str, kind: str = "") -> Iterator[str]:
    yield f'<div class="scroll {kind}" tabindex="0" role="region" aria-labelledby="{label}"><table>'
    yield f"<thead><tr>{columns}</tr></thead><tbody>"


def _row(each: Entry, components: Iterable[str], verdicts: Iterable[str], *, more: bool = False) -> str:
    return (
        f'<tr class="row" data-component="{" ".join(components)}" data-status="{" ".join(verdicts)}"'
        f'{" data-more=1" if more else ""}><th scope="row"><a href="{text(each["page"])}">{text(each["name"])}</a></th>'
    )


def _component(title: str, part: Entry | None) -> str:
    if part is None:
        return '<td class="absent"><span class="unseen">not tested</span></td>'
    tone = VERDICT_TONES[part["verdict"]]
    words = f'<span aria-hidden="true">{SIGNS[tone]}</span> <span class="word">{VERDICT_WORDS[part["verdict"]]}</span>'
    return f'<td class="{tone}" data-label="{title}">{words}<br>{_must(part)}<br>{_day(part)}</td>'


def _status(status: str | None) -> str:
    if status is None:
        return '<td class="absent"><span class="unseen">not in this report</span></td>'
    words = STATUS_WORDS[status]
    sign = f'<span aria-hidden="true">{STATUS_SIGNS[status]}</span><span class="unseen">{words}</span>'
    return f'<td class="{TONES[status]}" title="{words}">{sign}</td>'


def _adapter(entry: Entry, badge: str) -> Iterator[str]:
    newest = entry["runs"][-1]
    tone, words = VERDICT_TONES[entry["verdict"]], VERDICT_WORDS[entry["verdict"]]
    picture = base64.b64encode(badge.encode()).decode()
    yield f'{top(TITLE)}<main><p class="back"><a href="../../index.html">All adapters</a></p>'
    yield f'<section class="verdict {tone}" aria-labelledby="verdict"><p class="name">{text(entry["name"])}</p>'
    yield f'<h1 id="verdict"><span aria-hidden="true">{SIGNS[tone]}</span> {words[:1].upper()}{words[1:]}</h1>'
    server = " ".join(str(entry[key]) for key in ("server", "version") if key in entry)
    owner = f"verified: signed by {text(entry['owner'])}" if "owner" in entry else UNSIGNED
    facts = [
        ("Name", owner),
        ("Components", _titles(newest)),
        ("Newest run", _day(newest)),
        ("MUST satisfied", _must(newest)),
    ]
    yield pairs([*facts, *([("Server", text(server))] if server else ())], "facts")
    yield '<p><a href="report.html">Report</a> · <a href="report.json">Report as JSON</a> · '
    yield '<a href="badge.svg">Badge</a> · <a href="badge.json">Badge for shields</a></p>'
    yield f'<p><img src="data:image/svg+xml;base64,{picture}" class="badge" alt="Badge: {text(words)}"></p></section>'
    yield '<section aria-labelledby="history"><h2 id="history">MUSTs satisfied over time</h2>'
    yield from plot(entry["runs"])
    yield '</section><section aria-labelledby="runs"><h2 id="runs">Runs</h2>'
    columns = ("Started", "Verdict", "MUST satisfied", "Since the run before")
    yield from _table("runs", "".join(f'<th scope="col">{column}</th>' for column in columns), "stacked")
    for run in reversed(entry["runs"]):
        commit = f'<br><code class="muted">{text(run["commit"][:10])}</code>' if "commit" in run else ""
        yield (
            f'<tr><th scope="row">{text(run["started_at"][:16].replace("T", " "))}{commit}</th><td>'
            f'{verdict_pill(run["verdict"])}</td><td data-label="{columns[2]}">{_must(run)}<br>'
            f'<span class="small">{_titles(run)}</span></td>'
            f'<td class="wrapped">{"<br>".join(_changes(run))}</td></tr>'
        )
    yield "</tbody></table></div></section></main>"


def _changes(run: Entry) -> Iterator[str]:
    if "before" not in run:
        yield "first run"
        return
    if run["regression"]:
        yield f"<strong>✗ regression:</strong> {text('; '.join(run['regression']))}"
    for kind, names in run["changes"].items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"{KINDS[kind]}: {text(', '.join(names[:NAMED]))}{more}"
    if not run["changes"] and not run["regression"]:
        yield "no changes"


def _refused(index: Entry) -> Iterator[str]:
    yield f'{top(TITLE)}<main><p class="back"><a href="index.html">All adapters</a></p><h1 class="unseen">Refused</h1>'
    yield "<p>A report counts if <code>pytest-corpus report verify</code> accepts it on the day of its run.</p>"
    yield '<section aria-labelledby="refused"><h2 id="refused">Files</h2><ul class="stack">'
    for each in index["refused"]:
        why = "".join(f"<li>{text(fault)}</li>" for fault in each["why"][:NAMED])
        more = f"<li>and {len(each['why']) - NAMED} more</li>" if len(each["why"]) > NAMED else ""
        yield f'<li class="card"><h3>{text(each["file"])}</h3><ul class="tests">{why}{more}</ul></li>'
    yield f"</ul>{'' if index['refused'] else '<p>None.</p>'}</section></main>"


def _tested(adapters: list[Entry]) -> list[str]:
    return [name for name in TITLES if any(name in each["components"] for each in adapters)]


def _verdicts(each: Entry) -> dict[str, None]:
    return dict.fromkeys((each["verdict"], *(part["verdict"] for part in each["components"].values())))


def _titles(run: Entry) -> str:
    return ", ".join(TITLES[name] for name in run["components"])


def _must(part: Entry) -> str:
    return f"{part['must']['satisfied']} / {part['must']['applicable']}"


def _day(run: Entry) -> str:
    return f'<span class="small">{text(run["started_at"][:10])}</span>'
