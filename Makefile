# `make` without a target lists the targets.
.DEFAULT_GOAL := help
.PHONY: help run example test test-examples test-slow test-nightly test-random test-dates test-api test-lowest test-newest mutation coverage lint lint-scripts format bench bench-queries bench-peers bench-index bench-thumbnails bench-memory bench-busy bench-grid lock translations dist clean

PYTHON ?= python3
PHOTOS ?=
PORT ?= 8080
HOST ?= 127.0.0.1
PHOTOGRAPHS ?= /usr/share/backgrounds
VENV := .venv
# `tools.repeated_tests` repeats a few tests that fail.
PYTEST ?= pytest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint requirements.lock

# What decides by dates, and the moments: ends of months with and without a leap day, the hour that clocks skip, a Sunday.
DATES := tests/unit/query/test_query_spoken.py tests/unit/query/test_query_last_moments.py tests/unit/media/test_media_dates.py tests/unit/index/test_index_names.py tests/unit/index/test_index_taken.py tests/unit/index/test_index_timezone.py tests/app/index/test_index_dates.py tests/databases/search/test_search_days.py tests/app/search/test_search_spoken.py
MOMENTS := 2027-02-28T12:00 2028-02-29T12:00 2027-03-28T01:59:58@Europe/Berlin 2026-11-29T12:00 2026-12-31T23:59:58

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("photosvc needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python setup.cfg pyproject.toml requirements.lock
	$(PIP) --editable '.[heic,raw,video]'
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python setup.cfg pyproject.toml requirements.lock
	$(PIP) --editable '.[all,test,lint]'
	@touch $@ $(VENV)/.run

run: $(VENV)/.run ## Index PHOTOS=dir (or the samples) and serve it on PORT=8080
	@$(BIN)/svc run $(if $(PHOTOS),--photos "$(PHOTOS)") $(ARGS) --host "$(HOST)" --port "$(PORT)"

example: $(VENV)/.dev ## Run a host app that contains photosvc (examples/embed) on PORT=8080, with PHOTOS=dir or the samples
	@PHOTOS="$(PHOTOS)"; case "$$PHOTOS" in ""|/*|"~"*) ;; *) PHOTOS="$(CURDIR)/$$PHOTOS";; esac; export PHOTOS; \
		cd examples/embed && flask="$(abspath $(BIN))/flask" && \
		"$$flask" db upgrade && "$$flask" svc db upgrade && "$$flask" svc index && "$$flask" run --port "$(PORT)"

# Test modules and the package are compiled once and not in every process; an empty value is as good as none.
test test-slow test-nightly test-random test-dates test-examples test-api test-lowest test-newest coverage: export PYTHONDONTWRITEBYTECODE :=

# Three processes for two cores: tests wait for servers and timers for a quarter of their time.
test: $(VENV)/.dev ## Run the everyday tests
	$(BIN)/python -m $(PYTEST) -n 3 --dist worksteal $(ARGS)

test-slow: $(VENV)/.dev ## Run the tests of real servers, clients and browsers
	$(BIN)/python -m $(PYTEST) $(ARGS) $(if $(findstring tests/,$(ARGS)),,tests/system tests/browser)

test-nightly: $(VENV)/.dev ## Run the tests of load, kills, large libraries and random requests
	$(BIN)/python -m pytest -n 0 $(or $(ARGS),tests/nightly)

test-dates: $(VENV)/.dev ## Run the tests of dates on days and in hours when such tests fail
	for moment in $(MOMENTS); do echo "$$moment"; TEST_NOW=$$moment $(BIN)/python -m pytest -n 2 --dist loadfile -q $(DATES) || exit 1; done

test-examples: $(VENV)/.dev ## Run the tests with random examples, with more and other ones than every day
	TEST_EXAMPLES=new $(BIN)/python -m pytest -n 3 --dist worksteal -m hypothesis $(ARGS)

# A test that depends on another, or on the speed of the machine, fails in one of the runs.
RUNS ?= 20
test-random: $(VENV)/.dev ## Run the everyday tests RUNS=20 times, in random order beside four busy processes
	trap 'kill $$busy' EXIT; busy=; for process in 1 2 3 4; do (while :; do :; done) & busy="$$busy $$!"; done; \
	for run in $$(seq $(RUNS)); do $(BIN)/python -m pytest -p randomly -n 3 --dist worksteal -q $(ARGS) || exit 1; done

test-api: $(VENV)/.dev ## Send a hundred requests to each operation of the API, with each kind of credential
	TEST_EXAMPLES=new $(BIN)/python -m pytest -n 0 tests/nightly/test_openapi_cases.py $(ARGS)

build/lowest/.done: $(VENV)/bin/python setup.cfg
	$(PYTHON) -m venv build/lowest
	$(BIN)/python -m tools.lowest > build/lowest/constraints.txt
	build/lowest/bin/python -m pip --disable-pip-version-check install --quiet --constraint build/lowest/constraints.txt --editable '.[all,test,lint]'
	@touch $@

test-lowest: build/lowest/.done ## Run the everyday tests with the lowest versions that setup.cfg allows
	build/lowest/bin/python -m pytest -n 3 --dist worksteal $(ARGS)

# The newest released Python of those on the PATH and of pyenv, with $(PYTHON) at least.
NEWEST_PYTHON ?= $(shell for python in "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.*/bin/python python3.14 python3.13 python3.12 $(PYTHON); do \
	"$$python" -c 'import sys, venv, ensurepip; v = sys.version_info; v.releaselevel == "final" and "t" not in sys.abiflags and print(v.minor, v.micro, sys.executable)' 2>/dev/null; \
	done | sort -n -k 1,1 -k 2,2 | tail -n 1 | cut -d ' ' -f 3)

