# The runbook: conformance runs, the project's own tests, checks. `make help` says what there is.

ADAPTER        ?= pytest_corpus.reference:all
ATTESTATION    ?= attestation.json
PYTEST_JOBS    ?= auto
SEED           ?= 0
PYTEST_ARGS    ?=
PYTHON         ?= python3
VENV           ?= .venv

COMPONENTS := llm vector embedding graph

# The module of ADAPTER, without a label and without the attribute. What the suite does not reach in the
# embedded adapters would be no part of the protocol; another adapter may well hold more than its wire.
ADAPTER_MODULE := $(firstword $(subst :, ,$(lastword $(subst =, ,$(ADAPTER)))))
COV            ?= $(ADAPTER_MODULE)
COV_FAIL_UNDER ?= $(if $(filter pytest_corpus.reference,$(ADAPTER_MODULE)),80,0)

absolute = $(if $(filter /%,$1),$1,$(CURDIR)/$1)
BIN   := $(call absolute,$(VENV))/bin
READY := $(VENV)/.ready-

# The suite needs no test files: it runs in an empty folder with settings of its own, and finds adapters of the
# current folder.
EMPTY       := $(VENV)/conformance
CONFORMANCE  = cd '$(EMPTY)' && PYTHONPATH='$(CURDIR)'$${PYTHONPATH:+:$$PYTHONPATH} '$(BIN)/python' -m pytest \
	-p no:asyncio -p no:randomly -n $(PYTEST_JOBS) --corpus-adapter='$(ADAPTER)'
COVERED      = --cov='$(COV)' --cov-fail-under=$(COV_FAIL_UNDER)
PARTIAL      = code=$$?; echo "make $@: $(SAID). The whole suite: make verify"; exit $$code

# Most targets start many processes that import the same.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help verify test-conformance $(COMPONENTS:%=test-%-conformance) test-fast $(COMPONENTS:%=test-fast-%) \
	quick-check conformance-report validate-env safety-check environment test coverage mutants faults orders lint docs readmes examples site pictures bench dist dist-check clean

help:
	@sed -n 's/^##$$//p; s/^## //p' $(firstword $(MAKEFILE_LIST))

## Conformance of an adapter
##   verify, test-conformance     the whole suite with coverage; writes the attestation
##   test-llm-conformance         the suite of one component with coverage; likewise vector, embedding, graph
##   test-fast, test-fast-llm     without coverage and without slow tests; likewise the other components
##   quick-check                  smoke test: one core test of each requirement
##   conformance-report           the whole suite without coverage; writes the attestation and prints where
##   validate-env                 warns if CORPUS_TEST_ENV is not set
##   safety-check                 refuses the whole suite where CORPUS_TEST_ENV is production
##   A run that leaves tests out is partial: it finds violations, and gives no verdict.
##
## The project itself
##   test                         its own tests, mutants of a sixth of the requirements among them; those of the HTML
##                                pages need chromium and node, and are skipped without them
##   coverage                     branch coverage of the package by its unit tests
##   mutants                      every mutant against the whole suite (about half an hour on two cores)
##   faults                       300 faults that a machine makes in each reference adapter; resumes where it was
##                                interrupted (an hour on two cores), and prints those that nothing finds
##   orders                       202 random orders of the suite over references, skeletons and three examples: every
##                                requirement has the same status in each (half an hour on two cores)
##   environment                  installs what all of these need, at once
##   lint                         ruff check, ruff format, mypy, import contracts; what `pytest-corpus init` writes
##   readmes                      the commands in the READMEs of the light examples, in fresh environments (two minutes)
##   examples                     each adapter of examples/ in an environment of its own; writes reports/ and
##                                docs/matrix.md; then the commands of every README (half an hour, and back ends
##                                from the package index)
##   docs                         writes the generated pages that are committed: requirements, options, drawing
##   site                         writes the other generated pages and builds all as a site in docs/_build/html
##   pictures                     the pictures of terminal and report in docs/pictures/ anew, from real runs; needs
##                                chromium. Look at them before you commit them
##   bench                        what the plugin costs a pytest run that declares no adapter, what the suite,
##                                validating (docs/performance.md) and a matrix of reports cost
##   dist                         sdist and wheel in dist/, built twice and the same, and twine check --strict
##   dist-check                   the wheel of dist/ in a fresh environment of every Python at hand, and of each extra
##   clean                        removes the virtual environment and all that is generated
##
## Variables, as in: make verify ADAPTER=mypkg:factory PYTEST_JOBS=2
##   ADAPTER=pytest_corpus.reference:all
##                                what to test: module:factory or label=module:factory; the current folder is
##                                importable, other packages belong into .venv first
##   ATTESTATION=attestation.json
##                                where the attestation goes
##   PYTEST_JOBS=auto             processes: auto, a number, or 0 for none beside pytest itself; auto is one for each
##                                core
##   COV_FAIL_UNDER=N             per cent of COV that the suite must reach. 80 for the embedded adapters; 0 for
##                                any other, for code beside the wire is none of the suite's business
##   COV=module                   what coverage is measured of; the module of ADAPTER unless given
##   PYTEST_ARGS=                 more arguments for pytest
##   PYTHON=python3               which Python makes the virtual environment (3.11 to 3.14)
##   VENV=.venv                   where it lies
##
## Every target sets up what it needs. A target fails where pytest does, and make then names pytest's exit code:
## 1 a MUST is violated, 4 the adapter cannot be tested, 5 nothing ran.

