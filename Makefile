# One entry for people and for CI. `make` alone lists the targets.

PYTHON ?= python3
VENV ?= .venv
ZENML_VENV ?= .venv-zenml
FRAMEWORKS_VENV ?= .venv-frameworks
# Passed on to pytest: make test ARGS="tests/redteam -q"
ARGS ?=
# Processes that run tests; 0 runs them in pytest's own. Three keep two cores busy, as tests wait.
JOBS ?= 3

# The many processes of the tests would compile the same modules again and again.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
SAY := @printf '==> %s\n'
# Make of macOS is too old for it.
OUTPUT_SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-fast test-again lint lint-types lint-macos lint-layers lint-docs docs bench scan-report languages-table matrix kubernetes zenml frameworks clean system-tools
# A recipe that fails leaves no half-made stamp that a later call would believe.
.DELETE_ON_ERROR:

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.stamp-demo ## Run an analysis in the sandbox, and save its figures in ./demo-output
	@$(BIN)/python examples/demo.py

test: system-tools $(VENV)/.stamp-dev ## Install what the tests need, and run all but the slow ones (ARGS="..." goes to pytest)
	$(SAY) "running the tests"
	@$(BIN)/python tests/engines.py --install --tests $(ARGS) -- $(BIN)/python -m pytest -n $(JOBS) $(ARGS)

test-all: ## Run every test, as CI does (ARGS="--cases=all": with every case of the corpora, as before a release)
	@$(MAKE) --no-print-directory test ARGS="--slow $(ARGS)"

# Behaviour on the embedded backend, and the tree; nothing that takes an engine, an attack or ten seconds.
FAST := $(addprefix tests/,artifacts egress network packages parity readiness session unit values views workspace \
  contract/test_public_api.py packaging/test_docs.py packaging/test_names.py packaging/test_tree.py)

test-fast: $(VENV)/.stamp-dev ## Run the quick tests, which need no engine, before each commit
	@$(BIN)/python -m pytest -n $(JOBS) -q -m "not engine and not root and not redteam" $(FAST) $(ARGS)

ON_CLUSTER := --slow -m cluster $(addprefix tests/,kubernetes conformance detached/test_backends.py network/test_tunnels.py \
  network/test_way_out.py)

kubernetes: $(VENV)/.stamp-dev ## Run every test on the cluster of LLM_SANDBOX_TEST_KUBECONFIG
	@LLM_SANDBOX_TEST_KUBERNETES=all $(BIN)/python tests/engines.py --tests $(ON_CLUSTER) -- \
	  $(BIN)/python -m pytest -n $(JOBS) $(ON_CLUSTER) $(ARGS)

test-again: $(VENV)/.stamp-dev ## Run what failed the last time, one by one
	$(SAY) "running again, alone, what failed"
	@$(BIN)/python tests/engines.py --tests --slow $(ARGS) -- $(BIN)/python -m pytest -n 0 --last-failed --last-failed-no-failures none --slow $(ARGS)

lint: $(VENV)/.stamp-dev ## Check format, style, types and layers
	$(SAY) "format"
	@$(BIN)/ruff format --check .
	$(SAY) "style"
	@$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs=2 $(OUTPUT_SYNC) lint-types lint-macos lint-layers lint-docs

lint-types:
	$(SAY) "types"
	@$(BIN)/mypy

lint-macos:
	$(SAY) "types on macOS"
	@$(BIN)/python tests/hosts/check_types.py darwin

lint-layers:
	$(SAY) "layers"
	@$(BIN)/lint-imports

lint-docs:
	$(SAY) "documentation"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

docs: $(VENV)/.stamp-dev ## Serve the documentation at http://127.0.0.1:8000, and again after each change
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --strict

bench: $(VENV)/.stamp-dev ## Measure against stock alternatives
	@$(BIN)/python tests/engines.py -- $(BIN)/python -m benchmarks

scan-report: $(VENV)/.stamp-dev ## Measure what the scanner catches and flags (ARGS="--write --techniques")
	@$(BIN)/python -m benchmarks.scanner $(ARGS)

languages-table: system-tools $(VENV)/.stamp-dev ## Try every language, and write what each does into docs/languages.md
	@$(BIN)/python tests/engines.py --install --tests tests/conformance/test_languages.py -- $(BIN)/python -m pytest -n $(JOBS) -q \
	  tests/conformance/test_languages.py --cases=all --write-languages docs/languages.md $(ARGS)

matrix: system-tools $(VENV)/.stamp-dev ## Try every member of the adapters on every backend, and write docs/matrix.md
	@$(BIN)/python tests/engines.py --install --tests tests/matrix -- $(BIN)/python -m pytest -n $(JOBS) -q \
	  tests/matrix --cases=all --write-matrix docs/matrix.md $(ARGS)

zenml: system-tools $(VENV)/.stamp-dev $(ZENML_VENV)/.stamp ## Run pipelines of the real ZenML on every flavor
	@LLM_SANDBOX_TEST_ZENML_PYTHON=$(abspath $(ZENML_VENV))/bin/python $(BIN)/python tests/engines.py --install \
	  --tests tests/adapters/zenml -- $(BIN)/python -m pytest -n 0 tests/adapters/zenml $(ARGS)

