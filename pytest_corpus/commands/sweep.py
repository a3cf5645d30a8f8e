"""`pytest-corpus sweep`: delete the data that earlier runs left in an adapter's store."""

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening import address
from pytest_corpus.adapter.opening.factory import import_factory, spec_of, split_label
from pytest_corpus.adapter.opening.remote import RemoteFactory
from pytest_corpus.adapter.transports.protocol import CREDENTIALS
from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._pytest import add_header_argument, connection_settings
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.store import leftovers, sweeping
from pytest_corpus.kit.store.leftovers import FOLDER, Leftovers, began_at
from pytest_corpus.reports.text import count_in_words

STORES = ("vector", "graph")  # the components that store data
IN_A_FILE = re.compile(r".*\.py(: |::)")  # an adapter that a conftest.py or a test module declares
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
RECENT_S = 3600  # a younger run without a journal here may still be in progress on another machine


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the adapter and the selection of runs."""
    parser.add_argument("--adapter", required=True, metavar="SPEC", help="as for --corpus-adapter")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--run", metavar="ID", help="only this run, by the id that its header and reports show")
    chosen.add_argument(
        "--older-than", metavar="TIME", help="only runs that began before this time: 90s, 30m, 1h or 7d"
    )
    console.add_component_argument(parser, STORES, "only this component's store", several=True)
    add_header_argument(parser)
    parser.add_argument("--folder", default=".", metavar="DIR", help="where pytest was started (default: here)")


def run(given: argparse.Namespace) -> int:
    """Delete the data that earlier runs left, and print what remains."""
    before = _age_limit(given)
    files, going = _select_journals(Path(given.folder) / FOLDER, given, before)
    with _open_adapter(given) as client:
        components = [name for name in given.component or STORES if client.instance.has_handler(name)]

        def send(envelope: object, component: str) -> Reply:
            reply = Reply(client.send(envelope, component))
            fault = reply.exchange.fault
            if (fault is not None and fault.wants_credentials) or (client.remote and reply.is_a("AuthError")):
                said = fault.text if fault is not None else "the answer is AuthError"
                raise DeclarationError(client.declaration.declared, said, f"{CREDENTIALS}, or give --header")
            return reply

        patient = sweeping.retry_when_asked(send)
        clean, tried = True, {left.run for _, left in files} | going
        for path, left in files:
            clean = _delete_leftovers(left, components, patient) and clean
            if not left.names:
                leftovers.remove_file(path)
        for name, left in sweeping.list_leftovers(components, patient).items():
            if name not in tried and _is_selected(name, given, before if given.older_than else time.time() - RECENT_S):
                tried.add(name)
                clean = _delete_leftovers(left, components, patient) and clean
    if not tried:
        what = f"of the run {given.run}" if given.run else "of an earlier run of this adapter"
        console.say(f"there is no record {what} in {Path(given.folder) / FOLDER}, and the adapter lists nothing of it")
    return FINE if clean else FINDINGS


def _delete_leftovers(left: Leftovers, components: Sequence[str], send: sweeping.Send) -> bool:
    """Delete the data of a run in some components and print the result; return True if nothing remains."""
    others = {place: left.names.pop(place) for place in list(left.names) if place[0] not in components}
    gone, absent = sweeping.sweep(left, send)
    still = [name for names in left.names.values() for name in names]
    missing = f", {absent} {'was' if absent == 1 else 'were'} not there" if absent else ""
    console.say(f"run {left.run}: {count_in_words(gone, 'item')} deleted{missing}")
    if still:
        shown = ", ".join(sorted(still)[:5])
        console.say(f"run {left.run}: {count_in_words(len(still), 'item')} could not be deleted: {shown}")
    left.names.update(others)
    return not still


def _age_limit(given: argparse.Namespace) -> float:
    if given.run is not None and began_at(given.run) is None:
        raise CommandError(f"--run={given.run}: use the id of a run, such as k3f9tm6l3k")
    if given.older_than is None:
        return float("inf")
    parsed = re.fullmatch(r"(\d+)([smhd])", given.older_than)
    if parsed is None:
        raise CommandError(f"--older-than={given.older_than}: use a time such as 90s, 30m, 1h or 7d")
    return time.time() - int(parsed[1]) * UNITS[parsed[2]]


def _is_selected(name: str, given: argparse.Namespace, before: float) -> bool:
    return name == given.run if given.run else (began_at(name) or 0.0) < before


def _select_journals(
    folder: Path, given: argparse.Namespace, before: float
) -> tuple[list[tuple[Path, Leftovers]], set[str]]:
    """Return the selected journals, and the ids of runs in progress. A run in progress needs --run to be selected."""
    found = [(path, left) for path in sorted(folder.glob("*.jsonl")) if (left := leftovers.read_file(path)) is not None]
    found = [(path, left) for path, left in found if _is_selected(left.run, given, before)]
    own = _own_journals(found, given)
    going = {left.run for path, left in own if not given.run and leftovers.is_in_use(path)}
    for name in sorted(going):
        console.warn(f"run {name} is still going; name it with --run to delete what it made")
    for run, adapter in sorted({(left.run, left.adapter) for _, left in found} - {(x.run, x.adapter) for _, x in own}):
        console.warn(f"run {run} tested {adapter}, which is another adapter: what it left there stays")
    return [(path, left) for path, left in own if left.run not in going], going


def _own_journals(found: list[tuple[Path, Leftovers]], given: argparse.Namespace) -> list[tuple[Path, Leftovers]]:
    """Return the journals of runs that tested this adapter, by its name or factory.

    A run that tested only one adapter is also included if the user named the run, or if a file declared its adapter.
    """
    spec = split_label(given.adapter)[1]
    is_address = address.scheme_of(spec) is not None
    names = {address.parse(spec).shown} if is_address else {spec, spec_of(import_factory(spec))}
    own = [(path, left) for path, left in found if names & {left.adapter, left.factory} - {""}]
    adapters: dict[str, set[str]] = {}
    for _, left in found:
        adapters.setdefault(left.run, set()).add(left.adapter)
    certain = {left.run for _, left in own}
    alone = [
        (path, left)
        for path, left in found
        if left.run not in certain and len(adapters[left.run]) == 1 and (given.run or IN_A_FILE.match(left.adapter))
    ]
    if given.run and found and not (own or alone):
        raise CommandError(f"--run={given.run}: it tested several adapters; name one as it was declared")
    return own + alone


@contextmanager
def _open_adapter(given: argparse.Namespace) -> Iterator[AdapterClient]:
    label, spec = split_label(given.adapter)
    settings = connection_settings(given.header)
    if address.scheme_of(spec):
        parsed = address.parse(spec)
        remote = RemoteFactory(parsed, settings.connection())
        remote.check()
        startup_s = remote.connection.startup_s
        declaration = Declaration(label or spec, remote, parsed.shown, in_process=False, startup_s=startup_s)
    else:
        declaration = Declaration(label or spec, import_factory(spec), spec)
    client = AdapterClient(declaration, settings.call_timeout_s()).open(STORES)
    try:
        yield client
    finally:
        client.close()
