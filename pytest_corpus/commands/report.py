"""`pytest-corpus report`: merge, combine, compare, sign, verify and render written reports."""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands import _reports as written
from pytest_corpus.commands import _signing as signing
from pytest_corpus.reports import badges, difference, formats, matrix
from pytest_corpus.reports.checking import combining, verification
from pytest_corpus.reports.markdown import comment
from pytest_corpus.reports.signing import dsse, keyless
from pytest_corpus.reports.text import printable
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.verdict.deviations import today


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions, each with its own arguments."""
    action = console.add_actions(parser)
    merge = action("merge", "compare several reports in one table of requirements and verdicts", _merge)
    merge.add_argument("reports", nargs="+", metavar="FILE", help="a JSON report")
    _add_output(merge, formats.MATRIX_FORMATS, "without it the verdicts and what is not satisfied are printed")
    merge.add_argument("--allow-mixed", action="store_true", help="merge reports of different catalogue versions too")

    combine = action("combine", "join the reports of all shards of one suite", _combine)
    combine.add_argument("reports", nargs="+", metavar="FILE", help="the JSON report of a shard")
    _add_output(combine, tuple(formats.FORMATS))

    diff = action("diff", "changes between two reports; exit code 1 on a regression", _diff)
    earlier = "the earlier JSON report; with --format markdown it may be left out"
    diff.add_argument("old", metavar="OLD", nargs="?", help=earlier)
    diff.add_argument("new", metavar="NEW", help="the later JSON report")
    level = "level from which a new violation is a regression (default: that of the run NEW)"
    diff.add_argument("--level", choices=("must", "should"), default="", help=level)

    check = action("check", "check that a report is complete, unaltered and still valid; exit code 1 if not", _check)
    check.add_argument("report", metavar="FILE", help="a JSON report, or with --public-key its signed statement")
    check.add_argument("--public-key", metavar="PEM", help="Ed25519 key that must have signed it")
    check.add_argument("--identity", metavar="ADDRESS", help="identity of the CI job that must have signed it")
    issuer = "who vouches for the identity (default: GitHub or GitLab, by its address)"
    check.add_argument("--issuer", metavar="URL", help=issuer)
    given = "the signed statement; default: FILE with .dsse.json or .sigstore.json"
    check.add_argument("--signature", metavar="PATH", help=given)

    sign = action("sign", "write the in-toto statement of a report in a signed DSSE envelope", _sign)
    sign.add_argument("report", metavar="FILE", help="a JSON report that `check` accepts")
    by = sign.add_mutually_exclusive_group(required=True)
    key = "the Ed25519 key to sign with, PKCS #8 in PEM: a file, - for stdin, or env://VARIABLE"
    by.add_argument("--key", metavar="PEM", help=key)
    by.add_argument("--keyless", action="store_true", help="sign by the identity of this CI job, with Sigstore")
    console.add_output_argument(sign, "the file to write; default: as `check` looks for it")

    badge = action("badge", "render the verdict of a report as a badge", _badge)
    badge.add_argument("report", metavar="FILE", help="a JSON report")
    _add_output(badge, formats.BADGES, "without it the words of the badge are printed")

    render = action("render", "render a report in another format", _render)
    render.add_argument("report", metavar="FILE", help="a JSON report")
    _add_output(render, tuple(formats.FORMATS))
    render.add_argument("--since", metavar="OLD", help="an earlier JSON report: .html shows the changes since")

    console.add_format_argument(diff, markdown="the body of a comment on a pull request")
    for each in (merge, combine, check, sign, badge, render):
        console.add_format_argument(each)


def _add_output(parser: argparse.ArgumentParser, known: written.Suffixes, otherwise: str = "") -> None:
    text = "; ".join(filter(None, (f"the file to write, {formats.list_suffixes(known)}", otherwise)))
    console.add_output_argument(parser, text, required=not otherwise)


def _merge(given: argparse.Namespace) -> int:
    target = written.output_target(given.output, formats.MATRIX_FORMATS)
    found = [(Path(name).name, written.read_named_report(name)) for name in given.reports]
    links = [_link_to(Path(name), target[0]) for name in given.reports] if target else ()
    merged = matrix.build_matrix(found, allow_mixed=given.allow_mixed, links=links)
    if said := matrix.mixed_editions(merged):
        sys.stderr.write(f"warning: {said}\n")
    if target is None:
        suffix = ".json" if given.format == "json" else ".md"
        rest = ""
        if suffix == ".md":
            merged["chapters"] = matrix.keep_unsatisfied_rows(merged["chapters"])
            rest = "\nWhat every adapter satisfies is left out; -o matrix.md or matrix.html has all.\n"
        return _say(formats.render(merged, suffix, formats.MATRIX_FORMATS) + rest)
    return _write(given, formats.render(merged, target[1], formats.MATRIX_FORMATS), target[0])


def _combine(given: argparse.Namespace) -> int:
    target = written.output_target(given.output, formats.FORMATS)
    assert target is not None
    whole = combining.combine_reports(
        [(Path(name).name, written.read_named_report(name)) for name in given.reports], shipped_tests
    )
    return _write(given, formats.render(whole, target[1]), target[0], verdict=whole["verdict"])


def _link_to(report: Path, target: Path) -> str:
    """Return the relative link from a matrix to a report, or to the report's HTML page next to it, if there is one."""
    page = report.with_suffix(".html")
    found = page if page.is_file() and page.resolve() != target.resolve() else report
    try:
        return quote(Path(os.path.relpath(found.resolve(), target.resolve().parent)).as_posix())
    except ValueError:  # on another drive
        return quote(found.name)


