"""A correct adapter of an unusual shape is never failed for what is not a requirement."""

import itertools
import json
import shlex
import shutil
import sys

import late_adapters
import legal
import pytest
import random_shapes
from edits import unknown_names
from inner_runs import Project, said, statuses, violated
from legal import ROOM, marked
from mutants.runner import UNUSED
from thinning import thin_out

from pytest_corpus.spec.components import COMPONENTS

EXPECTED = {
    "Unary": {"LLM-STREAM-1": "not_applicable", "LLM-COMPLETE-1": "satisfied"},
    "Chatty": {"LLM-TOKENS-1": "not_applicable", "LLM-STREAM-1": "satisfied"},
    "Wordy": {"LLM-TOOLS-1": "not_applicable", "LLM-TOKENS-1": "satisfied"},
    "OpenSet": {"LLM-MODEL-2": "not_applicable", "LLM-STREAM-1": "satisfied"},
    "Cramped": {"LLM-CONTEXT-1": "satisfied"},
    "Silent": {"LLM-STREAM-1": "satisfied", "LLM-TOKENS-1": "satisfied"},
    "MinimalWithoutOptions": {"LLM-STREAM-1": "not_applicable", "LLM-TOKENS-1": "not_applicable"},
    "Nested": {"LLM-MODEL-2": "satisfied", "COM-OBS-6": "satisfied"},
    "Ivf": {"VEC-QUERY-19": "violated", "VEC-QUERY-3": "satisfied", "COM-CONC-1": "satisfied"},
    "IvfElsewhere": {"VEC-QUERY-4": "satisfied", "VEC-QUERY-19": "violated"},
    "Hnsw": {"VEC-QUERY-19": "satisfied", "VEC-LIMIT-1": "satisfied"},
    "OneNamespace": {"COM-IDEM-6": "satisfied"},
    "DeletesByIdOnly": {"VEC-DELETE-5": "not_applicable", "VEC-DELETE-9": "satisfied", "VEC-STATE-1": "satisfied"},
    "RefusesZeros": {"VEC-SCORE-9": "satisfied"},
    "PostFilteringInASentence": {"VEC-FILTER-2": "satisfied", "VEC-STATE-1": "satisfied"},
    "CountsFirst": {"COM-IDEM-7": "satisfied"},
    "ChunksWithoutUsage": {"LLM-STREAM-3": "satisfied"},
    "WholeBehindStreams": {"COM-STREAM-9": "not_applicable", "COM-DEADLINE-5": "satisfied"},
    "DeletesNothing": {"VEC-DELETE-8": "satisfied", "VEC-DELETE-15": "violated"},
}
"""Statuses that follow from what an adapter does."""

SHAPED = {file: [f"legal:{row.name}" for row in marked(file, "shape")] for file in ("llm", "components")}
"""Adapters of another shape, the whole suite of which is run."""

LATE_SHAPES = [f"late_adapters:Late{each}" for each in ("Vector", "Graph", "Filters", "Edges")]
"""Adapters that show writes late; they are waited for in the slow tests alone."""

SCOPES = {
    file: {row.name: row.options["scope"] for row in marked(file, "scope")}
    for file in ("narrow", "rulings", "graphs", "stores", "refusals")
}
"""The requirements that the difference of an adapter bears on."""

FEW_NAMESPACES = ("TwoNamespaces", "OneKeptNamespace")
"""Stores that have no room for what some requirements speak of."""

SCOPED = [*thin_out(SCOPES["rulings"], 2), *(name for file in SCOPES if file != "rulings" for name in SCOPES[file])]

LEAN = ("--capture=no", *(f"-pno:{name}" for name in UNUSED if name not in ("terminal", "tmpdir", "legacypath")))
"""Cheaper runs, without the plugins that the runners of mutants go without."""

