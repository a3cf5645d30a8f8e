"""Makes faults in a reference adapter by machine, and tells which of them the suite does not find.

    python tools/machine_faults.py llm --results /tmp/faults.jsonl

Each fault changes one place: a comparison, a condition, an operator, a constant, or a statement or an argument that is
left out. The suite then runs up to the first MUST that is violated. Faults that break no MUST are judged in
`tools/machine_faults.json`, by their names and with the reason, and are not tried; all others that the suite lets pass
are printed, and make the exit code 1.

A name is made of the function and the text that is changed, so that it outlives changes elsewhere. Which faults are
drawn hangs on their names and the seed alone, for the same reason.
"""

import argparse
import ast
import collections
import concurrent.futures
import copy
import hashlib
import importlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from orders import FORK, REPORT, enter_folder, import_suites, run_forked

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "pytest_corpus" / "reference"
JUDGED = Path(__file__).with_suffix(".json")
PACKAGE = "pytest_corpus.reference"

LIMIT_S = 180
"""A run that takes longer counts as hanging, so its fault counts as detected."""

COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of one node in the syntax tree of a file of the reference adapters."""

    name: str
    path: Path
    line: int
    place: int
    changed: ast.AST

    def code(self) -> str:
        """Return the complete file with the fault."""
        tree = ast.parse((REFERENCE / self.path).read_text("utf-8"))
        node = list(ast.walk(tree))[self.place]
        node.__class__ = self.changed.__class__
        node.__dict__.clear()
        node.__dict__.update(copy.deepcopy(self.changed.__dict__))
        return ast.unparse(ast.fix_missing_locations(tree))


def main() -> int:
    """Run the suite on every fault without a result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("component", choices=("llm", "vector", "embedding", "graph"))
    parser.add_argument("--count", type=int, default=300, help="how many faults are drawn of all that can be made")
    parser.add_argument("--seed", type=int, default=0, help="which of them are drawn")
    parser.add_argument("--jobs", type=int, default=1, help="how many runs at the same time")
    parser.add_argument("--results", type=Path, help="JSON lines that are kept, so that an interrupted run goes on")
    parser.add_argument("--again", action="store_true", help="try again what the results say was not found")
    parser.add_argument("--only", metavar="TEXT", default="", help="only those whose names hold this")
    parser.add_argument("--list", action="store_true", help="print their places and names, and run nothing")
    given = parser.parse_args()
    possible = possible_faults(given.component)
    asked = [fault for fault in draw(possible, given.count, given.seed) if given.only in fault.name]
    if given.list:
        sys.stdout.writelines(f"{fault.path}:{fault.line}  {fault.name}\n" for fault in asked)
        return 0
    judged = json.loads(JUDGED.read_text("utf-8"))[given.component]
    found = read_results(given.component, given.results, again=given.again)
    left = [fault for fault in asked if fault.name not in judged and fault.name not in found]
    for fault, finding in judge_faults(given.component, left, given.jobs):
        found[fault.name] = finding
        add_result(given.component, given.results, fault, finding)
    return print_summary(given.component, len(possible), [fault.name for fault in asked], judged, found)


def draw(possible: Sequence[Fault], count: int, seed: int) -> list[Fault]:
    """Return some of the possible faults, chosen by their names and a seed."""
    return sorted(possible, key=lambda fault: digest(f"{seed} {fault.name}"))[:count]


def draw_names(component: str, count: int, seed: int) -> tuple[int, list[str]]:
    """Return the number of possible faults of a component, and the names of the drawn ones."""
    possible = possible_faults(component)
    return len(possible), [fault.name for fault in draw(possible, count, seed)]


def print_summary(
    component: str, possible: int, names: Sequence[str], judged: Mapping[str, str], found: Mapping[str, str]
) -> int:
    """Print how many faults were found, and the others; the exit code."""
    harmless = [name for name in names if name in judged]
    missed = [name for name in names if name not in judged and not found[name]]
    counts = f"{len(names) - len(harmless) - len(missed)} found, {len(harmless)} judged to break no MUST"
    said = f"{component}: {len(names)} of {possible} faults, {counts}, {len(missed)} not found"
    sys.stdout.write("\n".join([said, *(f"  {name}" for name in missed), ""]))
    return int(bool(missed))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_results(component: str, path: Path | None, *, again: bool) -> dict[str, str]:
    """Return the results of earlier runs by fault: the requirement that detected it, or an empty text."""
    if path is None or not path.exists():
        return {}
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    decided = {line["fault"]: line["found"] for line in lines if line["component"] == component}
    return {name: finding for name, finding in decided.items() if finding or not again}


def add_result(component: str, path: Path | None, fault: Fault, finding: str) -> None:
    """Add the result for a fault to the file."""
    if path is not None:
        where = f"{fault.path}:{fault.line}"
        with path.open("a", encoding="utf-8") as file:
            line = {"component": component, "fault": fault.name, "found": finding, "where": where}
            file.write(json.dumps(line) + "\n")


# Making faults