def _diff(given: argparse.Namespace) -> int:
    new = written.read_named_report(given.new)
    if given.old is None and given.format != "markdown":
        raise CommandError("name the earlier report too: report diff OLD NEW")
    old = None if given.old is None else written.read_named_report(given.old)
    found = None if old is None else difference.compare_reports(old, new, given.level)
    if given.format == "markdown":
        _say(comment.render(new, found))
    elif found is not None:
        console.print_result(given, found, *difference.describe_changes(found).splitlines())
    return FINDINGS if found is not None and found["regression"] else FINE


def _check(given: argparse.Namespace) -> int:
    if given.public_key or given.identity:
        return _check_signed(given)
    if given.signature or given.issuer or signing.is_signed(given.report):
        raise CommandError("say with --public-key or --identity whose the signature must be")
    name, faults = printable(given.report), _verification_faults(given.report)
    lines = [f"{name}: {fault}" for fault in faults] or [f"{name}: whole and unaltered"]
    console.print_result(given, {"file": name, "valid": not faults, "faults": faults}, *lines)
    return FINDINGS if faults else FINE


def _check_signed(given: argparse.Namespace) -> int:
    """Check a report and its signed statement; the user may name either of them."""
    if given.public_key and given.identity:
        raise CommandError("name a key with --public-key or an identity with --identity, not both")
    by_key = given.public_key is not None
    signer = signing.key_signer(given.public_key) if by_key else signing.identity_signer(given.identity, given.issuer)
    result = signing.check_signature(given.report, given.signature, signer, _verification_faults)
    file = printable(given.report)
    facts = {"file": file, "valid": not result.faults, "faults": result.faults, "signed": result.signed}
    console.print_result(given, facts, *result.faults, *signing.describe_signature(result, signer).splitlines())
    return FINDINGS if result.faults else FINE


def _sign(given: argparse.Namespace) -> int:
    signing.require_package(*(("sigstore", "sigstore") if given.keyless else ("cryptography", "sign")))
    key = None if given.keyless else signing.read_private_key(given.key)
    suffix = keyless.SUFFIX if given.keyless else dsse.SUFFIX
    target = signing.statement_target(given.report, given.output, given.key or given.report, suffix)
    if faults := _verification_faults(given.report):
        said = [f"{printable(given.report)}: {fault}" for fault in faults]
        console.print_result(given, {"written": None, "faults": faults}, *said)
        sys.stderr.write("nothing was signed: a signature vouches for a report that `report check` accepts\n")
        return FINDINGS
    payload = formats.render(written.read_named_report(given.report), ".intoto.json").encode(
        "utf-8", "backslashreplace"
    )
    if key is not None:
        return _write(given, dsse.sign_payload(payload, key), target, keyid=dsse.key_id(key.public_key()))
    try:
        return _write(given, keyless.sign_payload(payload), target)
    except dsse.EnvelopeError as error:
        raise CommandError(f"{printable(given.report)}: {printable(str(error))}") from None


def _verification_faults(name: str) -> list[str]:
    return verification.find_faults(Path(name), today(), shipped_tests)


def shipped_tests(component: str, profile: str) -> Mapping[str, str]:
    """Return the tests of a component in this version's suite, with their requirements. Imports pytest."""
    from pytest_corpus.suites import inventory

    return inventory.tests(component, profile)


def _badge(given: argparse.Namespace) -> int:
    target = written.output_target(given.output, formats.BADGES)
    document = written.read_named_report(given.report)
    if target is not None:
        return _write(given, formats.render(document, target[1]), target[0])
    if given.format == "json":
        return _say(badges.render_endpoint(document))
    return _say(f"{document['spec']['protocol']}: {badges.verdict_text(document)}\n")


def _render(given: argparse.Namespace) -> int:
    target = written.output_target(given.output, formats.FORMATS)
    assert target is not None
    if given.since and target[1] not in (comparing := formats.comparison_suffixes()):
        raise CommandError(f"--since: only {formats.list_suffixes(comparing)} shows what changed since another report")
    earlier = difference.EarlierReport.of(written.read_named_report(given.since)) if given.since else None
    return _write(given, formats.render(written.read_named_report(given.report), target[1], earlier=earlier), target[0])


def _write(given: argparse.Namespace, text: str, path: Path, **more: str) -> int:
    name = printable(str(path))
    try:
        write_atomically(text, path)
    except OSError as error:
        raise CommandError(f"{name} could not be written: {error.strerror}") from None
    document = {"written": name, **more}
    console.print_result(given, document, *(f"{what}: {value}" for what, value in document.items()))
    return FINE


def _say(text: str) -> int:
    sys.stdout.write(text)
    return FINE
