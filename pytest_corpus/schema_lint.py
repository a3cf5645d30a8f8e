"""Lint a tree of schema files (SCHEMA 2.2, 2.3, 8.1, 8.3, 10.1, 12.B; R41).

    for finding in lint("my/schemas"):
        print(finding)

The tree is that of the table `pytest_corpus.spec.schemas`; another one than the shipped is named by ``root`` or by the
environment variable ``CORPUS_SCHEMAS_ROOT``. Whatever is wrong with a file is a finding, never an exception, and one
fault is one finding: rules that look across files pass over what cannot be read, and say nothing of what only seems
unused because a file is not there.
"""

from pytest_corpus.authoring.lint.linter import RULES as RULES
from pytest_corpus.authoring.lint.linter import LintRule as LintRule
from pytest_corpus.authoring.lint.linter import files as files
from pytest_corpus.authoring.lint.linter import lint as lint
from pytest_corpus.authoring.tree import LintFinding as LintFinding
