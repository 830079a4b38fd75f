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
LANES ?=
TIME ?= 10
# Python sources are not listed: the package is installed in place, so an edit needs no build.
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.DEFAULT_GOAL := help
.PHONY: help build demo develop test test-rust test-python lint rustdoc msrv minimal windows aarch64 deny mutants format limit bench fuzz torture lock clean

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */|/' | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

build: $(VENV)/.built ## make .venv with the release build of the package and its command (PYTHON=... picks the Python)

demo: build ## the main job on a real file: make demo [INPUT=path/to/file.nc]
	$(BIN)/tessarray demo $(if $(INPUT),"$(INPUT)")

develop: $(VENV)/.developed ## .venv with a build that checks itself (overflows, debug assertions): what tests run against

test: develop .bench/.installed ## every test, Rust and Python; the last line sums both
	$(BIN)/python tools/run_tests.py

test-rust: $(VENV)/.python ## the Rust tests, doc tests and examples
	$(BIN)/python tools/run_tests.py --rust

test-python: develop .bench/.installed ## the Python tests
	$(BIN)/python tools/run_tests.py --python

lint: $(VENV)/.dev ## formats, clippy, ruff, mypy, the layers and the file sizes
	@tools/lint $(BIN)

rustdoc: ## Rust's documentation builds without a warning (this lane and the next five: tools/lanes --help)
msrv: ## the workspace compiles with the oldest Rust that Cargo.toml promises
minimal: ## it compiles with the oldest versions of its own dependencies that Cargo.toml allows
windows: ## it compiles for Windows (GNU)
aarch64: ## it compiles for 64-bit Arm Linux
deny: ## licences, doubled crates and advisories of all dependencies
rustdoc msrv minimal windows aarch64 deny: $(VENV)/.python
	sh tools/lanes $@

mutants: $(VENV)/.dev ## faults planted in chosen files, which the tests are to see: make mutants [LANES="conflict grid"]
	sh tools/install $(BIN)/python tools/mutants/requirements.txt
	$(BIN)/python tools/mutants $(LANES)

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
	sh tools/install $(BIN)/python requirements/demo.lock.txt
	touch $@

$(VENV)/.dev: requirements/dev.lock.txt $(VENV)/.demo
	sh tools/install $(BIN)/python requirements/dev.lock.txt
	touch $@

.bench/.installed: $(wildcard python/tessarray_bench/environments/*.lock.txt) | $(VENV)/.dev
	PYTHONPATH=python $(BIN)/python -m tessarray_bench.harness.environments install
	touch $@

# The package is installed in place, so there is one of the two builds at a time: each takes the other's mark away.
$(VENV)/.built: $(VENV)/.demo pyproject.toml $(RUST_SOURCES)
	rm -f $(VENV)/.developed
	$(BIN)/maturin develop --release --locked
	touch $@

$(VENV)/.developed: $(VENV)/.dev pyproject.toml $(RUST_SOURCES)
	rm -f $(VENV)/.built
	$(BIN)/maturin develop --locked --features as-tested
	touch $@
