# Thin wrappers over go commands; `make help` lists them. Go and Postgres 15+ are all that test, up and demo need.
SHELL       := /bin/bash
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS     := -X github.com/agent-coordinator/agent-coordinator/internal/version.stamp=$(VERSION)
COMMANDS    := $(notdir $(patsubst %/main.go,%,$(wildcard cmd/*/main.go)))
TOOL        := go tool -modfile=tools/go.mod
BUILD_FLAGS ?= -trimpath
# .ci/run replaces it by a runner that prints a summary.
GO_TEST     ?= go test
# Databases per package and two packages at a time: enough for two cores, and no test starves.
TEST_FLAGS  ?= -timeout 9m
# How long each fuzz target runs.
FUZZTIME    ?= 60s

.DEFAULT_GOAL := help
.PHONY: help build verify-tools up down start-bg logs-coordinator stop demo test test/race lint fmt golden golden/check bench fuzz vuln deploy/check prove e2e e2e-short pictures clean

help: ## list the targets
	@grep -hE '^[a-z0-9/-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

build: ## build every command into bin/, the executors into bin/executors/
	@mkdir -p bin
	go build $(BUILD_FLAGS) -ldflags '$(LDFLAGS)' -o bin/ $(addprefix ./cmd/,$(COMMANDS))
	go build $(BUILD_FLAGS) -ldflags '$(LDFLAGS)' -o bin/executors/test-executor/ao-test-exec ./executors/test-executor
	go build $(BUILD_FLAGS) -ldflags '$(LDFLAGS)' -o bin/executors/claude-code/ao-claude-code-exec ./executors/claude-code
	@rm -rf bin/profiles && cp -R executors/profiles bin/profiles

verify-tools: ## the gateway's tools of tier 0 into bin/tools, pinned (npm's where there is npm); point GATEWAY_TOOL_PATH there
	@mkdir -p bin/tools
	GOBIN=$(CURDIR)/bin/tools go install honnef.co/go/tools/cmd/staticcheck@v0.7.0
	GOBIN=$(CURDIR)/bin/tools go install github.com/zricethezav/gitleaks/v8@v8.30.1
	@! command -v npm >/dev/null || npm install --prefix bin/tools --no-save --no-audit --no-fund --loglevel=error typescript@7.0.2 oxlint@1.94.0 @biomejs/biome@2.6.8

up: build ## build, then start everything (embedded Postgres, API, a runner) and print how to connect; Ctrl-C stops
	@exec bin/coordctl up

down: build ## stop what `make up` started
	@bin/coordctl down

# The background targets use containers where a Docker daemon with compose answers and .env is there, else this machine's
# own programs; COMPOSE= (empty) chooses the latter, COMPOSE="docker compose" the former.
COMPOSE ?= $(shell [ -f .env ] && docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1 && echo docker compose)

start-bg: ## start everything in the background: with docker compose where it can be, else as coordctl up -d
	$(if $(strip $(COMPOSE)),COORD_VERSION=$(VERSION) $(COMPOSE) up -d --build --wait,@$(MAKE) --no-print-directory build && bin/coordctl up -d)

logs-coordinator: ## follow the log of what start-bg started
	@$(if $(strip $(COMPOSE)),$(COMPOSE) logs -f api,tail -n 100 -F "$$(bin/coordctl status --json | sed -n 's/^  "home": "\(.*\)",$$/\1/p')/up.log")

stop: ## stop what start-bg started; nothing is lost
	@$(if $(strip $(COMPOSE)),$(COMPOSE) stop,$(MAKE) --no-print-directory down)

demo: build ## in under a minute: agents fight for the same files and tasks, and the right one wins
	@bin/coordctl demo

test: ## every test; needs Go and Postgres only
	$(GO_TEST) $(TEST_FLAGS) ./...

test/race: ## every test under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO_TEST) -race $(TEST_FLAGS) ./...

lint: ## the one gate: golangci-lint with the import walls (built from tools/go.mod)
	$(TOOL) golangci-lint run --allow-parallel-runners ./...

fmt: ## format everything (gofumpt, goimports)
	$(TOOL) golangci-lint fmt ./...

golden: ## rewrite the golden files (openapi.json, tools/list, schema, …); then read the diff
	UPDATE_GOLDEN=1 go test -count=1 -run 'Golden' ./...

golden/check: ## fail when a golden file differs from what the code makes
	go test -count=1 -run 'Golden' ./...

bench: ## measure against plain SQL and print both, side by side
	@if [ -d bench ]; then cd bench && go run . ; else go test -run '^$$' -bench . -benchtime 1s ./... ; fi

fuzz: ## fuzz every parser of outside input, one after the other, FUZZTIME=60s each
	@failed=; for file in $$(grep -rlE '^func Fuzz' --include='*_test.go' client cmd executors internal); do \
	  for target in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' $$file); do \
	    echo "==> $$target in $$(dirname $$file)"; \
	    go test "./$$(dirname $$file)" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x || failed="$$failed $$target"; \
	  done; \
	done; [ -z "$$failed" ] || { echo "FAILED:$$failed"; exit 1; }

vuln: ## known vulnerabilities in what the programs call (asks vuln.go.dev: needs the network, so it is no part of CI)
	$(TOOL) govulncheck ./...

deploy/check: ## the deployment files: compose's, BuildKit's and systemd's own readers, and what they start, started here
	cd deploy/check && $(GO_TEST) -count=1 ./...

prove: ## the long proofs (races, crashes, thousands of tasks); docs/PROOFS.md holds their figures
	$(GO_TEST) -tags prove -count=1 -v -timeout 60m -run 'Prove|StandardLibrary' ./internal/...
	E2E_TRIALS=30 E2E_DELIVERIES=10000 $(GO_TEST) -tags e2e -count=1 -v -timeout 60m -run 'Deadlock|Stopped|Killed' ./test/e2e/
	E2E_TRIALS=100 $(GO_TEST) -tags e2e -count=1 -v -timeout 60m -run 'Chaos' ./test/e2e/
	E2E_WRITES=10m $(GO_TEST) -tags e2e -count=1 -v -timeout 60m -run 'Writes|Upgrade' ./test/e2e/

e2e: build ## end to end with the real binaries and the real hosts (npm installs those into .e2e/)
	@mkdir -p .e2e && cp test/e2e/hosts/package.json .e2e/
	cd .e2e && npm install --no-package-lock --no-audit --no-fund --loglevel=error
	cd .e2e && npm pack --silent @octokit/openapi@23.0.2 >/dev/null && tar xzf octokit-openapi-23.0.2.tgz package/generated/api.github.com.json
	GITHUB_OPENAPI=$(CURDIR)/.e2e/package/generated/api.github.com.json go test -count=1 -run Golden ./internal/gateway/githubtest
	E2E_HOSTS=$(CURDIR)/.e2e $(GO_TEST) -tags e2e -count=1 -timeout 30m ./test/e2e/...

e2e-short: build ## a short end-to-end run: the demo, whose claims are checked, and the crash tests
	bin/coordctl demo --quiet
	go test -tags e2e -count=1 -timeout 10m -run 'Deadlock|Stopped|Killed|Chaos|Writes' ./test/e2e/

pictures: build ## the pictures of the page in docs/images, from a told project (after make e2e: needs .e2e and Chromium)
	E2E_HOSTS=$(CURDIR)/.e2e E2E_PICTURES=$(CURDIR)/docs/images go test -tags e2e -count=1 -timeout 15m -run HostPagePictures ./test/e2e

clean: ## remove what was built
	rm -rf bin .e2e
