"""The files of a bundle: all of them inside its folder, in UTF-8 (R84)."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from stat import S_ISREG

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.redaction import printable

LARGEST = 64 * 2**20
"""Bytes; no file of a bundle is larger."""


def shown(path: Path) -> str:
    """A file as messages call it: relative to the working folder where it lies below it."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def inside(folder: Path, given: str) -> Path:
    """The file inside a bundle's folder that a path names. Raises ValueError, the end of a sentence."""
    if "\0" in given or not given.strip():
        raise ValueError(f"{printable(given)!r} is not a path; name a file in the folder of the bundle")
    if PurePosixPath(given).is_absolute() or PureWindowsPath(given).drive or given.startswith(("\\", "~")):
        raise ValueError(f"{given!r} is an absolute path; name a file in the folder of the bundle")
    path = folder / given
    root = os.path.realpath(folder)
    if os.path.commonpath([root, os.path.realpath(path)]) != root:
        raise ValueError(f"{given!r} leaves the folder of the bundle; copy the file into it")
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"there is no file {given!r} in {shown(folder)}") from None
    except OSError as error:
        raise ValueError(f"{given[:100]!r} cannot be read: {error.strerror}") from None
    if not S_ISREG(mode):
        raise ValueError(f"{given!r} is not a file")
    return path


def text_of(path: Path) -> str:
    """The text of a file, without a byte order mark. Raises BundleError if it is unreadable, too large or not UTF-8."""
    name = shown(path)
    try:
        if path.stat().st_size > LARGEST:
            raise BundleError(Problem(name, f"is larger than {LARGEST // 2**20} MiB; no file of a bundle is"))
        data = path.read_bytes()
    except OSError as error:
        raise BundleError(Problem(name, f"cannot be read: {error.strerror or error}")) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BundleError(Problem(name, f"is not UTF-8 at byte {error.start + 1}; save it as UTF-8", line)) from None