# -- environment -------------------------------------------------------------------------------------------

# One stamp for each set of extras, older than pyproject.toml when the set has changed.
$(READY)run:   EXTRAS = xdist,cov
$(READY)test:  EXTRAS = test
$(READY)check: EXTRAS = test,dev
$(READY)site:  EXTRAS = test,docs
$(READY)all:   EXTRAS = test,dev,docs
$(READY)run $(READY)test $(READY)check $(READY)site $(READY)all: pyproject.toml | $(VENV)/bin/python $(EMPTY)/pytest.ini
	'$(BIN)/python' -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $@

environment: $(READY)all
	@touch $(READY)run $(READY)test $(READY)check $(READY)site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: Python 3.11 or newer is needed; name one with PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv '$(VENV)' || { rm -rf '$(VENV)'; exit 1; }

$(EMPTY)/pytest.ini: | $(VENV)/bin/python
	@mkdir -p '$(EMPTY)' && echo '[pytest]' > $@

# -- conformance -------------------------------------------------------------------------------------------

verify: test-conformance

test-conformance: safety-check $(READY)run
	@rm -f '$(ATTESTATION)'
	$(CONFORMANCE) $(COVERED) --corpus-report='$(call absolute,$(ATTESTATION))' $(PYTEST_ARGS)

$(COMPONENTS:%=test-%-conformance): test-%-conformance: safety-check $(READY)run
	$(CONFORMANCE) $(COVERED) --corpus-components=$* $(PYTEST_ARGS)

conformance-report: safety-check $(READY)run
	@rm -f '$(ATTESTATION)'
	@$(CONFORMANCE) --corpus-report='$(call absolute,$(ATTESTATION))' $(PYTEST_ARGS); code=$$?; \
	test ! -f '$(call absolute,$(ATTESTATION))' || echo "attestation: $(call absolute,$(ATTESTATION))"; exit $$code

test-fast $(COMPONENTS:%=test-fast-%): SAID = without slow tests; where that leaves any out, no verdict is issued
quick-check: SAID = one core test of each requirement; no verdict is issued

test-fast: $(READY)run
	@$(CONFORMANCE) -m 'not slow' $(PYTEST_ARGS); $(PARTIAL)

$(COMPONENTS:%=test-fast-%): test-fast-%: $(READY)run
	@$(CONFORMANCE) -m 'not slow' --corpus-components=$* $(PYTEST_ARGS); $(PARTIAL)

quick-check: $(READY)run
	@$(CONFORMANCE) --corpus-profile=quick $(PYTEST_ARGS); $(PARTIAL)

