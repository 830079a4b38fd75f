# Each target is one step of CI. `make help` lists them.

# One interpreter for every build (PyO3 rebuilds when it changes) and one target/ folder for Rust and for the wheel.
VENV := .venv
BIN := $(VENV)/bin
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# The extension is built for the venv alone, so pip needs to say nothing about itself.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# An activated environment elsewhere must not draw maturin away from ours.
unexport CONDA_PREFIX
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# The environments of the benchmark's other systems: `make test` brings them, the product never needs them.
export TESSARRAY_BENCH_HOME := $(CURDIR)/.bench
INPUT ?=
TIME ?= 10
# Python sources are not listed: the package is installed in place, so an edit needs no build.
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.DEFAULT_GOAL := help
.PHONY: help build demo test test-rust test-python lint format limit bench fuzz torture lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */|/' | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

build: $(VENV)/.built ## make .venv with the release build of the package and its command (PYTHON=... picks the Python)

demo: build ## the main job on a real file: make demo [INPUT=path/to/file.nc]
	$(BIN)/tessarray demo $(if $(INPUT),"$(INPUT)")

test: build $(VENV)/.dev .bench/.installed ## every test, Rust and Python; the last line sums both
	$(BIN)/python tools/run_tests.py

test-rust: build $(VENV)/.dev ## the Rust tests, doc tests and examples
	$(BIN)/python tools/run_tests.py --rust

test-python: build $(VENV)/.dev .bench/.installed ## the Python tests
	$(BIN)/python tools/run_tests.py --python

lint: $(VENV)/.dev ## formats, clippy, ruff, mypy, the layers and the file sizes
	@tools/lint $(BIN)

format: $(VENV)/.dev ## rewrite the sources in the house format
	cargo fmt --all
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

limit: $(VENV)/.python ## what this machine can do: memcpy, codec-only and file-write rates
	cargo run --release --package tessarray --example limit

bench: $(VENV)/.python ## the Rust benches of plan, decode and encode
	cargo bench --workspace --exclude tessarray-python

fuzz: ## fuzz every target for TIME seconds each: make fuzz [TIME=600]
	TIME=$(TIME) sh tools/fuzz

torture: build $(VENV)/.dev ## kills, losses of power, damage, clocks and models for TIME seconds: make torture [TIME=3600]
	$(BIN)/python tools/torture.py --time $(TIME)

lock: $(VENV)/.python ## resolve the Python dependencies anew
	tools/lock $(BIN)/python

clean: ## remove what was built
	rm -rf target $(VENV) .bench tessarray-bench demo-output .pytest_cache .hypothesis .ruff_cache .mypy_cache fuzz/target
	find python -name '*.so' -delete
	find python tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python: tools/find-python
	@command -v cargo >/dev/null || { echo "Rust is missing: cargo is not on PATH (see https://rustup.rs)" >&2; exit 1; }
	python="$$(sh tools/find-python)" && "$$python" -m venv --clear $(VENV)
	touch $@

$(VENV)/.demo: requirements/demo.lock.txt $(VENV)/.python
	$(BIN)/python -m pip install --quiet --requirement requirements/demo.lock.txt
	touch $@

$(VENV)/.dev: requirements/dev.lock.txt $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --requirement requirements/dev.lock.txt
	touch $@

.bench/.installed: $(wildcard python/tessarray_bench/environments/*.lock.txt) | $(VENV)/.built
	$(BIN)/tessarray bench install
	touch $@

$(VENV)/.built: $(VENV)/.demo pyproject.toml $(RUST_SOURCES)
	$(BIN)/maturin develop --release --locked
	touch $@
