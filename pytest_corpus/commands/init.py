"""`pytest-corpus init COMPONENT [DIR]`: write an adapter repository that is conformant from the start."""

import argparse
import os
import shlex
from pathlib import Path

from pytest_corpus import resources
from pytest_corpus.commands import FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.text.atomic_write import write_folder

TOLERATED = (".git", ".venv", "venv")  # names that may exist in the folder: a new repository and a virtual environment
COMMON = "common"  # the folder with the files that every repository gets
WIRE = "corpus-wire/corpus_wire"
"""The folder with modules that all adapters share, and a module for the operations of each component."""

PROVIDERS = ("http", "tcp", "code")
NEXT = {
    "http": "point your client at `self.address`, behind which the suite is, and delete each call of `self.reached`",
    "tcp": "point your client at `self.address` and `self.port`, and delete each call of `self.reached`",
    "code": "--provider=http or --provider=tcp writes the factory for a provider with an address",
}
"""The next edits by the user, for each kind of provider."""
SHARED = "the run is conformant with one SHOULD finding: COM-TENANT-3, the store keeps the data of all tenants together"
"""The finding in the first run of an adapter that stores data; its author must decide what to do."""

PLACEHOLDER = "COMPONENT"  # the name of the component in the skeletons
DISARMED = "as-"  # a file name with this prefix has no effect in skeletons/, for example as-conftest.py


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the component and the folder."""
    parser.add_argument("component", nargs="?", metavar="COMPONENT", help=", ".join(COMPONENTS))
    parser.add_argument("folder", nargs="?", metavar="DIR", default=".", help="where to write (default: here)")
    parser.add_argument(
        "--provider",
        choices=PROVIDERS,
        default="code",
        help="how the adapter reaches its provider: over http, over tcp, or in code (default)",
    )


def run(given: argparse.Namespace) -> int:
    """Write the repository, completely or not at all."""
    if given.component is None:
        raise CommandError(f"name a component: {', '.join(COMPONENTS)}; for example pytest-corpus init llm my-adapter")
    console.check_word(given.component.lower(), COMPONENTS, "component")
    component = given.component.lower()
    folder, files = Path(given.folder), _repository_files(component, given.provider)
    try:
        if os.path.lexists(folder) and not folder.is_dir():
            raise CommandError(f"{folder} is a file; name a folder that is empty, or a new one")
        if folder.is_dir() and (found := sorted({path.name for path in folder.iterdir()}.difference(TOLERATED))):
            raise CommandError(f"the folder {folder.resolve()} is not empty: it holds {found[0]}; name a new one")
        write_folder(files.items(), folder)
    except OSError as error:
        raise CommandError(f"{folder} cannot be written to: {error.strerror or error}; name another folder") from None
    console.say(*(f"wrote {folder / name}" for name in files))
    enter = () if given.folder == "." else (f"  cd {shlex.quote(given.folder)}",)
    after = f"then edit {component}_adapter/provider.py; README.md explains the files"
    shared = [SHARED] if component in ("vector", "graph") else []
    for line in ("now run:", *enter, "  pytest", *shared, after, NEXT[given.provider]):
        console.warn(line)
    return FINE


def _repository_files(component: str, provider: str) -> dict[str, str]:
    """Return the text of each file of the repository, by path."""
    try:
        root = resources.folder("skeletons")
    except FileNotFoundError as error:
        raise CommandError(str(error)) from None
    others = {f"{name}.py" for name in COMPONENTS} - {f"{component}.py"}
    files = {f"package/corpus_wire/{path.name}": path for path in (root / WIRE).glob("*.py") if path.name not in others}
    for base in (root / COMMON, root / component, root / f"provider-{provider}"):
        files |= {path.relative_to(base).as_posix(): path for path in base.rglob("*") if path.is_file()}

    def rename(name: str) -> str:
        parts = [part.removeprefix(DISARMED) for part in name.split("/")]
        return "/".join([f"{component}_adapter" if parts[0] == "package" else parts[0], *parts[1:]])

    return {
        rename(name): path.read_text("utf-8").replace(PLACEHOLDER, component)
        for name, path in sorted(files.items())
        if not any(part.startswith((".", "__pycache__")) for part in name.split("/"))
    }
