"""The folder that workers share so that each case is asked only once (R84)."""

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

_NAME = re.compile(r"pytest-corpus-[0-9a-f]{32}")


def shared_folder(config: pytest.Config) -> Path | None:
    """The folder of this run, in a worker; None in any other process.

    Its name is the random id of the run, and only its owner may read it.

    Raises:
        pytest.UsageError: the system has no locks that end with a process.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return None
    if os.name == "nt":
        raise pytest.UsageError("behaviour bundles cannot be distributed on Windows: run them with -n 0")
    path = folder_of(str(worker["testrunuid"]))
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise pytest.UsageError(f"{path}: the folder that the workers share belongs to another user")
    return path


def folder_of(run: str) -> Path:
    """The folder of a run."""
    return Path(tempfile.gettempdir()) / f"pytest-corpus-{re.sub(r'[^0-9a-f]', '0', run.lower())[:32].ljust(32, '0')}"


def remove(path: Path) -> None:
    """Remove the folder of a run that has ended."""
    if not path.is_dir():
        return
    if _NAME.fullmatch(path.name) and path.parent == Path(tempfile.gettempdir()):
        shutil.rmtree(path, ignore_errors=True)
