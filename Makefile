# make demo   trains on handwritten digits, from nothing but Python and a C compiler
# make test   builds every level and runs the test suite
# make asan   runs the tests of core and kernels under AddressSanitizer
# make bench  compares with PyTorch and NumPy where they are installed (see benchmarks/README.md)
# make lint   ruff, cython-lint, mypy
# make docs   builds the documentation into site/
# make clean  removes all that these made

PYTHON ?= python3
# Levels that test, bench and wheel build: all, native, or a list such as "v2,v3".
LEVELS ?= all
PYTEST_ARGS ?=
BENCH_ARGS ?=

USER_VENV := .venv
DEV_VENV := .venv-dev
DEV := $(DEV_VENV)/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
BUILD_TOOLS := "setuptools>=77" "cython>=3.1,<4"
SOURCES := setup.py pyproject.toml $(shell find burn cuda -type f \( -name '*.py' -o -name '*.p[yx]x' -o -name '*.p[xy][di]' \
             -o -name '*.h' -o -name '*.cu*' \) 2>/dev/null)

.PHONY: demo test asan bench lint docs wheel build clean
.DELETE_ON_ERROR:

demo: $(USER_VENV)/.installed
	$(USER_VENV)/bin/python examples/digits.py

test: build
	$(DEV)/python -m pytest $(PYTEST_ARGS)

# Kernels and core under AddressSanitizer, at this machine's level; `make build` puts the plain modules back.
asan: $(DEV_VENV)/.installed
	BURN_BUILD_SANITIZE=1 BURN_BUILD_LEVELS=native $(DEV)/python setup.py --quiet build_ext --inplace
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0 \
	    $(DEV)/python -m pytest tests/core tests/ops $(PYTEST_ARGS)

bench: build
	$(DEV)/python -m benchmarks.compare $(BENCH_ARGS)

lint: $(DEV_VENV)/.installed
	$(DEV)/ruff check .
	$(DEV)/ruff format --check .
	PATH="$(CURDIR)/$(DEV):$$PATH" cython-lint burn
	$(DEV)/mypy

docs: $(DEV_VENV)/.installed
	$(DEV)/mkdocs build --quiet --strict

wheel: $(DEV_VENV)/.installed
	BURN_BUILD_LEVELS="$(LEVELS)" $(DEV)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

# Modules in place, for the editable install; only what changed is compiled.
build: $(DEV_VENV)/.installed
	BURN_BUILD_LEVELS="$(LEVELS)" $(DEV)/python setup.py --quiet build_ext --inplace

$(USER_VENV)/.installed: $(SOURCES) | $(USER_VENV)/bin/python
	BURN_BUILD_LEVELS=native $(USER_VENV)/bin/python $(PIP_INSTALL) --no-build-isolation ".[train]"
	@touch $@

$(DEV_VENV)/.installed: setup.py pyproject.toml | $(DEV_VENV)/bin/python
	BURN_BUILD_LEVELS="$(LEVELS)" $(DEV)/python $(PIP_INSTALL) --no-build-isolation --editable ".[test,lint,docs,train]"
	@touch $@

%/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "burn needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $*
	$@ $(PIP_INSTALL) $(BUILD_TOOLS)

clean:
	rm -rf $(USER_VENV) $(DEV_VENV) build dist site *.egg-info .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find burn -name '*.so' -delete
	find burn tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
