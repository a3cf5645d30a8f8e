"""Atomic writes of files and folders."""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_atomically(text: str, path: Path) -> None:
    """Write a text as UTF-8; an older file stays until the new one is complete.

    Links are followed. An existing file keeps its mode; a new file gets the mode of the umask.

    Raises:
        OSError: the file cannot be written.
    """
    target = _resolve_links(path)
    mode = _mode_of(target)
    temporary = _temporary_name(target)
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


def write_folder(files: Iterable[tuple[str, str]], folder: Path, *, replace: bool = False) -> None:
    """Write texts as UTF-8 below a folder, either all or none; other files are not touched.

    Args:
        files: pairs of a path below the folder, with ``/``, and a text.
        folder: the folder, created if it does not exist.
        replace: replace existing files and folders of the same names.

    Raises:
        FileExistsError: one of the names exists already.
        OSError: a file cannot be written.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    staged, older = (folder / f".{kind}-{secrets.token_hex(4)}" for kind in ("new", "old"))
    placed: list[Path] = []
    try:
        staged.mkdir(parents=True)
        for name, text in files:
            path = staged / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        for top in sorted(staged.iterdir()):
            target = folder / top.name
            if os.path.lexists(target):
                if not replace:
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
                older.mkdir(exist_ok=True)
                os.rename(target, older / top.name)
            os.rename(top, target)
            placed.append(target)
        staged.rmdir()
        _remove(older)
    except BaseException:
        for path in (*placed, staged):
            _remove(path)
        for path in older.iterdir() if older.is_dir() else ():
            os.rename(path, folder / path.name)
        _remove(older)
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        raise


def find_obstacle(path: Path) -> str:
    """Return the reason why `write_atomically` cannot write a file, as the end of a sentence; empty if it can.

    It tries to create an empty file in the same folder, because a mode does not show all permissions.
    """
    try:
        target = _resolve_links(path)
        for folder in (path.parent, target.parent):
            if not folder.is_dir():
                return f"there is no folder {folder}"
        if target.is_dir():
            return "this is a folder, not a file"
        _mode_of(target)
        temporary = _temporary_name(target)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        temporary.unlink()
    except OSError as error:
        return f"it cannot be written: {error.strerror}"
    except ValueError:
        return "no file can have this name"
    return ""


def _remove(path: Path) -> None:
    """Remove a file or folder that this module created; ignore errors."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _resolve_links(path: Path) -> Path:
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def _mode_of(target: Path) -> int | None:
    """Return the permission bits of the file, or None if it does not exist. Raises OSError if it is not a file."""
    try:
        found = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "Not a regular file", str(target))
    return stat.S_IMODE(found)


def _temporary_name(target: Path) -> Path:
    """Return a new path in the same folder, short enough for every file system."""
    beginning = target.name[:100]
    while len(os.fsencode(beginning)) > 100:
        beginning = beginning[:-1]
    return target.with_name(f".{beginning}.{secrets.token_hex(4)}")
