# Everything runs in .venv, made here from plain python3. A folder of stamps remembers which sets
# of requirements are installed; a change of pyproject.toml installs them anew.

PYTHON ?= python3
BIN := .venv/bin
STAMPS := .venv/stamps

# Tests run in two processes: BLAS threads would only fight each other. They start many others, all of which
# would compile the modules of Python that they import, if the environment did not let them write what they compile.
WORKERS ?= 2
TESTS := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest \
	-q -n $(WORKERS) --dist worksteal

.PHONY: help demo test about-test oracle programs array-api bench lint stubs docs docs-test sweep test-gpu bench-gpu gpu browser-test dist clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo     train a small transformer and see what autograd keeps: a minute or two (DEMO="--steps 100")'
	@echo 'make test     all tests that need no torch, and the examples in docstrings: about 6 minutes on two cores'
	@echo 'make sweep    the same with nothing sampled: every op, dtype and shape'
	@echo 'make oracle   the tests that compare with torch 2.13.0'
	@echo 'make programs training loops on packages that say import torch, next to torch; writes docs/compatibility.md'
	@echo 'make array-api the suite of the array API standard, but for what tests/array_api/skips.txt lists'
	@echo 'make bench    time the tape against torch 2.13.0'
	@echo 'make test-gpu the tests of tensors on a CUDA device (bench-gpu: what offloading costs there)'
	@echo 'make browser-test  the wheel in Pyodide, by node: import, training, policies'
	@echo 'make lint     ruff and mypy'
	@echo 'make stubs    what jedi completes, and what mypy and pyright find, by the stub files'
	@echo 'make docs     the documentation, into site/'
	@echo 'make docs-test  each page of it in a headless browser, as wide as a phone and a desktop'
	@echo 'make dist     build and check the wheel and the source archive, into dist/'
	@echo 'make clean    remove .venv and whatever was built'

# One BLAS thread: matrices of this size gain nothing from a second, and when another program runs,
# two threads that wait for each other are several times slower.
demo: $(STAMPS)/cli,plot
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/gradpack demo $(DEMO)

test: about-test $(STAMPS)/test
	$(TESTS) --ignore=tests/oracle

about-test:
	@echo 'test: about 6 minutes on two idle cores, after a minute or so of installing packages the first time'

sweep: $(STAMPS)/test
	GRADPACK_SWEEP=1 $(TESTS) --ignore=tests/oracle

oracle: $(STAMPS)/oracle
	GRADPACK_ORACLE=1 $(TESTS) tests/oracle tests/behaviour tests/compiler/test_operators.py

# Packages that say import torch: each runs a training loop on torch and on gradpack.
programs: $(STAMPS)/programs
	GRADPACK_PROGRAMS=1 $(BIN)/python -m pytest -q tests/programs
	$(BIN)/python -m tests.programs.compare

# The suite is no package: a checkout with its submodule, at the commit that the list of skips is for.
ARRAY_API_TESTS ?= build/array-api-tests
ARRAY_API_COMMIT := 55fcc60

$(ARRAY_API_TESTS):
	git clone --quiet https://github.com/data-apis/array-api-tests $@
	git -C $@ checkout --quiet $(ARRAY_API_COMMIT)
	git -C $@ submodule update --quiet --init

array-api: $(STAMPS)/array-api $(ARRAY_API_TESTS)
	$(BIN)/python -m pytest -q tests/array_api
	cd $(ARRAY_API_TESTS) && ARRAY_API_TESTS_MODULE=gradpack.array_api ARRAY_API_TESTS_VERSION=2024.12 \
		$(CURDIR)/$(BIN)/python -m pytest -q array_api_tests --skips-file $(CURDIR)/tests/array_api/skips.txt $(SUITE)

bench: $(STAMPS)/oracle
	$(BIN)/python benchmarks/overhead.py $(BENCH)

# CuPy is large: whether there is a driver is asked before it is installed.
gpu:
	@$(PYTHON) -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null || { \
		echo 'make: there is no NVIDIA driver here (libcuda.so.1), so nothing can run on a CUDA device.' \
			'make test runs the same tests on a stand-in for CuPy.'; exit 1; }

test-gpu: gpu $(STAMPS)/test,cuda
	GRADPACK_GPU=1 $(BIN)/python -m pytest -q tests/gpu

bench-gpu: gpu $(STAMPS)/test,cuda
	$(BIN)/python -m benchmarks.offload --json benchmarks/results/offload.json $(BENCH)

# Needs node and npm. BROWSER="--wheels FOLDER" takes NumPy and ml_dtypes for Pyodide from a folder.
browser-test: $(STAMPS)/made
	$(BIN)/python -m tools.browser $(BROWSER)
	node tests/browser/run.mjs

lint: $(STAMPS)/lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

stubs: $(STAMPS)/test,typing
	$(BIN)/python -m pytest -q tests/stubs

# The files of Pyodide come by npm; where they cannot be had the site is whole but for what runs in docs/browser.md.
docs: $(STAMPS)/docs
	-$(BIN)/python -m tools.browser $(BROWSER)
	$(BIN)/mkdocs build --strict

# GRADPACK_CHROMIUM names the program of a browser that is there; without, Playwright gets its own.
docs-test: $(STAMPS)/docs-test docs
	@test -n "$$GRADPACK_CHROMIUM" || $(BIN)/playwright install --only-shell chromium
	$(BIN)/python -m tools.pages_in_browser site

dist: $(STAMPS)/dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m tools.dist

clean:
	rm -rf .venv build dist site .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMPS)/made:
	@command -v $(PYTHON) >/dev/null || { \
		echo 'make: there is no $(PYTHON) here; install Python 3.11, 3.12 or 3.13,' \
			'or name one: make PYTHON=/path/to/python'; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 14) else \
		"make: gradpack needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is %d.%d; " % v + \
		"name another: make PYTHON=python3.13")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo 'make: $(PYTHON) comes without the modules venv and ensurepip; install them' \
			'(Debian and Ubuntu: the package python3-venv) and try again'; exit 1; }
	rm -rf .venv
	$(PYTHON) -m venv .venv
	@mkdir -p $(STAMPS)
	@touch $@

# The name of a stamp is the list of extras that it stands for.
$(STAMPS)/%: pyproject.toml $(STAMPS)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
