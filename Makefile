# Two commands on a fresh machine: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
DATA ?= data/adult
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup lock demo test test-slow check bench clean

setup: $(VENV)/ready

$(VENV)/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Parquetry needs Python 3.11 to 3.13; this is %d.%d. Try: make PYTHON=python3.12 ..." % v)'
	@echo "Setting up $(VENV) from requirements.lock (some minutes, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup
	@$(BIN)/python data/examples/warehouse.py data/examples/nhanes.csv data/warehouse/demo.duckdb nhanes
	@$(BIN)/parquetry run spec.yaml

# One thread per test process: two run side by side.
test test-slow: export OMP_NUM_THREADS = 1
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

test-slow: setup
	$(BIN)/python -m pytest -m slow

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_house.py

lock: setup
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude pip | sed "s/+cpu$$//; 1i # The tested lock: what 'make setup' installs. Renew it with 'make lock' after everything passed." > requirements.lock

bench: setup
	$(BIN)/python benchmarks/adult.py --data $(DATA)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
