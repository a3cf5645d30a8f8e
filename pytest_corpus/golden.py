"""Golden files: check them, make missing ones from their schemas, and compute the effect of changed schemas.

    for finding in check("my/golden"):
        print(finding)

    generate(["llm/llm_complete_request.json"], root="my/golden")

    for change in diff("my/golden", schemas="my/schemas"):
        print(change.patch)

The table `pytest_corpus.spec.goldens` lists the files. ``root`` or the environment variable ``CORPUS_GOLDEN_ROOT``
names a folder to use instead of the shipped one. ``CORPUS_SCHEMAS_ROOT`` names other schemas.
"""

from pytest_corpus.authoring.goldens.checks import MAX_BYTES as MAX_BYTES
from pytest_corpus.authoring.goldens.checks import ROOT_VARIABLE as ROOT_VARIABLE
from pytest_corpus.authoring.goldens.checks import check as check
from pytest_corpus.authoring.goldens.checks import check_file as check_file
from pytest_corpus.authoring.goldens.checks import check_text as check_text
from pytest_corpus.authoring.goldens.checks import files as files
from pytest_corpus.authoring.goldens.checks import root_folder as root_folder
from pytest_corpus.authoring.goldens.invariants import CONDITIONS as CONDITIONS
from pytest_corpus.authoring.goldens.invariants import DERIVATIONS as DERIVATIONS
from pytest_corpus.authoring.goldens.invariants import MAX_STRING_BYTES as MAX_STRING_BYTES
from pytest_corpus.authoring.goldens.maker import Change as Change
from pytest_corpus.authoring.goldens.maker import GoldenError as GoldenError
from pytest_corpus.authoring.goldens.maker import diff as diff
from pytest_corpus.authoring.goldens.maker import generate as generate
from pytest_corpus.authoring.goldens.maker import make_golden as make_golden
from pytest_corpus.authoring.tree import LintFinding as LintFinding
from pytest_corpus.spec.goldens import goldens_of as goldens_of
