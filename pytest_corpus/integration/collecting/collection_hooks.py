"""Hooks that collect the suite of each adapter, record the expected tests, and start long tests first."""

from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pytest_corpus import resources
from pytest_corpus.integration.collecting import nodes as collect
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.declaring.declaration_hooks import DeclarationHooks
from pytest_corpus.integration.declaring.properties import REORDERED, USAGE_ERROR
from pytest_corpus.integration.declaring.state import RunState
from pytest_corpus.integration.declaring.suite import Suite
from pytest_corpus.integration.running.surroundings import name_suspects
from pytest_corpus.spec.components import ROWS
from pytest_corpus.verdict.ledger import ledger_key

LONG = {
    "test_a_bad_item_does_not_decide_of_the_others": "mixed",
    "test_a_crowd_does_not_push_out_what_meets_the_filter": "",
    "test_a_feature_that_is_not_offered_is_refused_permanently": "",
    "test_a_hanging_provider_ends_in_a_deadline": "",
    "test_a_hanging_stream_ends_in_a_deadline": "",
    "test_a_key_elsewhere_is_another_write": "replays",
    "test_a_key_of_another_tenant_is_another_write": "replays",
    "test_a_key_outlasts_fifty_others_and_five_seconds": "replays",
    "test_a_key_outlasts_ten_others": "replays",
    "test_a_longer_text_never_has_fewer_tokens": "",
    "test_a_replay_applies_once": "replays",
    "test_a_replay_changes_nothing": "replays",
    "test_a_tenant_hash_is_one_in_all_operations": "canaries",
    "test_a_write_that_failed_can_be_sent_again": "replays",
    "test_a_write_that_is_sent_twice_at_once_asks_the_provider_once": "",
    "test_an_expired_stream_is_one_error": "",
    "test_any_sequence_leaves_what_it_should": "",
    "test_any_sequence_of_writes_adds_up": "",
    "test_bad_items_of_two_kinds_do_not_decide_of_the_others": "mixed",
    "test_calls_at_the_same_time_do_not_disturb_each_other": "",
    "test_concurrent_operations_on_the_same_ids": "concurrent",
    "test_concurrent_operations_on_the_same_nodes": "concurrent",
    "test_deleted_edges_are_gone": "edges",
    "test_every_call_comes_to_an_end": "",
    "test_every_list_of_texts_keeps_its_order": "",
    "test_health_does_not_hang_with_its_provider": "",
    "test_keys_that_resemble_each_other_are_two": "replays",
    "test_no_content_in_debug_records": "canaries",
    "test_no_content_leaves": "canaries",
    "test_no_exception_escapes": "",
    "test_numbers_that_are_not_finite_are_refused": "numbers",
    "test_the_beginnings_of_a_sentence_count_less": "",
    "test_the_budget_is_one_for_all_items": "",
    "test_the_budget_of_a_stream_is_one_for_all_its_chunks": "",
    "test_the_trace_is_handed_on_unchanged": "",
}
"""Long tests: they make many calls, or wait for a deadline. Tests with the same word, if any, share calls or data."""

T = TypeVar("T")


def interleave(items: Sequence[T], names: Sequence[str], workers: int) -> list[T]:
    """Return the items in an order in which each worker gets an equal part that begins with long tests.

    Other tests keep their order, so that neighbours that share facts run on one worker. Long tests that share calls are
    in the same part.

    Args:
        names: for each item its suite and the name of its function, joined by a dot.
    """
    groups: dict[object, list[T]] = {}
    short: list[T] = []
    for item, name in zip(items, names, strict=True):
        suite, _, function = name.rpartition(".")
        word = LONG.get(function)
        group = short if word is None else groups.setdefault((suite, word) if word else len(groups), [])
        group.append(item)
    dealt, rest = sorted(groups.values(), key=len, reverse=True), iter(short)
    order: list[T] = []
    left = len(items)
    for worker in range(workers):
        size = left // (workers - worker)
        left -= size
        part = list(chain.from_iterable(dealt[worker::workers]))[:size]
        order += part
        order += [item for _, item in zip(range(size - len(part)), rest, strict=False)]
    placed = set(map(id, order))
    return [*order, *(item for item in items if id(item) not in placed)]


