# Every target is a door; the rooms are in scripts/ and cluster-up/.
.DEFAULT_GOAL := help
KUBE_PROVIDER ?= embedded
KUBEVIRT_NUM_NODES ?= 1
export KUBE_PROVIDER KUBEVIRT_NUM_NODES

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: bootstrap
bootstrap: ## install the system packages and the virtual environment (.venv)
	@scripts/bootstrap.sh

.PHONY: up
up: bootstrap ## a Kubernetes with KubeVirt on this machine, in one process, and a first machine in it
	@scripts/up.sh

.PHONY: down
down: ## stop it and everything that runs on it; data stays
	@.venv/bin/virtctl down

.PHONY: lint
lint: bootstrap ## ruff, mypy, import-linter, codespell, shellcheck, generated files
	@scripts/lint.sh

.PHONY: format
format: bootstrap ## rewrite the sources the way ruff formats them
	@.venv/bin/ruff format && .venv/bin/ruff check --fix

.PHONY: test
test: lint ## lint, then every suite that this machine can run; SUITES="unit contract" for some
	@.venv/bin/python scripts/test.py $(SUITES)

.PHONY: guest-image
guest-image: bootstrap ## build the guest for tests and demos, or find it built; prints its folder
	@guest/build.sh

.PHONY: container-disk
container-disk: bootstrap ## compile the static helper of container disks to build/
	@container-disk/build.sh

.PHONY: generate
generate: bootstrap ## write the CRDs anew from the types, and messages from the .proto files
	@.venv/bin/python -m kubevirt.api.generate && .venv/bin/python scripts/stubs.py

.PHONY: lock
lock: bootstrap ## write the dependency locks anew
	@scripts/lock.sh

.PHONY: bench
bench: bootstrap ## measure informer, guest, launcher, API server, controller, home and machines; tables on screen, numbers in bench/results/
	@for part in bench bench.guest bench.launcher bench.apiserver bench.controller bench.home bench.vms; do .venv/bin/python -m $$part || exit; done

.PHONY: soak
soak: bootstrap ## the long form of the suites' faults: kills, power cuts, random requests (hours)
	@scripts/soak.sh

.PHONY: cluster-up
cluster-up: bootstrap ## start a test cluster (KUBE_PROVIDER, KUBEVIRT_NUM_NODES)
	@cluster-up/up.sh

.PHONY: cluster-sync
cluster-sync: bootstrap ## bring this checkout into the test cluster; guests go on
	@cluster-up/sync.sh

.PHONY: functest
functest: bootstrap ## the end-to-end tests on the provider of KUBE_PROVIDER
	@scripts/functest.sh

.PHONY: cluster-down
cluster-down: bootstrap ## stop it and leave nothing behind
	@cluster-up/down.sh

.PHONY: clean
clean: ## remove the virtual environment and caches of this checkout
	@scripts/clean.sh