def possible_faults(component: str) -> list[Fault]:
    """Return every fault that can be made in the files of a component, and in the files that components share."""
    made: list[Fault] = []
    names: collections.Counter[str] = collections.Counter()
    for path in (*sorted((REFERENCE / component).glob("*.py")), *sorted(REFERENCE.glob("[!_]*.py"))):
        if path.name == "request_builders.py" or (path.name == "language.py" and component in ("vector", "graph")):
            continue
        tree, file = ast.parse(path.read_text("utf-8")), path.relative_to(REFERENCE)
        skipped, scopes = set(map(id, iterate_unused_nodes(tree))), dict(scopes_of(tree, ""))
        for place, node in enumerate(ast.walk(tree)):
            for what, changed in () if id(node) in skipped else possible_changes(node):
                name = f"{file.as_posix()} {scopes[id(node)]}: {what}"
                names[name] += 1
                numbered = name if names[name] == 1 else f"{name} ({names[name]})"
                made.append(Fault(numbered, file, getattr(node, "lineno", 0), place, changed))
    return made


def iterate_unused_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield docstrings, annotations and names of types, which have no effect at run time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        for name in ("annotation", "returns"):
            if (annotation := getattr(node, name, None)) is not None:
                yield from ast.walk(annotation)


def scopes_of(node: ast.AST, scope: str) -> Iterator[tuple[int, str]]:
    """Yield the class and function around each node."""
    yield id(node), scope or "(module)"
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        scope = f"{scope}.{node.name}" if scope else node.name
    for child in ast.iter_child_nodes(node):
        yield from scopes_of(child, scope)


def possible_changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the possible changes of a node, each with a description."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        ops = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
        yield describe_change(node, ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.BoolOp):
        yield describe_change(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield describe_change(node, node.operand)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield describe_change(node, ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right))
    elif isinstance(node, ast.Constant):
        yield from (describe_change(node, ast.Constant(value)) for value in other_values(node.value))
    elif isinstance(node, (ast.Raise, ast.AugAssign)) or is_call(node):
        yield f"{node_text(node)} left out", ast.Pass()
    elif isinstance(node, ast.Call):
        for keyword in (keyword for keyword in node.keywords if keyword.arg):
            rest = [each for each in node.keywords if each is not keyword]
            yield f"{node_text(keyword)} left out of {node_text(node)}", ast.Call(node.func, node.args, rest)


def other_values(value: object) -> Iterator[Any]:
    """Yield another value for a constant, except for texts that only people read."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + 1
    elif isinstance(value, str) and value.isidentifier():
        yield f"{value}x"


def is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await))


def describe_change(node: ast.AST, changed: ast.AST) -> tuple[str, ast.AST]:
    return f"{node_text(node)} becomes {node_text(changed)}", changed


def node_text(node: ast.AST) -> str:
    """Return a node as code on one line, shortened if it is long."""
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 80 else f"{line[:77]}..."


# Running the suite


def judge_faults(component: str, left: Sequence[Fault], jobs: int) -> Iterator[tuple[Fault, str]]:
    """Yield each fault with the requirement that was violated first, or an empty text."""
    with concurrent.futures.ProcessPoolExecutor(
        jobs, FORK, initializer=import_suites, initargs=((component,),)
    ) as pool:
        running = {pool.submit(judge_fault, component, fault): fault for fault in left}
        for done in concurrent.futures.as_completed(running):
            yield running[done], done.result()


def judge_fault(component: str, fault: Fault) -> str:
    """Return the requirement that a fault in the reference adapter violates: the first MUST, otherwise a SHOULD."""
    with tempfile.TemporaryDirectory() as folder:
        code = run_forked(conformance_run, component, fault, folder, limit_s=LIMIT_S)
        if code is None:
            return "hangs"
        report = Path(folder, REPORT)
        if not report.exists():
            return f"no report, exit code {code}"
        document = json.loads(report.read_text("utf-8"))
        entries = document["requirements"]
        violated = {each["level"]: each["id"] for each in reversed(entries) if each["status"] == "violated"}
        outage = any("has been unavailable" in str(each.get("reason")) for each in entries)
        should = f"SHOULD {violated['SHOULD']}" if "SHOULD" in violated else ""
        return violated.get("MUST") or ("an outage" if outage else should)


def conformance_run(component: str, fault: Fault, folder: str) -> None:
    """Run the suite in an empty folder on the adapter with the fault, up to the first violation."""
    enter_folder(folder)
    put_in_place(fault)
    own = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "pytest_corpus.plugin"]
    given = [f"--corpus-adapter={PACKAGE}:{component}", f"--corpus-report={REPORT}", "-ocorpus_call_timeout=3"]
    os._exit(int(pytest.main([*own, *given, f"--rootdir={folder}", "--corpus-profile=ci"])))


def put_in_place(fault: Fault) -> None:
    """Import the module with the fault before any other import of the module."""
    package, _, last = ".".join([PACKAGE, *fault.path.with_suffix("").parts]).rpartition(".")
    parent, name = importlib.import_module(package), f"{package}.{last}"
    spec = importlib.util.find_spec(name)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    exec(compile(fault.code(), str(fault.path), "exec"), vars(module))  # noqa: S102 - our own code, with one change
    setattr(parent, last, module)


if __name__ == "__main__":
    sys.exit(main())
