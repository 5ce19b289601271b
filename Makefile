# One command each: make demo, make setup, make test, make check, make mutate, make bench, make clean.
# PYTHON chooses the interpreter that makes .venv: make demo PYTHON=python3.12
# DATA is where make bench and make results find their data sets: make bench DATA=../data

PYTHON ?= python3
BIN = .venv/bin
DATA = data
PIP = $(BIN)/python -m pip install --quiet --constraint constraints.txt

.PHONY: demo setup smollm2 test check mutate docs results bench clean

demo: .venv/demo-installed
	$(BIN)/evidence ask "What is the date of death of the founder of university University Of Los Andes (Colombia)?"
	$(BIN)/evidence ask "Where was the director of film The Alster Case born?"

setup: .venv/all-installed smollm2

# The language model in the box, into the user's cache, where it is looked for each time; the tests use the real one.
smollm2: .venv/all-installed
	$(BIN)/evidence models get smollm2

test: .venv/all-installed smollm2
	$(BIN)/python -m pytest --cov --cov-report=term-missing:skip-covered

check: .venv/all-installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/codespell
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/unit/test_house_rules.py tests/unit/test_docs.py

# Makes the slips of tests/mutations.toml in a copy of the tree; the tests have to notice them.
mutate: .venv/all-installed
	$(BIN)/python tests/support/mutate.py

# Writes the parts of the documentation that are made from the code.
docs: .venv/all-installed
	$(BIN)/python docs/generate.py

# Measures the trained heads on fold 7; DATA is a folder as in CONTRIBUTING.md.
results: .venv/all-installed
	$(BIN)/python docs/generate.py --results $(DATA)

# DATA is a folder with passages/ and multihop/ as in CONTRIBUTING.md; latency, encoder, entailment and closed world need none.
bench: .venv/all-installed
	failed=0; \
	$(BIN)/python benches/latency.py || failed=1; \
	$(BIN)/python benches/rebel_latency.py || failed=1; \
	$(BIN)/python benches/encoder.py || failed=1; \
	$(BIN)/python benches/entailment.py || failed=1; \
	$(BIN)/python benches/retrieval.py --data $(DATA) || failed=1; \
	$(BIN)/python benches/furepa.py --data $(DATA) || failed=1; \
	$(BIN)/python benches/closed_world.py || failed=1; \
	$(BIN)/python benches/celebrities.py --data $(DATA) --oracle || failed=1; \
	exit $$failed

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/python-made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than Python 3.11: give another one, as in make setup PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/demo-installed: .venv/python-made pyproject.toml constraints.txt
	@echo "Installing into .venv; the first time this takes a few minutes."
	$(PIP) --editable '.[local,sqlite]'
	@touch $@

.venv/all-installed: .venv/python-made pyproject.toml constraints.txt
	@echo "Installing into .venv with all that the tests need; the first time this takes a few minutes."
	$(PIP) --editable '.[test,check]'
	@touch .venv/demo-installed $@
