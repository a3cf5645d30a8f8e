"""Recognizes bundle files; other tools also use the name bundle.yaml (R77)."""

import os
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import pytest

NAMES = ("bundle.yaml", "bundle.yml")


def is_collected(path: Path, parent: pytest.Collector) -> bool:
    """True if a file is a bundle: the command line names it, `corpus_bundles` matches it, or its content shows it."""
    config = parent.config
    try:
        relative = path.relative_to(config.rootpath).as_posix()
    except ValueError:
        relative = path.name
    for pattern in config.getini("corpus_bundles") or ():
        if fnmatchcase(relative, pattern) or PurePosixPath(relative).match(pattern):
            return True
    if path.name not in NAMES:
        return False
    named = (os.path.abspath(config.invocation_params.dir / str(arg).partition("::")[0]) for arg in config.args)
    if str(path) in named:
        return True
    from pytest_corpus.bundles.loading.bundle_file import is_bundle

    return is_bundle(path)
