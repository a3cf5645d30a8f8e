"""`make dist`: sdist and wheel in `dist/`, built twice with the same bytes, and clean for `twine check --strict`.

The time in the archives is that of the last commit, or SOURCE_DATE_EPOCH where it is set. The second build is made with
another umask and from a copy of the sources with other times, so that neither can be what the bytes depend on.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def source_date_epoch() -> str:
    """Return SOURCE_DATE_EPOCH: in a checkout from git, otherwise the time of the files in the sdist."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    command = ["git", "log", "-1", "--format=%ct"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return said.stdout.strip() or str(int((ROOT / "pyproject.toml").stat().st_mtime))


def build_both(source: Path, target: Path, when: str) -> dict[str, str]:
    """Build sdist and wheel in a folder; return the SHA-256 of each file by its name."""
    command = [sys.executable, "-m", "build", "--outdir", str(target), str(source)]
    subprocess.run(command, env={**os.environ, "SOURCE_DATE_EPOCH": when}, stdout=subprocess.DEVNULL, check=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(target.iterdir())}


def main() -> int:
    """Build both, build again from the sdist, compare the results, and check them."""
    when, dist = source_date_epoch(), ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    first = build_both(ROOT, dist, when)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
            archive.extractall(folder)
        (source,) = Path(folder).iterdir()
        for path in source.rglob("*"):
            os.utime(path, (1, 1_000_000_000))
        before = os.umask(0o077)
        second = build_both(source, Path(folder) / "again", when)
        os.umask(before)
    for name, found in first.items():
        print(f"{found}  dist/{name}")
    if first != second:
        print("make dist: two builds differ; they are not reproducible", file=sys.stderr)
        return 1
    return subprocess.call([sys.executable, "-m", "twine", "check", "--strict", *map(str, dist.iterdir())])


if __name__ == "__main__":
    sys.exit(main())
