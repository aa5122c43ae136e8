# SPDX-License-Identifier: Apache-2.0
# Entry points for people and CI; each is one line to what does the work. `make` alone lists them.

unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
PYTHON := PYTHONPATH=$(CURDIR)/src:$(CURDIR)/scripts build/venv/bin/python

.PHONY: help demo test quick coverage fuzz sockets guests prove advice lint format docs size linux notices clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

demo: ## set up, boot the example unprotected and isolated, show the report
	@scripts/demo

test: ## the whole test suite; ends with one line of verdict
	@scripts/setup packages lint browser python
	@$(PYTHON) scripts/test.py

quick: ## what needs no emulator and no patience: build, lint of changes, unit tests, fast Python tests
	@scripts/setup
	@$(PYTHON) scripts/test.py --quick

fuzz: ## fuzz everything that a guest, a manifest or a loader controls; options in FUZZ="--runs N"
	@scripts/setup
	@$(PYTHON) scripts/fuzz.py $(FUZZ)

sockets: ## Linux's vsock_test between two Linux domains; fetches a kernel and its source, 250 MB
	@scripts/setup
	@$(PYTHON) scripts/vsock_test.py $(SOCKETS)

guests: ## boots guests of others, unchanged, and prints what works; GUESTS="--kvm-unit-tests DIR"; fetches 500 MB
	@scripts/setup
	@$(PYTHON) scripts/known_guests.py $(GUESTS)

coverage: ## which lines of C, C++ and Python the tests run: a table and pages
	@scripts/setup packages python
	@$(PYTHON) scripts/measure_coverage.py $(COVERAGE)

prove: ## what Frama-C proves of core/; installs it where it is missing
	@scripts/setup packages python
	@$(PYTHON) scripts/prove.py --check

lint: ## formatters and linters, without tests
	@scripts/setup
	@$(PYTHON) scripts/lint.py

advice: ## what cppcheck's MISRA rules say of core/ and hypervisor/: a table, never a gate
	@scripts/setup
	@$(PYTHON) scripts/advice.py

format: ## rewrite C, C++ and Python sources as the formatters want them
	@scripts/setup python
	@git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' '*.hpp' | xargs -r build/venv/bin/clang-format -i
	@build/venv/bin/ruff check --quiet --fix-only
	@build/venv/bin/ruff format

docs: ## the manual as a site, in build/site: readable without network
	@scripts/setup python
	@build/venv/bin/python -m sphinx -b html -j 2 -q -W --keep-going docs build/site
	@echo "docs: ok, build/site/index.html"

size: ## size of the hypervisor: bytes as linked, lines as written
	@./bulkhead size

linux: ## the kernel module build/linux/bulkhead.ko, for the kernel that guests boot
	@./bulkhead linux-module

notices: ## write docs/reference/third-party.md: licences of what is fetched, installed and linked
	@./bulkhead setup
	@$(PYTHON) scripts/third_party.py

clean: ## remove what was built; downloads and the Python environment stay
	@rm -rf build/host build/target build/fuzz build/linux build/run build/logs build/lint build/mypy build/test-results build/test-site
