"""`make dist-check`: the wheel in `dist/` installed and run in fresh environments.

Once with every Python from 3.11 to 3.14 that is found on PATH or in pyenv, and once with each extra alone.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
WITH = {"xdist": ["-n", "2"], "cov": ["--cov=pytest_corpus.reference.llm"]}
"""For each extra, the text that the output of a run must contain."""


def find_interpreters() -> dict[str, str]:
    """Return a working interpreter of each Python version."""
    found = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        folders = [*os.environ.get("PATH", "").split(os.pathsep), *map(str, sorted(pyenv.glob(f"{version}.*/bin")))]
        for folder in folders:
            name = shutil.which(f"python{version}", path=folder)
            if (
                name
                and subprocess.run([name, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode
                == 0
            ):
                found[version] = name
                break
    return found


def read_extras(wheel: Path) -> list[str]:
    """Return the extras that the wheel declares."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return re.findall(r"^Provides-Extra: (\S+)$", archive.read(name).decode(), re.M)


def run(*command: object, cwd: Path) -> str:
    """Run a command and return its output. Raises RuntimeError if it fails."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    said = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if said.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{said.stdout[-2000:]}{said.stderr[-2000:]}")
    return said.stdout


def try_wheel(python: str, wheel: Path, extra: str = "") -> None:
    """Install the wheel, run the suite against the embedded LLM adapter, and verify its report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(python, "-m", "venv", folder / "venv", cwd=folder)
        own = folder / "venv" / "bin"
        run(own / "python", "-m", "pip", "install", "-q", f"{wheel}[{extra}]" if extra else wheel, cwd=folder)
        (folder / "empty").mkdir()
        more = WITH.get(extra, [])
        adapter = "--corpus-adapter=pytest_corpus.reference:llm"
        run(own / "python", "-m", "pytest", "-q", adapter, "--corpus-report=r.json", *more, cwd=folder / "empty")
        report = json.loads((folder / "empty" / "r.json").read_text("utf-8"))
        if report["verdict"] != "conformant":
            raise RuntimeError(f"the verdict is {report['verdict']}")
        run(own / "pytest-corpus", "report", "check", "r.json", cwd=folder / "empty")
        if extra == "sign":
            run("openssl", "genpkey", "-algorithm", "ed25519", "-out", "k.pem", cwd=folder / "empty")
            run("openssl", "pkey", "-in", "k.pem", "-pubout", "-out", "p.pem", cwd=folder / "empty")
            run(own / "pytest-corpus", "report", "sign", "r.json", "--key", "k.pem", cwd=folder / "empty")
            run(own / "pytest-corpus", "report", "check", "r.json", "--public-key", "p.pem", cwd=folder / "empty")


def main() -> int:
    """Try each interpreter and extra, print a line for each, and return 1 if one fails."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    found = find_interpreters()
    cases = [(f"Python {version}", name, "") for version, name in found.items()]
    cases += [(f"extra {extra}", sys.executable, extra) for extra in read_extras(wheel)]
    failed = not found
    for said, python, extra in cases:
        try:
            try_wheel(python, wheel, extra)
            print(f"{said}: works", flush=True)
        except RuntimeError as error:
            failed = True
            print(f"{said}: FAILED: {error}", flush=True)
    for version in VERSIONS:
        if version not in found:
            print(f"Python {version}: not found, not tried", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
