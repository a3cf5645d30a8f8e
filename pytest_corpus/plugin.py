"""Entry point of the pytest plugin; `plugin_hooks.py` has its hooks and fixtures."""

import sys
from importlib.machinery import PathFinder

sys.meta_path.insert(0, PathFinder)  # pytest's assertion rewriting reads a module five times slower
try:
    from pytest_corpus.plugin_hooks import *
finally:
    sys.meta_path.remove(PathFinder)
