PYTHON ?= python3
PORT ?= 8000

.PHONY: demo run worker test check audit fmt clean

demo: .venv/ready
	.venv/bin/python manage.py demo --port $(PORT)

run: .venv/ready
	.venv/bin/python manage.py migrate --verbosity 0 && exec .venv/bin/python -m uvicorn junior_memory.asgi:application --port $(PORT) --no-access-log

worker: .venv/ready
	.venv/bin/python manage.py worker

test: .venv/ready
	.venv/bin/python -m pytest --numprocesses auto --dist loadfile

check: .venv/ready
	.venv/bin/python -m ruff check . && .venv/bin/python -m ruff format --check . && .venv/bin/python -m mypy . && .venv/bin/lint-imports && .venv/bin/python manage.py makemigrations --check --dry-run && .venv/bin/python manage.py check --database default --fail-level WARNING && .venv/bin/python -m tests.deploy_check

audit: .venv/ready
	.venv/bin/python -m tests.audit

fmt: .venv/ready
	.venv/bin/python -m ruff check --fix . && .venv/bin/python -m ruff format .

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

.venv/ready: requirements.txt
	$(PYTHON) -m venv .venv && .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt && touch .venv/ready
