"""A browser and packages of npm for the tests that need them.

What they need besides Python: Debian's `chromium`, Node 20 and npm. Where `CI` is set their absence is a failure;
elsewhere it is a skip that says what to install.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def refuse(why: str) -> None:
    """Skip where somebody works without a browser, fail where nobody would notice."""
    said = f"{why}; the browser tests need: apt-get install chromium nodejs npm"
    if os.environ.get("CI"):
        pytest.fail(said, pytrace=False)
    pytest.skip(said)


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The browser, and a folder in which the packages are installed as the lock file says."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        refuse("there is no chromium")
    if not (shutil.which("node") and shutil.which("npm")):
        refuse("there is no node or no npm")
    folder = tmp_path_factory.mktemp("node")
    for name in ("package.json", "package-lock.json", "look.mjs", "cases.mjs", "lint.mjs"):
        shutil.copy(HERE / name, folder)
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        refuse(f"npm ci failed: {done.stderr.strip()[-300:]}")
    return str(browser), folder
