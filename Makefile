# `make` without a target lists the targets.
.DEFAULT_GOAL := help
.PHONY: help run example test test-examples test-slow test-nightly test-random test-dates test-long test-api test-lowest test-newest mutation coverage lint format bench bench-distinct bench-answers bench-large bench-pictures bench-index bench-busy bench-costly bench-edits bench-lists bench-webdav bench-memory bench-commands bench-first-request bench-soak bench-scaling bench-rows bench-jobs lock translations dist clean

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
DATES := tests/unit/query/test_query_spoken.py tests/unit/query/test_query_last_moments.py tests/unit/media/test_media_dates.py tests/unit/index/test_index_names.py tests/unit/index/test_index_taken.py tests/unit/index/test_index_timezone.py tests/app/index/test_index_dates.py tests/databases/search/test_search_days.py tests/databases/search/test_habits.py tests/app/search/test_search_spoken.py
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
test test-slow test-nightly test-random test-dates test-long test-examples test-api test-lowest test-newest coverage: export PYTHONDONTWRITEBYTECODE :=

# Three processes for two cores: tests wait for servers and timers for a quarter of their time.
test: $(VENV)/.dev ## Run the everyday tests
	$(BIN)/python -m $(PYTEST) -n 3 --dist worksteal $(ARGS)

test-slow: $(VENV)/.dev ## Run the tests that take up to some minutes each
	$(BIN)/python -m $(PYTEST) -m 'slow and not long' --ignore=tests/nightly --ignore=tests/leaving $(ARGS) $(if $(findstring tests/,$(ARGS)),,tests)

test-nightly: $(VENV)/.dev ## Run the slow tests of load, kills and random requests
	$(BIN)/python -m pytest -n 0 -m 'slow and not long' $(or $(ARGS),tests/nightly)

test-dates: $(VENV)/.dev ## Run the tests of dates on days and in hours when such tests fail
	for moment in $(MOMENTS); do echo "$$moment"; TEST_NOW=$$moment $(BIN)/python -m pytest -n 2 --dist loadfile -q -m '' $(DATES) || exit 1; done

test-long: $(VENV)/.dev ## Run the tests that take longer: 100,000 queries, libraries of 100,000 files
	$(BIN)/python -m pytest -m long $(or $(ARGS),tests)

test-examples: $(VENV)/.dev ## Run the tests with random examples, with more and other ones than every day
	TEST_EXAMPLES=new $(BIN)/python -m pytest -n 3 --dist worksteal -m 'hypothesis and not slow' $(ARGS)

# A test that depends on another, or on the speed of the machine, fails in one of the runs.
RUNS ?= 20
test-random: $(VENV)/.dev ## Run the everyday tests RUNS=20 times, in random order beside four busy processes
	trap 'kill $$busy' EXIT; busy=; for process in 1 2 3 4; do (while :; do :; done) & busy="$$busy $$!"; done; \
	for run in $$(seq $(RUNS)); do $(BIN)/python -m pytest -p randomly -n 3 --dist worksteal -q $(ARGS) || exit 1; done

test-api: $(VENV)/.dev ## Send a hundred requests to each operation of the API, with each kind of credential
	TEST_EXAMPLES=new $(BIN)/python -m pytest -n 0 -m slow tests/nightly/test_openapi_cases.py $(ARGS)

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

test-newest: build/newest/.done ## Run the everyday tests with the newest Python and versions, and nothing of the libraries replaced
	@build/newest/bin/python -c 'import sys; print("Python", sys.version)'
	TEST_COSTS=real build/newest/bin/python -m pytest -n 3 --dist worksteal $(ARGS)

build/mutation/.done: $(VENV)/bin/python setup.cfg requirements.lock
	$(PYTHON) -m venv build/mutation
	build/mutation/bin/python -m pip --disable-pip-version-check install --quiet --constraint requirements.lock --editable '.[all,test]' 'cosmic-ray>=8.4,<9'
	@touch $@

mutation: build/mutation/.done ## Change rights, limits, queries and paths in SAMPLE=24 ways each: do the unit tests notice?
	nice -n 10 build/mutation/bin/python -m tools.mutation $(or $(SAMPLE),24)

coverage: $(VENV)/.dev ## Run the everyday tests and check that they reach every branch of auth, core and query
	$(MAKE) test ARGS="--cov $(ARGS)"

lint: $(VENV)/.dev ## Check style, types, layers and known kinds of security faults
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml photosvc

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Libraries are made once: the date of a folder tells nothing about them.
build/bench-%: | $(VENV)/.dev
	$(BIN)/python -m bench.libraries.library $* $@

build/datasette: $(VENV)/bin/python
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --disable-pip-version-check install --quiet 'datasette>=0.65,<1'

build/bench-%/postgres: | build/bench-%
	$(BIN)/python -m bench.libraries.postgres build/bench-$*

