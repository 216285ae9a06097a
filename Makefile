# The commands of this house. What they do in more than one line is in scripts/.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# What scripts/setup had to fetch comes first, what cargo installed for the person last.
export PATH := $(CURDIR)/target/tools/bin:$(CURDIR)/target/tools/node_modules/.bin:$(PATH):$(HOME)/.cargo/bin

UI_STAMP := ui/node_modules/.installed
UI_BUILT := ui/dist/index.html
UI_SOURCES = $(shell find ui -path ui/node_modules -prune -o -path 'ui/dist*' -prune -o -type f -print)

.PHONY: help run test test-model check dev bench soak icons clean setup-build setup-window setup-test

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build what is needed and run the demo: in a window where there is a display, else here
	@if scripts/display; then $(MAKE) run-window; else $(MAKE) run-command; fi

.PHONY: run-window run-command
run-window: setup-window $(UI_BUILT)
	@echo "building the desktop app (a few minutes the first time)"
	@cargo build --locked $$([ -t 2 ] || echo --quiet) -p longrein-desktop
	@exec target/debug/longrein-desktop --demo

run-command: setup-build
	@echo "building the longrein command (a minute or two the first time)"
	@cargo build --locked $$([ -t 2 ] || echo --quiet) -p longrein-cli
	@exec target/debug/longrein demo

test: ## Run every test there is, with a table at the end
	@scripts/test

test-model: ## A real small model does a task of three tools on this machine (580 MB the first time)
	@scripts/test-model

check: ## Format, lints and unit tests: what to run before a commit
	@scripts/test --quick

dev: setup-window $(UI_STAMP) ## The desktop app with the front end reloading as it is edited
	@exec ui/node_modules/.bin/tauri dev --config src-tauri/tauri.dev.conf.json

bench: setup-build ## Measure a step: time, bytes on disk, memory
	@cargo build --locked --quiet --release -p longrein-cli
	@exec target/release/longrein bench steps --n 100,1000,10000

soak: setup-test $(UI_BUILT) ## The long tests: 200 real kills and 10,000 seeds instead of 40 and 1,000
	@LONGREIN_KILLS=200 LONGREIN_SEEDS=10000 cargo nextest run --locked --workspace --profile soak

icons: ## Make the icon's sizes from its drawings
	@scripts/setup icons
	@icons/make

clean: ## Remove what was built, but not the tools that scripts/setup fetched
	@rm -rf ui/dist ui/node_modules
	@if [ -d target ]; then find target -mindepth 1 -maxdepth 1 ! -name tools -exec rm -rf {} +; fi

setup-build:
	@scripts/setup build

setup-window:
	@scripts/setup build window

setup-test:
	@scripts/setup

# The lock alone decides: a changed script or setting installs nothing.
$(UI_STAMP): ui/package-lock.json
	@echo "installing the front end's packages"
	@cd ui && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# The desktop app embeds ui/dist, so it is built before cargo.
$(UI_BUILT): $(UI_STAMP) $(UI_SOURCES)
	@echo "building the front end"
	@cd ui && npm run --silent build -- --logLevel warn