VARIABLES = {
    "sparql": {
        "find": "MATCH (n:CorpusNode) WHERE n.corpus_key = $wanted RETURN n.corpus_value AS found",
        "group": "MATCH (n:CorpusNode) WHERE n.corpus_group = $group RETURN n.corpus_value AS found",
        "links": "MATCH (a:CorpusNode)-[r:CORPUS_LINK]->(n:CorpusNode) WHERE a.corpus_key = $wanted"
        " RETURN n.corpus_value AS found",
        "link_values": "MATCH (a:CorpusNode)-[r:CORPUS_LINK]->(n:CorpusNode) WHERE a.corpus_key = $wanted"
        " RETURN r.corpus_value AS found",
        "broken": "SELECT ((",
    }
}
"""The probe queries of a language whose parameters are variables."""


def test_every_name_in_a_row_is_known() -> None:
    """Rows are text that no linter reads: their methods use no name that is not defined."""
    made = [file.make(name) for file in ROOM.files for name in file.rows]
    assert {each.__name__: unknown_names(each) for each in made if unknown_names(each)} == {}


@pytest.mark.parametrize("declared", [*SHAPED["llm"], *SHAPED["components"]])
def test_a_legal_shape_violates_nothing_plain(project: Project, declared: str) -> None:
    """No MUST is violated by one test of each requirement."""
    result, report = project.judged(declared, "--corpus-profile=quick", *LEAN)
    assert violated(report) == set(), said(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("declared", "at_least"),
    [(name, 60) for name in SHAPED["llm"]] + [(name, 90) for name in [*SHAPED["components"], *LATE_SHAPES]],
)
def test_legal_shape(project: Project, declared: str, at_least: int) -> None:
    """No MUST is violated, no test of ours crashes, and what the shape does without is not applicable."""
    result, report = project.judged(declared, *LEAN)
    [(component, found)] = report["components"].items()
    assert violated(report) == set(), said(result)
    assert result.ret == 0, said(result)
    assert report["complete"]
    assert report["verdict"] in ("conformant", "incomplete")
    for requirement, status in EXPECTED.get(declared.removeprefix("legal:"), {}).items():
        assert statuses(report)[component, requirement] == status
    assert found["totals"]["must"]["satisfied"] >= at_least


def test_a_property_has_one_type_in_any_order(project: Project) -> None:
    """A store that keeps the type in which it first met a property (R110) is not blamed if tests run in reverse."""
    project.pytester.makeconftest(
        "import pytest\n@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(items): items.reverse()"
    )
    result, report = project.judged("legal:OneTypeAProperty", "--corpus-requirement=GRA-NODE-9,GRA-NODE-10", *LEAN)
    assert violated(report) == set(), said(result)


@pytest.mark.parametrize("name", SCOPED)
def test_what_the_documents_leave_open(project: Project, name: str) -> None:
    """A difference that a ruling allows, or that a provider forces, violates no MUST that it bears on."""
    [scope] = [scopes[name] for scopes in SCOPES.values() if name in scopes]
    result, report = project.judged(f"legal:{name}", scope, *LEAN)
    assert violated(report) == set(), said(result)
    assert result.ret == 0, said(result)
    found = {requirement: status for (_, requirement), status in statuses(report).items()}
    expected = EXPECTED.get(name, {})
    assert {requirement: found[requirement] for requirement in expected} == expected, said(result)
    if name in SCOPES["graphs"]:
        asked = [entry for entry in report["requirements"] if entry["tests"] and entry["level"] == "MUST"]
        assert [entry["id"] for entry in asked if entry["status"] == "not_assessed"] == [], said(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCOPES["rulings"], *SCOPES["stores"], *SCOPES["refusals"]])
def test_what_the_documents_leave_open_in_the_whole_suite(project: Project, name: str) -> None:
    """Nor does it violate any other MUST, and a store comes to a verdict."""
    result, report = project.judged(f"legal:{name}", *LEAN)
    assert violated(report) == set(), said(result)
    assert result.ret == 0, said(result)
    assert report["complete"]
    assert name in (*SCOPES["rulings"], *FEW_NAMESPACES) or report["verdict"] == "conformant"


