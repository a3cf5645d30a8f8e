"""Makes faults in a reference adapter by machine, and tells which of them the suite does not find.

    python tools/machine_faults.py llm --count 300 --seed 0 --jobs 2

Each fault is one change of one place: a comparison, a boolean, an operator, a constant, a statement or an argument that
is left out. Faults that change nothing that a document speaks of are judged in `tools/machine_faults.json`, by their
names and with the reason; all others that the suite lets pass are printed, and make the exit code 1.
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import copy
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "pytest_corpus" / "reference"
JUDGED = Path(__file__).with_suffix(".json")
PACKAGE = "machine_made"
"""What the copy of the reference adapters is called."""

LIMIT_S = 300
"""A run that takes longer hangs, which is found."""

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One change of a file: its name, which stays the same while the file does, and the code with it."""

    name: str
    path: Path
    code: str


def main() -> int:
    """Run the suite on every fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("component", choices=("llm", "vector", "embedding", "graph"))
    parser.add_argument("--count", type=int, default=300, help="how many faults, drawn from all that can be made")
    parser.add_argument("--seed", type=int, default=0, help="which of them are drawn")
    parser.add_argument("--jobs", type=int, default=2, help="how many runs at the same time")
    given = parser.parse_args()
    every = list(faults(given.component))
    drawn = random.Random(given.seed).sample(every, min(given.count, len(every)))
    equivalent = json.loads(JUDGED.read_text("utf-8"))[given.component]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        verdicts = list(pool.map(lambda fault: verdict(given.component, fault), drawn))
    passed = [fault.name for fault, said in zip(drawn, verdicts, strict=True) if said in ("conformant", "incomplete")]
    missed = [name for name in passed if name not in equivalent]
    found, judged = len(drawn) - len(passed), len(passed) - len(missed)
    said = f"{given.component}: {len(drawn)} of {len(every)} faults, {found} found, {judged} judged to break nothing"
    sys.stdout.write("\n".join([f"{said}, {len(missed)} not found", *(f"  {name}" for name in missed), ""]))
    return int(bool(missed))


def faults(component: str) -> Iterator[Fault]:
    """Every fault that can be made in the files of a component, and in what it shares with the others."""
    for path in (*sorted((REFERENCE / component).glob("*.py")), *sorted(REFERENCE.glob("[!_]*.py"))):
        if path.name in ("request_builders.py", "language.py" if component != "llm" else ""):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        documentation = set(map(id, untouched(tree)))
        for number, node in enumerate(ast.walk(tree)):
            for what, changed in () if id(node) in documentation else changes(node):
                where = f"{path.relative_to(REFERENCE)}:{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"
                made = copy.deepcopy(tree)
                put(made, number, changed)
                yield Fault(f"{where} {what}", path, ast.unparse(ast.fix_missing_locations(made)))


def untouched(tree: ast.AST) -> Iterator[ast.AST]:
    """Docstrings and annotations, which no call ever sees."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        for name in ("annotation", "returns"):
            if (annotation := getattr(node, name, None)) is not None:
                yield from ast.walk(annotation)


def put(tree: ast.AST, number: int, changed: ast.AST) -> None:
    """Give the node that stands at a place of the walk the fields of another one."""
    node = next(each for position, each in enumerate(ast.walk(tree)) if position == number)
    node.__class__ = changed.__class__
    node.__dict__.clear()
    node.__dict__.update(copy.deepcopy(changed.__dict__))


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What can be made of a node, each with a word for it."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        other = COMPARISONS[type(node.ops[0])]
        yield (
            f"{type(node.ops[0]).__name__} to {other.__name__}",
            ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators),
        )
    elif isinstance(node, ast.BoolOp):
        other_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"{type(node.op).__name__} to {type(other_op).__name__}", ast.BoolOp(other_op, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "Not left out", node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not isinstance(node.left, ast.Name):
        changed = OPERATORS[type(node.op)]
        yield f"{type(node.op).__name__} to {changed.__name__}", ast.BinOp(node.left, changed(), node.right)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} to {not node.value}", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield f"{node.value} to {node.value + 1}", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        yield f"{node.value!r} changed", ast.Constant(f"{node.value}x")
    elif isinstance(node, ast.Raise):
        yield "raise left out", ast.Pass()
    elif isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)):
        yield "statement left out", ast.Pass()
    elif isinstance(node, ast.Call) and node.keywords and node.keywords[-1].arg:
        yield (
            f"argument {node.keywords[-1].arg} left out",
            ast.Call(node.func, node.args, node.keywords[:-1]),
        )


def verdict(component: str, fault: Fault) -> str:
    """What the suite says of the reference adapter with one fault."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(REFERENCE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        for file in (folder / PACKAGE).rglob("*.py"):
            code = fault.code if file.relative_to(folder / PACKAGE) == fault.path.relative_to(REFERENCE) else None
            text = file.read_text("utf-8") if code is None else code
            file.write_text(text.replace("pytest_corpus.reference", PACKAGE), "utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        given = [f"--corpus-adapter={PACKAGE}:{component}", "--corpus-report=r.json", "--corpus-call-timeout=3"]
        try:
            subprocess.run([*command, *given], cwd=folder, capture_output=True, timeout=LIMIT_S, check=False)  # noqa: S603
            return str(json.loads((folder / "r.json").read_text("utf-8"))["verdict"])
        except subprocess.TimeoutExpired:
            return "hangs"
        except (OSError, ValueError):
            return "no report"


if __name__ == "__main__":
    sys.exit(main())