build/newest/.done: setup.cfg
	$(NEWEST_PYTHON) -m venv --clear build/newest
	build/newest/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[all,test,lint]'
	@touch $@

test-newest: build/newest/.done ## Run the everyday tests with the newest Python and versions of libraries
	@build/newest/bin/python -c 'import sys; print("Python", sys.version)'
	build/newest/bin/python -m pytest -n 3 --dist worksteal $(ARGS)

build/mutation/.done: $(VENV)/bin/python setup.cfg requirements.lock
	$(PYTHON) -m venv build/mutation
	build/mutation/bin/python -m pip --disable-pip-version-check install --quiet --constraint requirements.lock --editable '.[all,test]' 'cosmic-ray>=8.4,<9'
	@touch $@

mutation: build/mutation/.done ## Change rights, limits, queries, edits and paths in SAMPLE=24 ways each: do the tests notice?
	nice -n 10 build/mutation/bin/python -m tools.mutation $(or $(SAMPLE),24) $(or $(SEED),1)

coverage: $(VENV)/.dev ## Run the everyday tests and check that they reach every branch of auth, core and query
	$(MAKE) test ARGS="--cov $(ARGS)"

lint: $(VENV)/.dev ## Check style, types, layers and known kinds of security faults
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml photosvc
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-scripts; \
		elif [ -n "$$CI" ]; then echo "the types of scripts need npm" >&2; exit 1; \
		else echo "The types of scripts are not checked: npm is missing."; fi

build/scripts/.done: tools/scripts/package.json tools/scripts/package-lock.json
	mkdir -p build/scripts && cp tools/scripts/package*.json build/scripts && npm --prefix build/scripts ci --silent
	@touch $@

lint-scripts: $(VENV)/.dev build/scripts/.done ## Check the types of scripts, with those of records from the schemas
	$(BIN)/python -m tools.script_types > build/scripts/records.d.ts
	build/scripts/node_modules/.bin/tsc --project tools/scripts

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Libraries are made once: the date of a folder tells nothing about them.
build/bench-%: | $(VENV)/.dev
	$(BIN)/python -m bench.library $* $@

build/datasette: $(VENV)/bin/python
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --disable-pip-version-check install --quiet 'datasette>=0.65,<1'

build/bench-%/postgres: | build/bench-%
	$(BIN)/python -m bench.postgres build/bench-$*

# Files of the library that is measured.
SIZE ?= 200000
SUBJECTS := queries peers index thumbnails memory busy grid

bench: $(SUBJECTS:%=bench-%) ## Measure SUBJECTS, or one as in `make bench-queries` (needs wrk, Chromium and PHOTOGRAPHS=dir)

bench-queries: build/bench-$(SIZE)/postgres ## Measure searches on both databases
	$(BIN)/python -m bench.queries build/bench-$(SIZE) $<

bench-peers: build/bench-$(SIZE) build/datasette ## Measure pages, a mix of clients and tokens beside a bare Flask app, Datasette and Authlib's example
	DATASETTE=build/datasette/bin/datasette $(BIN)/python -m bench.pages $<
	$(BIN)/python -m bench.distinct $<
	$(BIN)/python -m bench.tokens

bench-index: $(VENV)/.dev ## Measure index runs beside ExifTool and the least that they must do
	$(BIN)/python -m bench.index $(ARGS)

bench-thumbnails: $(VENV)/.dev ## Measure thumbnails of PHOTOGRAPHS=dir beside bare Pillow
	$(BIN)/python -m bench.thumbnails "$(PHOTOGRAPHS)" 5

bench-memory: build/bench-$(SIZE) ## Measure the memory of two workers beside that of a bare Flask app
	$(BIN)/python -m bench.memory $<

bench-busy: build/bench-$(SIZE) ## Measure answers during an index run
	$(BIN)/python -m bench.busy $< $(ARGS)

bench-grid: build/bench-$(SIZE) ## Measure the grid of the web page in Chromium, in each order
	$(BIN)/python -m bench.grid $<

lock: $(VENV)/.dev ## Pin the installed versions in requirements.lock
	$(BIN)/python -m pip freeze --exclude-editable --exclude photosvc | LC_ALL=C sort -f > requirements.lock

translations: $(VENV)/.dev ## Add new texts of the pages to the catalogues of their languages, and drop old ones
	$(BIN)/python -m tools.translations $(ARGS)

dist: $(VENV)/.dev ## Build the packages; PROJECT_URL=address of the repository, for the links in their description
	$(PIP) build
	PROJECT_URL="$(PROJECT_URL)" $(BIN)/python -m build --outdir dist .

clean: ## Remove the virtual environment and caches; never the instance folder
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist *.egg-info