frameworks: $(FRAMEWORKS_VENV)/.stamp ## Run the agents of the frameworks that the other environment lacks, all of them
	@$(FRAMEWORKS_VENV)/bin/python -m pytest --slow tests/integrations/frameworks $(ARGS)

clean: ## Remove the environment and everything built
	rm -rf $(VENV) $(ZENML_VENV) $(FRAMEWORKS_VENV) build dist demo-output .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  printf 'error: Python 3.11 or newer is needed, and `%s` is not one. Name another: make PYTHON=python3.12\n' '$(PYTHON)' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  printf 'error: `%s` cannot make environments. On Debian and Ubuntu: apt-get install python3-venv\n' '$(PYTHON)' >&2; exit 1; }
	$(SAY) "making an environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# pip compiles on one core. Some packages hold templates that are no Python, which is no error.
COMPILE = $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib >/dev/null || true

# What the library asks for, and newer than what many a Python brings.
$(VENV)/.stamp-pip: | $(BIN)/python
	$(SAY) "upgrading pip"
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=26.2'
	@touch $@

$(VENV)/.stamp-demo: pyproject.toml $(VENV)/.stamp-pip
	$(SAY) "installing llm-sandbox and what it needs (the first time takes a minute or two)"
	@$(BIN)/python -m pip uninstall --quiet --yes llm-sandbox 2>/dev/null # its name in older clones
	@$(BIN)/python -m pip install --no-compile --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml $(VENV)/.stamp-pip
	$(SAY) "installing llm-sandbox with the tools for development (the first time takes a minute or two)"
	@$(BIN)/python -m pip uninstall --quiet --yes llm-sandbox 2>/dev/null # its name in older clones
	@$(BIN)/python -m pip install --no-compile --editable . --group dev
	@$(COMPILE)
	@touch $@ $(VENV)/.stamp-demo

# ZenML's own needs would bend those of the other environment.
$(ZENML_VENV)/.stamp: pyproject.toml
	$(SAY) "installing ZenML in $(ZENML_VENV)"
	@$(PYTHON) -m venv $(ZENML_VENV)
	@$(ZENML_VENV)/bin/python -m pip install --quiet --editable '.[docker,podman,zenml]' 'zenml[local]==0.98.0'
	@touch $@

# CrewAI and ADK contradict the needs of the other environment, and others are large. CrewAI brings the
# OpenAI package that Agno's test speaks with.
$(FRAMEWORKS_VENV)/.stamp: pyproject.toml tests/integrations/frameworks/constraints.txt
	$(SAY) "installing the frameworks in $(FRAMEWORKS_VENV) (1.7 GB)"
	@$(PYTHON) -m venv $(FRAMEWORKS_VENV)
	@$(FRAMEWORKS_VENV)/bin/python -m pip install --quiet --upgrade 'pip>=26.2'
	@$(FRAMEWORKS_VENV)/bin/python -m pip install --quiet --editable \
	  '.[agent-framework,agno,autogen,claude-agent-sdk,crewai,deepagents,dspy,google-adk,llama-index]' \
	  psutil pytest pytest-timeout --constraint tests/integrations/frameworks/constraints.txt
	@touch $@

# What the tests run, with the Debian package of each: programs, and other files. Those after the
# first line are the languages'.
SYSTEM_PROGRAMS := bwrap:bubblewrap chromium:chromium useradd:passwd setpriv:util-linux ip:iproute2 ps:procps \
  node:nodejs npm:npm tsc:node-typescript ruby:ruby Rscript:r-base-core javac:openjdk-17-jdk-headless g++:g++ go:golang-go \
  shellcheck:shellcheck fc-list:fontconfig
R_LIBRARIES := /usr/lib/R/site-library
SYSTEM_FILES := /usr/share/fonts/truetype/dejavu:fonts-dejavu-core /usr/share/java/jfreechart.jar:libjfreechart-java \
  /usr/include/nlohmann:nlohmann-json3-dev $(R_LIBRARIES)/ggplot2:r-cran-ggplot2 \
  $(R_LIBRARIES)/jsonlite:r-cran-jsonlite $(R_LIBRARIES)/svglite:r-cran-svglite

# Only root on Debian can install programs; anyone else runs on the wheel's bwrap, and a test that
# needs more says so in its skip reason.
system-tools:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  missing=; \
	  for pair in $(SYSTEM_PROGRAMS); do \
	    command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair#*:}"; \
	  done; \
	  for pair in $(SYSTEM_FILES); do \
	    test -e "$${pair%%:*}" || missing="$$missing $${pair#*:}"; \
	  done; \
	  if [ -n "$$missing" ]; then \
	    printf '==> installing the programs that the tests need:%s\n' "$$missing"; \
	    apt-get -qq update && \
	    DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $$missing >/dev/null; \
	  fi; \
	fi
