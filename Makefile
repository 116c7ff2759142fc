# Every target makes .venv and installs what it needs; python3 (3.11 or newer) and make suffice.
PYTHON ?= python3

SERVE := $(PYTHON) -m scripts.bootstrap
DEVELOP := $(PYTHON) -m scripts.bootstrap --dev

CATALOGUES := -l de -l zh_Hans --no-obsolete --no-location --no-wrap -i .venv -i "tests/*" -i "bench/*"

.DEFAULT_GOAL := help
.PHONY: help run check test test-all texts bench bench-grounding

help:
	@echo "make run       start the server (make run PORT=8001 DATA_DIR=/path for others)"
	@echo "make check     style, types, import rules, migrations"
	@echo "make test      check, then the tests in stages"
	@echo "make test-all  the same with the slow tests"
	@echo "make texts     collect the interface's texts for translation, and compile them"
	@echo "make bench     measure speed side by side, and how well questions are answered"

run:
	@$(SERVE) -m scripts.launch

check:
	@$(DEVELOP) -m scripts.check

test:
	@$(DEVELOP) -m scripts.test

test-all:
	@$(DEVELOP) -m scripts.test --slow

# gettext's tools are needed; CONTRIBUTING.md tells more.
texts:
	@$(DEVELOP) manage.py makemessages $(CATALOGUES)
	@$(DEVELOP) manage.py makemessages $(CATALOGUES) -d djangojs -i "static/vendor/*"
	@$(DEVELOP) manage.py compilemessages -i .venv

bench:
	@$(DEVELOP) -m bench
	@$(DEVELOP) -m bench.grounding

bench-grounding:
	@$(DEVELOP) -m bench.grounding