def test_differences_that_are_combined_have_helpers_of_their_own() -> None:
    """No two rows of a component give one name to what the reference does not have: one would call the other's."""
    rows = [legal.ROOM.adapter(name) for file in legal.ROOM.files for name in file.rows if name not in legal.APART]
    met = []
    for one, other in itertools.combinations(rows, 2):
        if one.component == other.component and not (issubclass(one, other) or issubclass(other, one)):
            common = [name for name in vars(one) if name in vars(other) and not name.startswith("__")]
            known = [name for name in common if any(hasattr(base, name) for base in one.__bases__)]
            met += [(one.__name__, other.__name__, name) for name in common if name not in known]
    assert met == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("component", list(COMPONENTS))
def test_what_the_documents_leave_open_together(project: Project, component: str, seed: int) -> None:
    """Nor do three such differences at once, whatever the suite draws by its seed."""
    result, report = project.judged(f"legal:combined_{component}_{seed}", f"--corpus-seed={seed}", *LEAN)
    assert violated(report) == set(), (legal.combined(component, seed).__name__, said(result))
    assert report["complete"]


@pytest.mark.parametrize(
    ("name", "scope", "status"),
    [("Variables", "GRA-QUERY-*,GRA-EDGE-*", "not_applicable"), ("FoldedLinks", "GRA-EDGE-*", "not_assessed")],
)
def test_probe_queries_are_given(project: Project, name: str, scope: str, status: str) -> None:
    """A language whose parameters are variables is not asked what a query without them means (R119).

    If a given probe query finds a node once for two edges, both of which are there, the query is to be corrected.
    """
    project.path.joinpath("dialects.json").write_text(json.dumps(VARIABLES))
    given = (f"--corpus-adapter=legal:{name}", "--corpus-dialects=dialects.json", f"--corpus-requirement={scope}")
    result = project.run(*given, "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    if name == "Variables":
        assert violated(report, "SHOULD") == set(), said(result)
        assert statuses(report)["graph", "GRA-QUERY-9"] == status
    else:
        assert statuses(report)["graph", "GRA-EDGE-9"] == status
        result.stdout.fnmatch_lines(["*a record for each edge*"])


def test_two_adapters_may_share_a_provider(project: Project) -> None:
    """Those of one run have no names, keys or texts in common."""
    project.adapter(SHARING)
    labels = ("--corpus-adapter=one=mine:Sharing", "--corpus-adapter=two=mine:Sharing")
    result = project.run(*labels, "--corpus-requirement=COM-IDEM-2")
    assert result.ret == 0, said(result)


SHARING = """
from pytest_corpus.reference.graph.adapter import ReferenceGraph

PROVIDER = {}

class Sharing(ReferenceGraph):
    def __init__(self, metrics=None, provider=None):
        super().__init__(metrics=metrics, provider=provider)
        for name in ("tenants", "replays"):
            setattr(self, name, PROVIDER.setdefault(name, getattr(self, name)))
"""


LATE_REPORTS = [
    "late_metrics", "very_late_metrics", "unordered_metrics", "late_counters", "late_graph_metrics",
    "late_vector_metrics", "late_embedding_metrics", "batched_metrics", "disordered_metrics",
    "disordered_vector_metrics", "slow_metrics",
]  # fmt: skip


@pytest.mark.parametrize("name", thin_out(LATE_REPORTS, 2))
def test_late_observations_count(project: Project, name: str) -> None:
    """Observations that arrive from another thread after the answer are assigned to their calls."""
    scope = "--corpus-requirement=COM-OBS-*,COM-LEAK-2,COM-CAP-1"
    result, report = project.judged(f"late_adapters:{name}", scope)
    [component] = report["components"]
    assert violated(report) == set(), said(result)
    assert statuses(report)[component, "COM-OBS-1"] == "satisfied"


def test_late_observations_of_a_program_count(project: Project) -> None:
    """Observations that a program sends 100 ms after its answers are assigned to their calls."""
    shutil.copy(late_adapters.__file__, project.path)
    program = shlex.join([sys.executable, "-c", "from pytest_corpus.cli import main; main()", "serve"])
    adapter = f"cmd:{program} late_adapters:very_late_metrics --stdio"
    result, report = project.judged(adapter, "COM-OBS-1,COM-OBS-5")
    assert violated(report) == set(), said(result)
    assert statuses(report)["llm", "COM-OBS-1"] == "satisfied"


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_late_finding_names_the_test_that_made_the_call(project: Project, workers: int) -> None:
    """The violation of a late observation is found after a later test, and names the test that made the call."""
    shutil.copy(late_adapters.__file__, project.path)  # for workers, which are processes of their own
    given = (
        "--corpus-adapter=late_adapters:mislabelled",
        "--corpus-requirement=LLM-TOKENS-*",
        "--corpus-report=r.json",
    )
    result = project.run(*given, f"-n{workers}", plugins=("xdist",)) if workers else project.run(*given)
    assert violated(project.report()) == {"COM-OBS-5"}, said(result)
    result.stdout.fnmatch_lines(
        [
            "  test: *::test_an_unknown_model_does_not_count*",
            "  rerun: * --corpus-adapter=late_adapters:mislabelled --corpus-requirement=COM-OBS-5,LLM-TOKENS-4*",
        ]
    )


@pytest.mark.parametrize("name", ["LongWinded", "KeepsAlive"])
def test_a_stream_that_moves_is_not_a_hang(project: Project, name: str) -> None:
    """A prompt beyond the window that is streamed at length is one finding, and neither a hang nor a missing end."""
    scope = "--corpus-requirement=COM-WIRE-*,COM-STREAM-*,LLM-CONTEXT-*,COM-CAP-1"
    given = (f"--corpus-adapter=legal:{name}", scope, "-ocorpus_call_timeout=2")
    result = project.run(*given, "--corpus-report=r.json")
    assert violated(project.report()) == {"LLM-CONTEXT-1"}, said(result)


@pytest.mark.parametrize("name", ["ClosedLLM", "ClosedEmbedding", "ClosedVector", "ClosedGraph"])
def test_a_pinned_run_lets_a_context_be_closed(project: Project, name: str) -> None:
    """Unknown keys in `ctx` may be refused in a run that is pinned to edition 1.0.0, and in no other (R134)."""
    given = (f"--corpus-adapter=legal:{name}", "--corpus-requirement=COM-CTX-*,COM-CACHE-*")
    result = project.run(*given, "--corpus-schema-version=1.0.0", "--corpus-report=r.json")
    assert violated(project.report()) == set(), said(result)
    project.run(*given, "--corpus-report=r.json")
    assert "COM-CTX-1" in violated(project.report())


def test_what_is_not_counted_is_not_a_wrong_count(project: Project) -> None:
    """An adapter without `count_tokens` whose completions have no usage is blamed for the completions alone."""
    scope = "--corpus-requirement=COM-CONC-1,COM-IDEM-1,LLM-COMPLETE-*,LLM-STREAM-*,LLM-TOKENS-*"
    result, report = project.judged("legal:UsageLeftOut", scope)
    assert violated(report) == {"LLM-COMPLETE-1"}, said(result)
    assert statuses(report)["llm", "LLM-TOKENS-1"] == "not_applicable"


SHAPES = [f"{component}_{seed}" for component in random_shapes.REFERENCES for seed in range(50)]
"""Random but truthful subsets of what the references can do."""


@pytest.mark.parametrize("name", SHAPES[3::20])
def test_a_random_shape_violates_nothing_plain(project: Project, name: str) -> None:
    """A twentieth of the shapes, by one test of each requirement."""
    result, report = project.judged(f"random_shapes:{name}", "--corpus-profile=quick", *LEAN)
    assert violated(report) == set(), said(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_random_shape_violates_nothing(project: Project, name: str) -> None:
    """Whatever an adapter leaves out, denies or limits, and says so, is not a finding of a MUST."""
    result, report = project.judged(f"random_shapes:{name}", *LEAN)
    assert violated(report) == set(), said(result)
    assert report["complete"]
    assert report["verdict"] in ("conformant", "incomplete")
