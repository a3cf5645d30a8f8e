"""The site: `make site` builds it into docs/_build/html."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "_ext"), str(Path(__file__).parent.parent)]

project = "pytest-corpus"
author = "The pytest-corpus developers"
project_copyright = author
version = release = version_of("pytest-corpus")

extensions = ["myst_parser", "catalogue_pages", "id_links", "pictures"]
exclude_patterns = ["_build", "_ext"]
nitpicky = True
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]
myst_linkify_fuzzy_links = False

html_theme = "furo"
html_title = f"pytest-corpus {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["ids.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
