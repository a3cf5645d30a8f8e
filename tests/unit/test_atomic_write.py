"""Files are written whole or not at all, where and as a person would expect them."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_corpus.text.atomic_write import find_obstacle, write_atomically


@pytest.fixture
def strict() -> Iterator[None]:
    """A umask that keeps files to their owner and reading group."""
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path, strict: None) -> None:
    """It is as open as any other new file, and no more."""
    write_atomically("new", tmp_path / "r.json")
    assert mode(tmp_path / "r.json") == 0o640


@pytest.mark.parametrize("own", [0o600, 0o444, 0o664, 0o666])
def test_an_older_file_keeps_its_mode(tmp_path: Path, strict: None, own: int) -> None:
    """Its owner chose the mode."""
    path = tmp_path / "r.json"
    path.write_text("older")
    path.chmod(own)
    write_atomically("new", path)
    assert (path.read_text(), mode(path)) == ("new", own)


@pytest.mark.parametrize("dangling", [False, True], ids=["there", "dangling"])
def test_a_link_is_followed(tmp_path: Path, dangling: bool) -> None:
    """A link stays a link, the file behind it is written, and no other file is left."""
    (tmp_path / "real").mkdir()
    (tmp_path / "links").mkdir()
    target, link, second = tmp_path / "real" / "r.json", tmp_path / "links" / "a.json", tmp_path / "links" / "b.json"
    link.symlink_to(second)
    second.symlink_to("../real/r.json")
    if not dangling:
        target.write_text("older")
    assert find_obstacle(link) == ""
    write_atomically("new", link)
    assert (target.read_text(), link.is_symlink(), second.is_symlink()) == ("new", True, True)
    assert (os.listdir(target.parent), sorted(os.listdir(link.parent))) == (["r.json"], ["a.json", "b.json"])


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    """A pipe is neither replaced nor waited for, a circle of links is not, and no folder is made."""
    pipe, circle = tmp_path / "pipe", tmp_path / "circle"
    os.mkfifo(pipe)
    circle.symlink_to(circle)
    for path in (pipe, circle, tmp_path / "nowhere" / "r.json"):
        assert find_obstacle(path)
        with pytest.raises(OSError, match=r"Not a regular file|Too many levels|No such file"):
            write_atomically("new", path)
    assert pipe.is_fifo()
    assert circle.is_symlink()


@pytest.mark.parametrize("char", ["x", "ä", "😀"])
def test_the_longest_name(tmp_path: Path, char: str) -> None:
    """A name of 255 bytes can be written, and a longer one cannot."""
    longest = char * (255 // len(char.encode()))
    assert find_obstacle(tmp_path / longest) == ""
    write_atomically("new", tmp_path / longest)
    assert os.listdir(tmp_path) == [longest]
    assert find_obstacle(tmp_path / (longest + char)) == "it cannot be written: File name too long"


def test_trying_out_leaves_nothing(tmp_path: Path) -> None:
    """`find_obstacle` writes nothing, and what is there stays."""
    (tmp_path / "r.json").write_text("older")
    assert [find_obstacle(tmp_path / name) for name in ("r.json", "s.json")] == ["", ""]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.json", "older")]


def test_a_folder_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in which no file can be made is reported before anything is written, whatever its mode says."""

    def refuse(*given: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    assert find_obstacle(tmp_path / "r.json") == "it cannot be written: Read-only file system"


def test_a_name_that_no_file_has(tmp_path: Path) -> None:
    """A NUL in a name is not a traceback."""
    assert find_obstacle(tmp_path / "a\0b") == "no file can have this name"
