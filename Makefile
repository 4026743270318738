# Everything a new machine needs is Python 3.11 or newer with pip; each target makes the environment it uses.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint types tests plain-python fuzz figures reproduce bench size clean

demo: $(VENV)/.installed-demo  ## fit a bundled data set, print its leaves and its scores, compare all models, write a page
	$(BIN)/dipolar fit whas500 --report whas500.html --force
	$(BIN)/dipolar evaluate whas500

test: lint types tests plain-python  ## lint, types and every test

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-test
	$(BIN)/mypy

tests: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n 2

plain-python: $(VENV)/.installed-test  ## the compiled routines once more, as the plain Python they are written in
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -m compiled

# Generated cases, what they are drawn from, and how many processes run them.
CASES ?= 100000
SEED  ?= 0
FUZZ_JOBS ?= 2

fuzz: $(VENV)/.installed-test  ## look for crashes and wrong answers; takes hours, may be stopped and started again
	$(BIN)/python -m fuzz.run --cases $(CASES) --seed $(SEED) --jobs $(FUZZ_JOBS) --resume \
	    --journal fuzz/runs/seed-$(SEED).jsonl --output fuzz/results/summary.md

figures: $(VENV)/.installed-test  ## draw the pictures of the documentation again
	$(BIN)/python examples/plot_tree.py

# Replicates of each simulated design; the paper has 1000.
RUNS ?= 100
JOBS ?= -1

reproduce: $(VENV)/.installed-test  ## the paper's tables and figures; takes hours, may be stopped and started again
	set -e; run="$(BIN)/dipolar-reproduce run --jobs $(JOBS) --output results --resume"; \
	for study in sim-p2 sim-p4 sim-p7; do $$run $$study --runs $(RUNS); done; \
	for study in remission real fig-splits fig-remission fig-kappa fig-sigma; do $$run $$study; done; \
	for study in results/*.sqlite; do $(BIN)/dipolar-reproduce export $$study --force; done
	$(BIN)/dipolar-reproduce page results docs/reproduction.md

bench: $(VENV)/.installed-test  ## the measured figures of docs/benchmarks.md; takes a while
	$(BIN)/python benchmarks/node_solver.py --output benchmarks/results/node_solver.md
	$(BIN)/python benchmarks/trees.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/honesty.py
	$(BIN)/python benchmarks/tuning.py

size:  ## files, lines and lines of code by folder
	@$(PYTHON) benchmarks/size.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: pyproject.toml | $(VENV)/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[cli]"
	touch $@

$(VENV)/.installed-test: pyproject.toml reproduction/pyproject.toml | $(VENV)/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[test]" -e ./reproduction
	touch $@
