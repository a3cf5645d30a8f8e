"""Golden files: check them, make a missing one from its schema, tell what a changed schema means for them.

    for finding in check("my/golden"):
        print(finding)
    generate(["llm/llm_complete_request.json"], root="my/golden")
    for change in diff("my/golden", schemas="my/schemas"):
        print(change.patch)

The files are those of the table `pytest_corpus.spec.goldens`. Another folder than the shipped one is named by ``root``
or by the environment variable ``CORPUS_GOLDEN_ROOT``, other schemas by ``CORPUS_SCHEMAS_ROOT``.
"""

from pytest_corpus.authoring.findings import Finding
from pytest_corpus.authoring.goldens.changes import Change, diff
from pytest_corpus.authoring.goldens.checks import (
    MAX_BYTES,
    ROOT_VARIABLE,
    check,
    check_file,
    check_text,
    files,
    root_folder,
)
from pytest_corpus.authoring.goldens.invariants import CONDITIONS, DERIVATIONS, MAX_STRING_BYTES
from pytest_corpus.authoring.goldens.making import GoldenError, generate, made
from pytest_corpus.spec.goldens import goldens_of

__all__ = [
    "CONDITIONS",
    "DERIVATIONS",
    "MAX_BYTES",
    "MAX_STRING_BYTES",
    "ROOT_VARIABLE",
    "Change",
    "Finding",
    "GoldenError",
    "check",
    "check_file",
    "check_text",
    "diff",
    "files",
    "generate",
    "goldens_of",
    "made",
    "root_folder",
]
