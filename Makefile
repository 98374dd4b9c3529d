# Every target sets up what it needs; a second call starts in seconds.
PYTHON ?= python3
VENV ?= $(or $(INVARISCOPE_VENV),.venv)
BIN := $(VENV)/bin

.DEFAULT_GOAL := help

# Threads that wait by spinning are faster alone (a third) and many times slower beside other work: a server
# with several readers, a test with a browser and a server. Audits and measurements keep the default.
test whole quick: export OMP_WAIT_POLICY ?= PASSIVE
.PHONY: help setup app test whole quick check audit audits examples demo bench siege sbom screenshots clean

help:           ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*##/\t/' | sort

setup: ## create the environment and install what running needs, every file by its hash
	@$(PYTHON) tools/setup.py --venv $(VENV)

setup-dev: ## the same, and what tests, checks and the demo corpus's builder need
	@$(PYTHON) tools/setup.py --venv $(VENV) --dev

app: setup ## open the dashboard on the demo corpus, on localhost only
	@$(BIN)/python -m core app

# Many tests start processes of their own, and each would compile what it imports.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
test: setup-dev ## run what every change needs: all tests but those of make whole
	@$(PYTEST) -m "not whole"

whole: setup-dev ## run the rest: wheel, notebooks, siege, simulations, trainings, browser journeys where Chromium is found
	@$(PYTEST) -m whole

quick: setup-dev ## run the tests of what you changed since main, and those of the house and its documents
	@$(PYTEST) -m "not whole" $$($(BIN)/python -m tests.touched)

check: setup-dev ## ruff and mypy
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

# What is in .venv is listed: after make setup alone, what running needs.
sbom: setup ## write sbom.json, a CycloneDX list of every installed package with its version and licence
	@$(BIN)/uv tool run --from cyclonedx-bom==7.5.0 cyclonedx-py environment --pyproject pyproject.toml --of JSON -o sbom.json $(VENV)

# Exit code 1 says that the audit finished and some scores are null, each with its reason: the judge
# finds no noun in a few captions of the demo corpus.
# The first run holds the template and asks what should not matter, the last two ask of a sample how much an edit's strength
# and place matter, of pictures and of words, and what surrounds a short caption;
# the others hold captions and ask what should, each beside the same harmless edits under every caption that it breaks.
AUDIT = $(BIN)/python -m core audit --out data/results --overwrite --workers 2
JOIN = $(BIN)/python -m core verify --join data/results
ENGLISH = conse-lite0,conse-lite2,grounding-judge
PLATES = reposition-telea-TL,reposition-telea-BR,reposition-true-TL,reposition-true-BR,reposition-ground
HARD = reposition-hard-TL,reposition-hard-BR
HARMLESS = vflip,hflip,rotate+10,rotate-10
LANGUAGES = en,de,fr,es,ja
WORDS = repetition,removal,masking,lexical-sweep,lexical-printed,hollow-tail,tail-sweep,foil,foil-siblings
audit: setup ## recompute the shipped run of what should not matter
	@$(AUDIT) --corpus demo --run-id demo --probes default,$(PLATES),$(HARD) --evaluators $(ENGLISH) || test $$? -eq 1
	@$(JOIN)

audits: audit ## recompute every shipped run
	@$(AUDIT) --corpus demo --run-id demo-captions --subject both --language $(LANGUAGES) \
		--probes directional,$(HARMLESS),null --evaluators $(ENGLISH),conse-multilingual || test $$? -eq 1
	@$(AUDIT) --corpus demo-prototypes --run-id demo-prototypes --subject human \
		--probes prototype,rotation,null --evaluators $(ENGLISH),conse-multilingual || test $$? -eq 1
	@$(AUDIT) --corpus demo-scenes --run-id demo-scenes --subject both --language $(LANGUAGES) \
		--probes directional,mention-order,foil-siblings,$(HARMLESS),surface,null,cultural,economic \
		--evaluators $(ENGLISH),conse-multilingual || test $$? -eq 1
	@$(AUDIT) --corpus demo-scenes-one --run-id demo-scenes-one --subject human \
		--probes grounding,foil,colour-word,$(HARMLESS),null \
		--evaluators $(ENGLISH),conse-multilingual || test $$? -eq 1
	@$(AUDIT) --corpus demo --sample 84 --run-id demo-sweeps --probes strength-sweep,distance,surface,null \
		--evaluators $(ENGLISH) || test $$? -eq 1
	@$(AUDIT) --corpus demo --sample 84 --run-id demo-lexical-sweeps --subject human --probes $(WORDS) \
		--evaluators $(ENGLISH) || test $$? -eq 1
	@$(JOIN)

# The tests of mentions and sizes come with captions of their own: the report reads them beside the captions of people.
REPORT = $(BIN)/python -m core report --overwrite
examples: setup ## write the example reports of docs anew, after an audit that moved a number
	@$(REPORT) demo --format md -o docs/example-report
	@$(REPORT) demo-captions demo-prototypes demo-scenes demo-scenes-one --subject human --language en --corpus demo --format md \
		-o docs/example-contrast
	@rm docs/example-*/data/*.parquet  # the same tables again: a reader of the examples needs one
	@sed -i 's/, [^ ]*\.parquet//' docs/example-*/data/INDEX.md

demo: setup-dev ## rebuild the demo corpus from Debian's stamps
	@$(BIN)/python -m tools.demo_corpus

bench: setup-dev ## measure what docs/benchmarks.md states, as ratios in one run
	@$(BIN)/python -m bench

siege: setup-dev ## try what bad luck and strangers may do: bad files, damage, kills, crowds
	@$(BIN)/python -m siege --json siege.json

screenshots: setup-dev ## redraw docs/screenshots
	@$(BIN)/python tools/screenshots.py

clean: ## remove the environment and the caches, never your data
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