build/bench-1000000: | build/bench-200000
	$(BIN)/python -m bench.libraries.repeat 5 build/bench-200000 $@

bench: build/bench-200000/postgres build/datasette ## Measure searches on both databases and beside peers (needs wrk)
	$(BIN)/python -m bench.searches.queries build/bench-200000 $<
	DATASETTE=build/datasette/bin/datasette $(BIN)/python -m bench.searches.search build/bench-200000

bench-distinct: build/bench-200000 ## Measure different pages and a mix of clients beside a bare Flask app (needs wrk)
	$(BIN)/python -m bench.searches.distinct $<

bench-answers: build/bench-200000 ## Measure first byte and memory of the largest answers
	$(BIN)/python -m bench.large_answers $<

bench-large: build/bench-1000000/postgres ## Measure searches of a million files on both databases (15 GB of disk)
	$(BIN)/python -m bench.searches.queries build/bench-1000000 $<

bench-pictures: $(VENV)/.dev ## Measure thumbnails, downloads and videos with photos of PHOTOGRAPHS=dir (needs wrk, nginx)
	$(BIN)/python -m bench.files.thumbnails "$(PHOTOGRAPHS)" 5
	$(BIN)/python -m bench.files.picture_serving "$(PHOTOGRAPHS)" 5
	$(BIN)/python -m bench.files.videos "$(firstword $(wildcard $(PHOTOGRAPHS)/*.jpg))"

bench-index: $(VENV)/.dev ## Measure index runs beside ExifTool and the least they must do
	$(BIN)/python -m bench.indexing

bench-busy: build/bench-200000 ## Measure answers during an index run
	$(BIN)/python -m bench.busy $<

bench-costly: build/bench-200000 ## Measure plain pages beside costly searches
	$(BIN)/python -m bench.searches.costly $<

bench-edits: build/bench-200000 ## Measure edits of one photo and of 10,000
	$(BIN)/python -m bench.edits $<

bench-lists: build/bench-200000 ## Measure lists after an edit: labels, people, albums, folders, months
	$(BIN)/python -m bench.lists $<

bench-webdav: $(VENV)/.dev ## Measure WebDAV beside the provider that WsgiDAV ships
	$(BIN)/python -m bench.files.webdav

bench-memory: build/bench-200000 ## Measure the memory of two workers beside that of bare apps
	$(BIN)/python -m bench.memory $<

bench-commands: build/bench-200000 ## Measure each command that only reads, wall and processor time
	$(BIN)/python -m bench.commands $<

bench-first-request: build/bench-200000 ## Measure the first request of a fresh worker
	$(BIN)/python -m bench.first_request $<

bench-soak: build/bench-200000 ## Measure the memory of two workers under large answers, and ten minutes of all of them
	$(BIN)/python -m bench.soak $<

build/multiplied-1000000: | build/bench-200000/postgres
	cp -a build/bench-200000/postgres $@.part
	$(BIN)/python -m bench.scaling --multiply 5 $@.part
	mv $@.part $@

build/multiplied-10000000: | build/multiplied-1000000
	cp -a build/multiplied-1000000 $@.part
	$(BIN)/python -m bench.scaling --rows 10 $@.part
	mv $@.part $@

bench-scaling: build/bench-10000/postgres build/bench-1000000 build/multiplied-1000000 ## Measure costs and bytes by size, 10,000 to a million files (25 GB of disk)
	$(BIN)/python -m bench.scaling build/bench-10000 build/bench-200000 build/bench-1000000
	$(BIN)/python -m bench.scaling build/bench-10000/postgres build/bench-200000/postgres build/multiplied-1000000

bench-rows: build/multiplied-1000000 build/multiplied-10000000 ## The same for ten million search rows without words, on PostgreSQL (40 GB more)
	$(BIN)/python -m bench.scaling --no-words $^

bench-grid: build/bench-1000000 ## Measure the grid of the web page in Chromium
	$(BIN)/python -m bench.grid $<

bench-jobs: $(VENV)/.dev ## Count the clicks and seconds of everyday jobs on the web page in Chromium
	$(BIN)/python -m bench.jobs

lock: $(VENV)/.dev ## Pin the installed versions in requirements.lock
	$(BIN)/python -m pip freeze --exclude-editable --exclude photosvc | LC_ALL=C sort -f > requirements.lock

translations: $(VENV)/.dev ## Add new texts of the pages to the catalogues of their languages, and drop old ones
	$(BIN)/python -m tools.translations $(ARGS)

dist: $(VENV)/.dev ## Build the packages; PROJECT_URL=address of the repository, for the links in their description
	$(PIP) build
	PROJECT_URL="$(PROJECT_URL)" $(BIN)/python -m build --outdir dist .

clean: ## Remove the virtual environment and caches; never the instance folder
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist *.egg-info