validate-env:
	@if [ -z "$$CORPUS_TEST_ENV" ]; then \
		echo "warning: CORPUS_TEST_ENV is not set; set it to what the adapter talks to, such as local, ci, staging"; \
	else echo "CORPUS_TEST_ENV is $$CORPUS_TEST_ENV"; fi

safety-check:
	@case "$$(printf %s "$$CORPUS_TEST_ENV" | tr '[:upper:]' '[:lower:]')" in production|prod) \
		echo "make: refused: the whole suite does not run where CORPUS_TEST_ENV is $$CORPUS_TEST_ENV" >&2; exit 1;; \
	esac

# -- the project itself ------------------------------------------------------------------------------------

test: $(READY)test
	'$(BIN)/python' -m pytest -n $(PYTEST_JOBS) --dist worksteal -m 'not slow' $(PYTEST_ARGS)

coverage: $(READY)test
	'$(BIN)/python' -m pytest -q -n $(PYTEST_JOBS) -m 'not slow' --cov=pytest_corpus --cov-branch \
		--cov-report=term:skip-covered tests/unit tests/adapter tests/reports tests/bundles $(PYTEST_ARGS)

mutants: $(READY)test
	'$(BIN)/python' -m pytest -n $(PYTEST_JOBS) tests/mutants $(PYTEST_ARGS)

faults: $(READY)test
	@code=0; for component in $(COMPONENTS); do \
		'$(BIN)/python' tools/machine_faults.py $$component --seed $(SEED) --jobs 2 --again --results .faults.jsonl || code=1; \
	done; '$(BIN)/python' tools/detection.py --seed $(SEED) --faults .faults.jsonl && '$(BIN)/python' tools/pages.py && exit $$code

orders: $(READY)test
	'$(BIN)/python' -m pip install --quiet --disable-pip-version-check networkx
	'$(BIN)/python' tools/orders.py

lint: $(READY)check
	'$(BIN)/ruff' check .
	'$(BIN)/ruff' format --check .
	'$(BIN)/mypy'
	'$(BIN)/mypy' tests/typing
	'$(BIN)/mypy' --config-file tests/mypy.ini
	'$(BIN)/lint-imports'
	'$(BIN)/python' tools/lint_skeletons.py

docs: $(READY)test
	'$(BIN)/python' tools/pages.py

site: $(READY)site
	'$(BIN)/sphinx-build' -q -W -n --keep-going -j auto docs docs/_build/html
	@echo "site: $(CURDIR)/docs/_build/html/index.html"

pictures: $(READY)check
	'$(BIN)/python' tools/pictures.py

EXAMPLES := $(notdir $(patsubst %/,%,$(dir $(wildcard examples/*/pyproject.toml))))
comma    := ,
space    := $(subst ,, )

readmes: $(READY)test
	'$(BIN)/python' -m pytest -n $(PYTEST_JOBS) -m slow tests/unit/test_examples.py $(PYTEST_ARGS)

examples: $(READY)check
	'$(BIN)/tox' run-parallel --parallel 2 -e '$(subst $(space),$(comma),$(EXAMPLES))'
	'$(BIN)/tox' run -e report
	CORPUS_ALL_EXAMPLES=1 $(MAKE) readmes PYTEST_JOBS=2

bench: $(READY)run
	'$(BIN)/python' benchmarks/validation.py
	'$(BIN)/python' benchmarks/matrix.py
	'$(BIN)/python' benchmarks/startup.py
	'$(BIN)/python' benchmarks/suite_cpu.py
	'$(BIN)/python' benchmarks/lateness.py
	'$(BIN)/python' benchmarks/in_flight.py llm-50
	'$(BIN)/python' benchmarks/decisions.py
	'$(BIN)/python' benchmarks/bundle_cost.py

dist: $(READY)check
	'$(BIN)/python' tools/build_dist.py

dist-check: $(READY)check
	'$(BIN)/python' tools/check_dist.py

clean:
	rm -rf '$(VENV)' .ci-venv build dist docs/_build docs/documents docs/requirements *.egg-info .tox .coverage* htmlcov .hypothesis \
		.pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	rm -f '$(ATTESTATION)' .faults.jsonl
