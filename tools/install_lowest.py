"""`pip install`, with the lower bound of each requirement for its version: tox's install command in `lowest`.

python tools/install_lowest.py "pytest>=8.2" "orjson>=3.10"

The bounds are those of pyproject.toml, which tox passes on from the wheel's metadata. What has no lower bound, as
options and paths, goes to pip as it is.
"""

import subprocess
import sys


def pin_to_lower_bound(argument: str) -> str:
    """Return a requirement with its lower bound as the version; any other argument unchanged."""
    bounds, *marker = argument.partition(";")
    return "".join((bounds.replace(">=", "=="), *marker))


if __name__ == "__main__":
    arguments = map(pin_to_lower_bound, sys.argv[1:])
    sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *arguments]))
