"""`make pictures`: what README and site show, made from real runs, in docs/pictures/, each light and dark.

A red terminal (the sample of the README), a green one, and the HTML report of the red run, which takes Chromium.
"""

import fcntl
import io
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
COLUMNS = 120
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WINDOW = (1000, 1220)
LEFT_OUT = "⋮"

Color = tuple[int, int, int]


def parse_colors(*colors: str) -> list[Color]:
    """Convert colours from hexadecimal notation."""
    return [(int(each[:2], 16), int(each[2:4], 16), int(each[4:], 16)) for each in colors]


def make_theme(ground: str, text: str, ansi: str) -> TerminalTheme:
    """Return the colours of a terminal; the eight ANSI colours are also used for the bright ones."""
    (back, front), names = parse_colors(ground, text), parse_colors(*ansi.split())
    return TerminalTheme(back, front, names, names)


# black red green yellow blue magenta cyan white; every one of them can be read on its ground (4.5 : 1)
THEMES = {
    "light": make_theme("f6f8fa", "1f2328", "1f2328 b3142c 1a7031 855400 0550ae 7b3fc4 1b6f77 59636e"),
    "dark": make_theme("0d1117", "e6edf3", "8b949e ff7b72 3fb950 d29922 58a6ff bc8cff 39c5cf e6edf3"),
}

# As Rich has it, without the font that it takes from the network.
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px \
ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; white-space: pre }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


@dataclass(frozen=True, slots=True)
class Shot:
    """A command for a picture, its exit code, and the parts of its output to show, from one pattern up to another."""

    command: str
    code: int
    shown: tuple[tuple[str, str | None], ...]


SHOTS = {
    "red": Shot(
        "pytest --corpus-adapter=mypkg:factory --corpus-report=attestation.html",
        1,
        ((r"=+ corpus findings", r"  also in:"), (r"=+ corpus conformance", r"    violated"), (r"  fix first:", None)),
    ),
    "green": Shot("pytest-corpus verify --component llm", 0, ((r"corpus/llm/", None),)),
}


def main() -> int:
    """Run the commands and write the pictures."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stderr.write("make pictures: there is no chromium; apt-get install chromium brings it\n")
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
        (folder / "mypkg.py").write_text(readme_adapter(), "utf-8")
        for name, shot in SHOTS.items():
            lines = select_lines(shot, output(shot, folder))
            for tone, colors in THEMES.items():
                (PICTURES / f"{name}-{tone}.svg").write_text(draw_svg(name, lines, colors), "utf-8")
        for tone in THEMES:
            photograph(browser, folder / "attestation.html", PICTURES / f"report-{tone}.png", tone)
    for path in sorted(PICTURES.iterdir()):
        sys.stdout.write(f"{path.relative_to(ROOT)}  {path.stat().st_size} bytes\n")
    return 0


def readme_adapter() -> str:
    """Return the code of the adapter in the README."""
    (text,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.S | re.M)
    return str(text)


def output(shot: Shot, folder: Path) -> str:
    """The output of a command on a terminal, colours included.

    Raises:
        RuntimeError: it ends with another code than the pictures are about.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("CI", "CORPUS_", "GITHUB_", "PYTEST"))
    }
    path = os.pathsep.join((str(Path(sys.executable).parent), kept.get("PATH", "")))
    # These plugins are there for the project's own tests; users have them only if they want them.
    plugins = "-p no:randomly -p no:asyncio"
    env = {**kept, "PATH": path, "TERM": "xterm-256color", "CORPUS_TEST_ENV": "local", "PYTEST_ADDOPTS": plugins}
    process = subprocess.Popen(
        shlex.split(shot.command), cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b"".join(iter(lambda: read(ours), b"")).decode().replace("\r\n", "\n")
    os.close(ours)
    if process.wait() != shot.code:
        raise RuntimeError(f"{shot.command} ended with {process.returncode}, not {shot.code}:\n{said[-2000:]}")
    return said


def read(terminal: int) -> bytes:
    """Return the next bytes of a terminal; empty if the other side has closed, which Linux reports as an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def select_lines(shot: Shot, said: str) -> list[Text]:
    """Return the command and the lines to show, with a mark for lines that are left out."""
    lines = list(AnsiDecoder().decode(said))
    shown = [Text.assemble(("$ ", "bold green"), (shot.command, "bold"))]
    for number, (first, end) in enumerate(shot.shown):
        start = next(index for index, line in enumerate(lines) if re.match(first, line.plain))
        rest = range(start, len(lines))
        stop = next(index for index in rest if re.match(end, lines[index].plain)) if end else len(lines)
        shown += [Text(LEFT_OUT, "dim")] if start or number else []
        shown += lines[start:stop]
        lines = lines[stop:]
    return [piece for line in shown for piece in wrap_line(line)]


def wrap_line(line: Text) -> Iterator[Text]:
    """Yield the parts of a line that a terminal would wrap."""
    yield from line.divide(range(COLUMNS, len(line), COLUMNS))


def draw_svg(name: str, lines: list[Text], colors: TerminalTheme) -> str:
    """Return lines as an SVG that loads nothing from elsewhere."""
    console = Console(record=True, file=io.StringIO(), width=COLUMNS, force_terminal=True, color_system="standard")
    for line in lines:  # neighbours of one colour together: a dot for each test would make it three times as large
        console.print(Segments([*Segment.simplify(line.render(console)), Segment.line()]))
    svg = console.export_svg(title="", theme=colors, code_format=SVG, unique_id=name)
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


def photograph(browser: str, page: Path, picture: Path, tone: str) -> None:
    """Write a picture of the top of an HTML page. Raises RuntimeError if the browser writes none."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
    options += ["--force-dark-mode"] if tone == "dark" else []
    size = ",".join(map(str, WINDOW))
    command = [browser, *options, f"--window-size={size}", f"--screenshot={picture}", page.as_uri()]
    picture.unlink(missing_ok=True)
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    if not picture.is_file():
        raise RuntimeError(f"{browser} took no picture of {page}")
    with Image.open(picture) as image:  # a third of the size
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(picture, "PNG", optimize=True)


if __name__ == "__main__":
    raise SystemExit(main())
