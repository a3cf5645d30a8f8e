"""`pytest-corpus site`: write a static site over many attestations."""

import argparse
from contextlib import suppress
from pathlib import Path

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands import _signing as signing
from pytest_corpus.commands.report import shipped_tests
from pytest_corpus.redaction import printable
from pytest_corpus.reports.signing import dsse, intoto
from pytest_corpus.reports.site import building, index, sources
from pytest_corpus.reports.site.index import Memory, examine_sources
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import write_folder
from pytest_corpus.verdict.deviations import today


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("reports", metavar="DIR", help="a folder with JSON reports, at any depth")
    console.add_output_argument(parser, "a new folder, or that of an earlier site", "DIR", required=True)
    history = "count every version of the reports in the git history of DIR too"
    parser.add_argument("--history", action="store_true", help=history)
    url = "address of the published site, for absolute links in its feed"
    parser.add_argument("--url", metavar="URL", default="", help=url)
    signer = "Ed25519 key of a known signer; repeatable. Who signed the first report with a name owns it"
    parser.add_argument("--public-key", action="append", default=[], metavar="PEM", help=signer)
    identity = "identity of a CI job that is a known signer; repeatable"
    parser.add_argument("--identity", action="append", default=[], metavar="ADDRESS", help=identity)
    console.add_format_argument(parser)


def run(given: argparse.Namespace) -> int:
    """Verify new reports and write the site. The exit code is 1 if no report is valid."""
    folder, target = Path(given.reports), Path(given.output)
    memory = _read_memory(target)
    found = _find_sources(folder, target, history=given.history)
    statements = _read_statements(given, folder, target.resolve())
    examined = []
    with console.ProgressLine(len(found), lambda done: f"{done}") as progress:
        for each in examine_sources(found, memory, today(), shipped_tests, statements):
            examined.append(each)
            progress.show(len(examined), "reports checked")
    data, runs = index.build_index(examined)
    refused = len(data["refused"])
    address = given.url and given.url.rstrip("/") + "/"
    try:
        write_folder(building.render_files(data, runs, examined, address), target, replace=True)
    except OSError as error:
        raise CommandError(f"{printable(str(target))} could not be written: {error.strerror}") from None
    numbers = {"adapters": len(runs), "runs": sum(map(len, runs.values())), "refused": refused}
    code = FINE if runs else FINDINGS
    if given.format == "json":
        console.say_json({"written": printable(str(target)), **numbers})
        return code
    adapters, all_runs = (console.count_in_words(numbers[key], key[:-1]) for key in ("adapters", "runs"))
    console.say(f"written: {target}: {adapters}, {all_runs}")
    if refused:
        none = "" if runs else "; no report is valid"
        console.warn(f"pytest-corpus site: {console.count_in_words(refused, 'file')} refused: see refused.html{none}")
    return code


def _read_statements(given: argparse.Namespace, folder: Path, target: Path) -> dict[str, list[tuple[bytes, str]]]:
    """Return the statements of known signers, by the SHA-256 of the report; other statements are ignored."""
    found: dict[str, list[tuple[bytes, str]]] = {}
    signers = [
        *map(signing.key_signer, given.public_key),
        *(signing.identity_signer(each, None) for each in given.identity),
    ]
    for signer in signers:
        for path in sources.find_statements(folder, target, signer.suffix):
            with suppress(bounded.FileRefused, dsse.EnvelopeError, ValueError):
                payload = signer.open_payload(bounded.read_contents(path))
                found.setdefault(intoto.read_claims(payload)["report_sha256"], []).append((payload, signer.by))
    return found


def _read_memory(target: Path) -> Memory:
    name = printable(str(target))
    try:
        taken = target.exists() and any(path.name[:1] != "." for path in target.iterdir())
    except OSError as error:
        raise CommandError(f"-o {name}: it cannot be read as a folder: {error.strerror}") from None
    memory = building.read_memory(target)
    if taken and memory is None:
        raise CommandError(f"-o {name}: the folder is neither empty nor an earlier site; name another one")
    return memory or {}


def _find_sources(folder: Path, target: Path, *, history: bool) -> list[sources.ReportSource]:
    if not folder.is_dir():
        raise CommandError(f"there is no folder {printable(str(folder))}")
    found = sources.find_files(folder, target.resolve())
    if history:
        found += sources.find_versions(folder)
        if sources.is_shallow(folder):
            console.warn("pytest-corpus site: the clone is shallow; fetch its whole history (fetch-depth: 0)")
    if not found:
        raise CommandError(f"there is no JSON report below {printable(str(folder))}")
    return found