class CollectionHooks:
    """The plugin that adds the suites to pytest's collection."""

    def __init__(self, state: RunState, declaring: DeclarationHooks) -> None:
        self.state, self.declaring = state, declaring
        self._elsewhere: set[pytest.Item] = set()
        self._unusable = ""

    def collect_conftest(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Return the collector of the suite for the adapter that a conftest.py declares, or None."""
        adapter = self.declaring.adapter_of_conftest(path)
        return None if adapter is None else _make_anchor(self.state.open(adapter), parent, path=path)

    def collect_suites(self, found: dict[str, Suite], parent: pytest.Collector) -> list[pytest.Collector]:
        """Return the collectors of the suites that a test module declares."""
        self.declaring.start()
        nodes: list[pytest.Collector] = []
        for name, declared in found.items():
            where = f"{parent.nodeid}::{name}"
            adapter = self.state.open(self.declaring.declare(declared.factory, where, declared.label or name))
            node: collect.SuiteNode = collect.SuiteNode.from_parent(parent, name=name)
            node.adapter = adapter
            nodes.append(node)
        return nodes

    def report_unusable(self, report: pytest.CollectReport, error: pytest.Collector.CollectError) -> None:
        """Report that the declaration in a module cannot be used; a worker then ends with this message."""
        report.outcome, report.longrepr = "failed", str(error)
        setattr(report, USAGE_ERROR, True)
        if self.state.worker is not None:
            self._unusable = self.state.unusable_message(error)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        self.declaring.start()
        several = len(self.state.by_option) > 1
        for adapter in self.state.by_option:
            root = f"corpus[{adapter.label}]" if several else "corpus"
            anchor = _make_anchor(adapter, session, path=resources.package("suites/__init__.py"), nodeid=root)
            anchor.separator = "/"
            items.extend(item for item in session.genitems(anchor) if self._is_selected_by_id(item, adapter))
        items.extend(self._tests_of_missed_conftests(session, items))
        self._record_expected_tests({own[0].label for item in items if (own := collect.owner(item))})
        self._select_items(items)
        items[:] = collect.put_foundations_first(items)
        items.sort(key=_position)
        if (worker := self.state.worker) is not None and worker.get(REORDERED):
            items[:] = interleave(items, list(map(_qualified_name, items)), worker["workercount"])

    def _is_selected_by_id(self, item: pytest.Item, adapter: Adapter) -> bool:
        """True if the command line selects a test by its id, or contains no ids."""
        named = self.state.named
        return not named or any(each.selects(adapter.label, collect.name_of_test(item)) for each in named)

    def _tests_of_missed_conftests(self, session: pytest.Session, items: list[pytest.Item]) -> Iterable[pytest.Item]:
        """If pytest was started without paths, return the tests of adapters with a conftest.py above the test paths."""
        if self.state.config.args_source is pytest.Config.ArgsSource.ARGS:
            return
        seen = {own[0].label for item in items if (own := collect.owner(item))}
        for path, adapter in self.declaring.by_conftest.items():
            if adapter.label not in seen:
                yield from session.genitems(_make_anchor(adapter, session, path=path))

    def _record_expected_tests(self, collected: set[str]) -> None:
        """Record the tests of a complete run of each adapter, even if they are not collected."""
        options, config = self.state.options, self.state.config
        below = (part for arg in config.args for part in arg.split("::")[1:])
        selects_tests = bool(self.state.named) or any(".py" in part for part in below)
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        for adapter in self.state.adapters.known.values():
            by_id = adapter not in self.state.by_option or bool(self.state.named)
            adapter.left_out = named and by_id and adapter.label not in collected
            if adapter.left_out:
                continue
            for component in adapter.components:
                known = collect.tests_of(adapter, component)
                numbers = range(1, options.repeat + 1) if options.repeat > 1 else (0,)
                adapter.ledger.expected |= {ledger_key(component, name, each) for name in known for each in numbers}
                if not all(map(options.wants, known.values())):
                    adapter.ledger.mark_partial("tests were deselected")
            if selects_tests:
                adapter.ledger.mark_partial("single chapters or tests were named on the command line")

    def _select_items(self, items: list[pytest.Item]) -> None:
        options = self.state.options
        chosen = {item for item in collect.conformance_items(items) if options.wants(collect.requirement_of(item))}
        if options.profile.smoke:
            chosen = collect.select_smoke_tests(item for item in items if item in chosen)
        elsewhere = self._tests_of_other_shards(chosen)
        chosen -= elsewhere
        dropped = [item for item in collect.conformance_items(items) if item not in chosen]
        if dropped:
            items[:] = [item for item in items if item not in set(dropped)]
            self.state.config.hook.pytest_deselected(items=dropped)

    def _tests_of_other_shards(self, items: set[pytest.Item]) -> set[pytest.Item]:
        """Return the tests of other shards; empty if the run is also partial for another reason."""
        shard = self.state.options.shard
        if shard is None:
            return set()
        own: set[tuple[str, str, str]] = set()
        for adapter in self.state.adapters.known.values():
            suites = {name: list(collect.tests_of(adapter, name)) for name in adapter.components}
            own |= {(adapter.label, *each) for each in shard.tests(suites)}
            if not adapter.left_out:
                adapter.ledger.mark_partial(shard.gap)
        whose = {item: found for item in items if (found := collect.owner(item))}
        of = {
            item: (adapter.label, component, collect.name_of_test(item)) for item, (adapter, component) in whose.items()
        }
        self._elsewhere = {item for item, name in of.items() if name not in own}
        return self._elsewhere

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        for item in items:
            if (own := collect.owner(item)) and item not in self._elsewhere:
                own[0].ledger.mark_partial("tests were deselected")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> Generator[None, object, object]:
        if self._unusable:  # before xdist compares the collections of the workers
            session.shouldfail = self._unusable
            raise session.Failed(self._unusable)
        result = yield
        for item in session.items:
            if own := collect.owner(item):
                own[0].ledger.selected.add(collect.ledger_key_of(item, own[1]))
        for adapter in self.state.adapters.known.values():
            ledger = adapter.ledger
            if ledger.expected <= ledger.selected or ledger.incomplete:
                continue
            if self.state.config.getoption("lf", False):
                ledger.mark_partial("only the tests that failed last were to run")
            else:
                said = "tests of the suite were not collected, or were removed silently"
                ledger.mark_unreliable(said + name_suspects(self.state.config, "not collected"))
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        collect.parametrize_repetitions(metafunc, self.state.options.repeat)

    @pytest.fixture
    def corpus_repetition(self, request: pytest.FixtureRequest) -> int:
        """Return the number of the repetition."""
        number: int = request.param
        return number

    def pytest_pycollect_makeitem(self, collector: pytest.Collector, name: str, obj: object) -> Any:
        return collect.make_item(collector, name, obj)


def _make_anchor(adapter: Adapter, parent: pytest.Collector, **options: Any) -> collect.Anchor:
    anchor: collect.Anchor = collect.Anchor.from_parent(parent, **options)
    anchor.adapter = adapter
    return anchor


def _qualified_name(item: pytest.Item) -> str:
    """Return the suite and the function of a conformance item, joined by a dot; empty for any other item."""
    own = collect.owner(item)
    return f"{own[0].label}/{own[1]}.{getattr(item, 'originalname', '')}" if own else ""


def _position(item: pytest.Item) -> int:
    """Return the position of a test in a transcript; 0 without a transcript."""
    own = collect.owner(item)
    return own[0].position_of(*collect.name_and_repetition(item)) if own else 0


MARKERS = (
    *(f"{row.name}: conformance tests of the {row.title} component" for row in ROWS),
    "wire: conformance tests of envelopes and frames, and of clients that build requests",
    "core: behaviour that every adapter of a component must have",
    "slow: takes noticeably longer than the other conformance tests",
    "requirement(id, ...): the requirement of the catalogue that a conformance test decides, one for each component",
)


def register_markers(config: pytest.Config) -> None:
    """Register the markers of the suite with pytest."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
