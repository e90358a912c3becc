# casmore: one command from a fresh machine to a report.  `make` alone lists the targets.
#
# Needs make and Python 3.11 or newer; everything else goes into a virtual environment, .venv.

CONFIG ?= configs/quick.toml
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# the paper's studies, each a file in configs/, and which figures to make; empty: all
STUDY  ?= rosenbrock_grid rosenbrock ablation sensitivity
FIG    ?=
# the stamps say that what pyproject.toml asks for is installed; a change of the file renews them
READY  := $(VENV)/.ready
ROBOT  := $(VENV)/.ready-robot
DEV    := $(VENV)/.ready-dev
DOCS   := $(VENV)/.ready-docs
OLDEST := .venv-oldest
# how many processes run the tests
JOBS   ?= 2
QUICK  := tests/algorithms tests/problems tests/solvers tests/optimize tests/test_trace.py
SITE   := docs/_build/html
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup bbob report study figures docs test test-quick test-all test-oldest lint clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  CONFIG=FILE   the experiment (now $(CONFIG))'
	@echo '  PYTHON=FILE   what to make .venv with (now $(PYTHON); 3.11 or newer)'
	@echo '  STUDY=NAME    a study (default: all of $(STUDY);'
	@echo '                those of robot tasks are in docs/robot.md)'
	@echo '  FIG=NAME      a figure or table of the studies (default: all)'

setup: $(READY) ## install what an experiment needs into .venv

bbob: $(READY) ## run an experiment (again: resume it), then report it
	$(BIN)/casmore run $(CONFIG)
	$(BIN)/casmore report $(CONFIG)

report: $(READY) ## make the report of CONFIG's run again
	$(BIN)/casmore report $(CONFIG)

study: $(ROBOT) ## run the studies (again: resume them), put their tables into results/
	for name in $(STUDY); do $(BIN)/casmore run configs/$$name.toml --out runs/$$name || exit; done
	$(BIN)/python scripts/summarize_study.py $(STUDY:%=runs/%)

figures: $(ROBOT) ## make the studies' figures from the tables in results/
	$(BIN)/python scripts/figures.py $(FIG)

docs: $(DOCS) ## build the documentation site into docs/_build/html
	$(BIN)/python -m sphinx --jobs auto --fail-on-warning --keep-going docs $(SITE)
	$(BIN)/python scripts/check_site.py $(SITE)

test: $(DEV) ## run the tests, except those marked slow
	$(PYTEST) -m 'not slow'

test-quick: $(DEV) ## run the tests of the library alone, in about a minute
	$(PYTEST) -m 'not slow' $(QUICK)

test-all: test ## run all tests, the slow ones, too; pages are tested in Chromium
	$(BIN)/python -m pytest -m slow  # one by one: whole reports of cocopp disturb each other

# the oldest versions have wheels for Python 3.11 alone
test-oldest: ## run the tests of algorithms and fmin with the oldest NumPy and SciPy allowed
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --only-binary numpy,scipy --editable '.[test]' \
	  $$(grep '^dependencies' pyproject.toml | grep -o '[a-z]*>=[0-9.]*' | sed 's/>=/==/')
	$(OLDEST)/bin/python -m pytest -n $(JOBS) tests/algorithms tests/optimize

lint: $(DEV) ## check style, types, and who imports whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean: ## remove .venv, the built site and caches; runs/ stays
	rm -rf $(VENV) $(OLDEST) dist
	rm -rf docs/_build docs/api/generated docs/examples
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "casmore needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
	  echo "Give another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "$(PYTHON) can't make a virtual environment; on Debian and Ubuntu:"; \
	  echo "  sudo apt install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --editable '.[bbob]'
	@touch $@

$(ROBOT): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[robot]'
	@touch $@

$(DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

$(DEV): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@
