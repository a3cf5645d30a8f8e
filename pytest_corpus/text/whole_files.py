"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path


def write_whole(text: str, path: Path) -> None:
    """Write a text as UTF-8; what stood there before stays until the new file is complete.

    A link is followed, an older file keeps its mode, and a new one has that of the umask.

    Raises:
        OSError: the file cannot be written.
    """
    target = _target(path)
    mode = _mode(target)
    temporary = _beside(target)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def obstacle(path: Path) -> str:
    """Why `write_whole` could not write a file, as the end of a sentence; empty where nothing is in the way.

    It is tried out with an empty file beside it, for what a folder allows cannot be told from its mode alone.
    """
    try:
        target = _target(path)
        for folder in (path.parent, target.parent):
            if not folder.is_dir():
                return f"there is no folder {folder}"
        if target.is_dir():
            return "this is a folder, not a file"
        _mode(target)
        temporary = _beside(target)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        temporary.unlink()
    except OSError as error:
        return f"it cannot be written: {error.strerror}"
    except ValueError:
        return "no file can have this name"
    return ""


def _target(path: Path) -> Path:
    """The file itself, behind any links."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def _mode(target: Path) -> int | None:
    """The mode of the file that is there; None where there is none."""
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "Not a regular file", str(target))
    return stat.S_IMODE(found)


def _beside(target: Path) -> Path:
    """A new name in the same folder, which is no longer than any name may be."""
    beginning = target.name[:100]
    while len(os.fsencode(beginning)) > 100:
        beginning = beginning[:-1]
    return target.with_name(f".{beginning}.{secrets.token_hex(4)}")
