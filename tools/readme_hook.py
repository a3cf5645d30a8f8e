"""The README as package indexes show it: pictures by an absolute address, or their descriptions where there is none.

hatchling calls it for the metadata. The address follows from `Repository` in `[project.urls]`, which is set when the
repository is public.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r'<picture>\s*(?:<source [^>]*>\s*)?<img alt="([^"]*)"[^>]*src="([^"]*)"[^>]*>\s*</picture>\n?')


def to_published(readme: str, repository: str = "", version: str = "") -> str:
    """Return the text of the README without relative addresses."""
    raw = repository.rstrip("/").replace("https://github.com/", "https://raw.githubusercontent.com/")

    def shown(found: re.Match[str]) -> str:
        alt, path = found.groups()
        return f"![{alt}]({raw}/v{version}/{path})\n" if repository else f"*{alt}.*\n"

    return PICTURE.sub(shown, readme)


class CustomMetadataHook(MetadataHookInterface):
    """Sets the description of the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the README into the metadata."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        repository = metadata.get("urls", {}).get("Repository", "")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": to_published(text, repository, str(metadata.get("version", ""))),
        }
