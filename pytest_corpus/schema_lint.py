"""Lint a tree of schema files (SCHEMA 2.2, 2.3, 8.1, 8.3, 10.1, 12.B; R41).

    for finding in lint("my/schemas"):
        print(finding)

The table `pytest_corpus.spec.schemas` lists the files. ``root`` or the environment variable ``CORPUS_SCHEMAS_ROOT``
names a folder to use instead of the shipped one. A faulty file is a finding, never an exception. Each fault is
reported once: rules that compare files skip unreadable files; if a file is missing, no definition counts as unused.
"""

from pytest_corpus.authoring.lint.linter import RULES as RULES
from pytest_corpus.authoring.lint.linter import LintRule as LintRule
from pytest_corpus.authoring.lint.linter import files as files
from pytest_corpus.authoring.lint.linter import lint as lint
from pytest_corpus.authoring.tree import LintFinding as LintFinding
