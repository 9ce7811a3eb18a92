# `make site` to read the course, `make test` to check all of it. Each command makes its own
# environment in .venv first.
PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
READY := .venv/ready

.DEFAULT_GOAL := help
.PHONY: help site html test lessons lab widgets

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.txt -e .
	touch $(READY)

html: $(READY) ## build the book strictly, into _build/html
	$(BIN)/jupyter-book build . -W -n --keep-going

site: html ## build the book and serve it
	@echo "The course is at http://localhost:$(PORT)/ (Ctrl+C ends it)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

test: $(READY) ## form, types, tests, doctests, lessons, book, browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile --nbval tests mhalib chapters

lessons: $(READY) ## run all lessons again and store their outputs
	$(BIN)/python scripts/lessons.py

lab: $(READY) ## open the lessons in JupyterLab
	$(BIN)/jupyter lab chapters

widgets: $(READY) ## build the widgets' JavaScript bundles
	cd mhalib/widgets/js && npm ci && npm run build
