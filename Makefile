# From a fresh clone to a running demo and a whole check, with Python 3.11+, make, git and access to the package index.
# What has been made is noted by stamps in .venv: remove that folder and all is made anew.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
GUEST  := src/codemodekit/sandboxes/quickjs/guest.wasm
PARTS  := $(addprefix src/codemodekit/sandboxes/quickjs/guest/,build.py bake.py engine_edits.py engine_edits.txt shim.c prelude.js source.lock toolchain.lock)
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
.DELETE_ON_ERROR:
.PHONY: help demo test check lint types fence unit bench fuzz soak load conformance guest docs clean

help:
	@echo "make demo    install what the demo needs and show Code Mode at work"
	@echo "make test    the whole check: lint, types, import fence, tests"
	@echo "make check   the same without the slow tests"
	@echo "make bench   measure, beside FastMCP's code mode where the same work exists there (ARGS=--quick)"
	@echo "make fuzz    the random tests at greater length, with other cases each time (TIMES=20)"
	@echo "make load    200 clients at once against a server over HTTP (ARGS='--clients 20 --runs 500 --json')"
	@echo "make soak    20,000 mixed runs with faults; fails if anything leaks (ARGS='--runs 2000 --json')"
	@echo "make conformance  the public MCP conformance suite against our server and our sources (npm)"
	@echo "make guest   build the sandbox's WebAssembly guest (about a minute, once)"
	@echo "make docs    check the documentation"
	@echo "make clean   remove what was made"

demo: $(VENV)/.demo
	@$(BIN)/codemodekit demo

test: $(VENV)/.test
	@$(MAKE) --no-print-directory lint types fence
	@echo "== tests"
	@$(BIN)/python -m pytest

check: $(VENV)/.test
	@$(MAKE) --no-print-directory lint types fence
	@echo "== tests, without the slow ones"
	@$(BIN)/python -m pytest -m "not slow"

lint: $(VENV)/.test
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "run: $(BIN)/ruff format ."; exit 1; }

types: $(VENV)/.test
	@echo "== types"
	@$(BIN)/mypy

fence: $(VENV)/.test
	@echo "== imports"
	@$(BIN)/lint-imports --no-logo

bench: $(VENV)/.bench
	@$(BIN)/python -m bench $(ARGS)

fuzz: $(VENV)/.test
	@CODEMODEKIT_FUZZ=$(or $(TIMES),20) $(BIN)/python -m pytest -m fuzz

load: $(VENV)/.test
	@$(BIN)/python -m bench.load $(ARGS)

soak: $(VENV)/.test
	@$(BIN)/python -m tests.soak $(ARGS)

conformance: $(VENV)/.test
	@$(BIN)/python -m tests.mcp_conformance

docs: $(VENV)/.test
	@$(BIN)/python -m pytest tests/docs

guest: $(VENV)/.made
	@$(BIN)/python src/codemodekit/sandboxes/quickjs/guest/build.py

$(VENV)/.made:
	@echo "== virtual environment"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; name one with PYTHON=")'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(GUEST): $(VENV)/.made $(PARTS)
	@echo "== guest (about a minute, once)"
	@$(BIN)/python src/codemodekit/sandboxes/quickjs/guest/build.py
	@touch $@

$(VENV)/.demo: pyproject.toml hatch_build.py $(GUEST)
	@echo "== dependencies of the demo"
	@$(PIP) install -e '.[demo,tokens]'
	@touch $@

$(VENV)/.test: pyproject.toml hatch_build.py $(GUEST)
	@echo "== dependencies of the tests"
	@$(PIP) install -e '.[test]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.test
	@echo "== dependencies of the bench"
	@$(PIP) install -e '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) $(GUEST) $(GUEST:.wasm=.json) dist .mypy_cache .ruff_cache .import_linter_cache bench/results
