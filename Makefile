# Needs Python >= 3.11 (with venv) and make, nothing else. PYTHON=/path/to/python picks the interpreter.
BUDGET ?= quick
PICTURED ?= reports/dp-linear-printed/record.html
PYTEST_ARGS ?= -n auto --maxprocesses 2 --dist worksteal
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
PYTHONS := $(if $(PYTHON),"$(PYTHON)",python3 python3.14 python3.13 python3.12 python3.11)

# Where bytecode may not be kept, each of the hundreds of processes of the tests compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: test test-all test-caged test-versions faults report same schema sbom mutants reproduce site serve lint types layers bench docs forest picture clean venv links

test: lint types layers
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Audits of users' code in a cage: counts and verdicts are the same (Linux with user namespaces).
test-caged: venv
	TEST_CAGE=1 $(BIN)/python -m pytest tests/e2e/test_counting.py tests/e2e/test_requests.py

# What a night has time for: the slow tests too, and the faults that the fast ones have to notice.
test-all: lint types layers
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "slow or not slow"
	$(MAKE) faults test-versions

# Each seeded fault in a copy of the source; writes tests/faults.md.
faults: venv
	$(BIN)/python -m tests.faults

# The committed evidence with the lowest versions that pyproject.toml declares, and with the newest.
test-versions: venv
	$(BIN)/python tests/versions.py lowest
	$(BIN)/python tests/versions.py newest

# The JSON Schema of records, from the types in record/model.py, those of the kinds of checks and the forms beside it.
schema: venv
	$(BIN)/python -m verifiable_dp.record.forms

# A bill of materials of what the action installs, CycloneDX on stdout.
sbom:
	@python3 ci/sbom.py ci/requirements.lock

report: venv
	$(BIN)/verifiable-dp report --budget $(BUDGET) --out reports

# Makes reports/ anew in a temporary folder, with the budget of what is there, and compares the two: nothing may
# differ but what names the run. The index also shows the kill table and the studies, which `make mutants` and
# `make reproduce` make: it is given those that are there.
same: venv
	@made=$$(mktemp -d) && \
	budget=$$($(BIN)/python -c "import json, pathlib; print(*{json.loads(path.read_bytes())['plan']['budget'] \
	  for path in pathlib.Path('reports').glob('*/record.json')})") && \
	for file in $$(cd reports && ls -d mutants.json mutants.html studies/*/study.json studies/*/index.html 2>/dev/null); do \
	  mkdir -p "$$made/$$(dirname "$$file")" && cp "reports/$$file" "$$made/$$file" || exit 1; \
	done; \
	echo "making reports at the $$budget budget in $$made"; \
	$(BIN)/verifiable-dp report --budget "$$budget" --out "$$made" >/dev/null || test $$? -ne 2 || exit 1; \
	$(BIN)/verifiable-dp diff reports "$$made" --without 'mutants.*' --without studies && rm -r "$$made"

# Also puts what the table says of an algorithm into its record. Status 1 says that a breach was missed; the page
# names it. A lost kill ends with status 3, and nothing is written.
mutants: venv
	$(BIN)/verifiable-dp mutants --workers 2 --against reports/mutants.json --reports reports || test $$? -eq 1

reproduce: venv
	$(BIN)/verifiable-dp reproduce --workers 2 --out reports/studies
	$(BIN)/verifiable-dp list --papers --html reports/papers.html > /dev/null

# A static site of reports/ and docs/ in $(SITE), made anew; `make serve` shows it. EDIT=URL: where pages are edited.
SITE ?= build/site
EDIT ?=
site: venv
	rm -rf "$(SITE)" && mkdir -p "$(SITE)"
	$(BIN)/verifiable-dp site reports "$(SITE)" --docs docs --edit-url "$(EDIT)"

serve: site
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory "$(SITE)" 8000

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: venv
	$(BIN)/mypy

layers: venv
	$(BIN)/lint-imports

bench: venv
	$(BIN)/python -m benchmarks.simulation
	$(BIN)/python -m benchmarks.contexts
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.child

venv: links $(STAMP)

docs: venv
	$(BIN)/python docs/build_api.py

# The intervals of all committed records beside their promises, for README.md.
forest: venv
	$(BIN)/python -m verifiable_dp.render.forest reports docs/images/forest.svg

# The picture in README.md, of a committed page; needs Chromium. CHROMIUM=/path/to/chromium picks the program.
CHROMIUM ?= chromium
picture:
	$(CHROMIUM) --headless --no-sandbox --hide-scrollbars --window-size=1000,1150 \
	  --screenshot=docs/images/report.png "file://$(CURDIR)/$(PICTURED)"
	$(BIN)/python -c "from PIL import Image as I; p = 'docs/images/report.png'; \
	  I.open(p).convert('RGB').quantize(64, dither=0).save(p, optimize=True)"

# On Windows, git may write a link as a text file.
links:
	@for link in verifiable_dp/algorithms verifiable_dp/auditors; do \
	  test -d $$link || { echo "$$link is not a link to a folder:" \
	    "clone again with \`git -c core.symlinks=true clone URL\`" >&2; exit 1; }; \
	done

# A name on PATH may be a shim that cannot run, so each candidate is tried.
$(STAMP): pyproject.toml | links
	@for python in $(PYTHONS) ""; do \
	  "$$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && break; \
	done; \
	test -n "$$python" || { echo "no Python >= 3.11 with venv among: $(PYTHONS); try make PYTHON=/path/to/python" >&2; exit 1; }; \
	$(BIN)/python -m pip --version >/dev/null 2>&1 || { echo "$$python -m venv $(VENV)"; "$$python" -m venv --clear $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist htmlcov .coverage* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find verifiable_dp algorithms auditors tests -name __pycache__ -prune -exec rm -rf {} +
