# `make site` to read the course, `make test` to check all of it. Each command makes its own
# environment in .venv first.
PYTHON ?= python3
PORT ?= 8000
EDITION ?= 1
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help ready site html browser test lessons lab widgets zip pdf worksheets bench audit

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

ready:
	@$(PYTHON) scripts/environment.py

html: ready ## build the book strictly, into _build/html
	$(BIN)/jupyter-book build . -W -n --keep-going

site: html ## build the book and serve it
	@echo "The course is at http://localhost:$(PORT)/ (Ctrl+C ends it)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

# A browser is looked for before minutes go into the environment.
browser:
	@$(PYTHON) scripts/browser.py

test: browser ready ## form, types, tests, doctests, lessons, book, browser
	@$(BIN)/python -m scripts.test

lessons: ready ## run all lessons again and store their outputs (some: make lessons L=chapters/03-*)
	$(BIN)/python scripts/lessons.py $(L)

lab: ready ## open the lessons in JupyterLab
	-@$(BIN)/jupyter trust chapters/*.ipynb > /dev/null
	$(BIN)/jupyter lab chapters

widgets: ready ## build the widgets' JavaScript bundles, with the Node that .venv brings
	$(BIN)/python scripts/widgets.py

zip: html ## pack the built book for reading offline, into _build/course.zip
	$(BIN)/python -m scripts.offline zip

pdf: html ## print the built book, into _build/course.pdf
	$(BIN)/python -m scripts.offline pdf

worksheets: browser ready ## attention by hand on paper, with keys, into _build/worksheets.pdf (other numbers: EDITION=2)
	$(BIN)/python -m scripts.worksheets --edition $(EDITION)

bench: html ## bytes, requests and times of each page, beside Jupyter Book's own template
	$(BIN)/python -m benchmarks.pages
	$(BIN)/python -m benchmarks.phone

audit: ready ## known weaknesses of the pinned packages
	$(BIN)/python -m pip install --quiet pip-audit -c constraints.txt
	$(BIN)/python -m pip_audit -r constraints.txt --no-deps
