# Horai: everything runs from a virtual environment inside the project folder.
# `make install` is skipped while requirements.lock and pyproject.toml stay as they are,
# so all other targets work offline once it has run.

PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JARS := .jars/.fetched
# The engine's machine is compiled in place, again when one of these has changed. Bytecode is written
# beside it, so that the first command need not make it.
COMPILED := $(VENV)/.compiled
CORE_SOURCES := scripts/build_core.py src/horai/plan/ec/instructions.py \
	src/horai/engine/numbering.py src/horai/signals/loops.py \
	$(wildcard src/horai/engine/machine/*.p* src/horai/engine/views/*.p*)
# Cases with their answers, each on every engine.
CORE := tests/cases tests/lars/test_cases.py tests/test_conformance.py tests/lars/test_conformance.py

.DEFAULT_GOAL := help
.PHONY: help install jars demo check test test-long bench docs web lint cases quick lock clean

help:
	@echo "make install    virtual environment with pinned packages; a C compiler, graphviz, java, a browser"
	@echo "                and jars if missing; the machine of the compiled engine"
	@echo "make jars       only the jars for Kafka and Delta Lake on Spark"
	@echo "make demo       see Horai at work"
	@echo "make check      lint, types and all cases on every engine: under a minute"
	@echo "make test       lint, types and the quick tests: seven to eight minutes on two cores"
	@echo "make test-long  the same with the slow tests, and many more random examples: hours"
	@echo "make bench      measurements"
	@echo "make docs       the documentation as a web site in site/"
	@echo "make web        what pages of horai report are made of, from web/ (needs npm)"
	@echo "make lint       ruff and mypy"
	@echo "make lock       renew requirements.lock (needs uv)"
	@echo "make clean      remove everything that can be made again"

install: $(STAMP) $(COMPILED) $(JARS)

jars: $(JARS)

$(STAMP): requirements.lock pyproject.toml
	PYTHON=$(PYTHON) bash scripts/system-packages.sh
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(COMPILED): $(STAMP) $(CORE_SOURCES)
	$(BIN)/python scripts/build_core.py
	$(BIN)/python -m compileall -q -x /template/ src
	@touch $@

# What is there already is not fetched again.
$(JARS): $(STAMP) scripts/fetch_jars.py src/horai/runtime/spark/connect.py
	$(BIN)/python scripts/fetch_jars.py
	@touch $@

demo: $(STAMP) $(COMPILED)
	$(BIN)/python scripts/demo.py

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

PYTEST = $(BIN)/pytest -n $(JOBS)
# mypy takes half a minute where it finds nothing of a run before: tests need not wait for it.
BESIDE_LINT = $(MAKE) --no-print-directory --jobs=2 lint

check: $(STAMP)
	$(BESIDE_LINT) cases

test: $(STAMP) $(JARS)
	$(BESIDE_LINT) quick

cases: $(STAMP) $(COMPILED)
	$(PYTEST) -m "not slow" $(CORE)

quick: $(STAMP) $(COMPILED) $(JARS)
	$(PYTEST) -m "not slow"

test-long: lint $(COMPILED) $(JARS)
	$(PYTEST) --hypothesis-profile=long --timeout=7200

bench: $(STAMP) $(COMPILED) $(JARS)
	@set -e; for f in bench/bench_*.py; do \
		test -e "$$f" || continue; echo "== $$f"; $(BIN)/python "$$f"; \
	done

docs: $(STAMP)
	$(BIN)/mkdocs build --strict

# Built once: what it writes is kept, so that nobody else needs npm.
web:
	cd web && npm ci --omit-lockfile-registry-resolved && npm run build

lock:
	uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--extra dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) .jars web/node_modules site build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f src/horai/engine/numbering.*so src/horai/engine/core/*.so src/horai/engine/core/machine.built
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
