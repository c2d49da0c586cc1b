# What each target needs is prepared by scripts/bootstrap.sh: a Python, a virtual environment, tools.
.DEFAULT_GOAL := help
.PHONY: help demo test lint bench soak clients

# The system's own python3, whichever it is: inside a sandbox small programs run on it.
WITH := scripts/bootstrap.sh --needs "git bwrap /usr/bin/python3"
CLIENTS := curl wget rg git-lfs

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## the whole story on a throw-away repository and upstream
	@$(WITH) --needs curl -- sekisho demo

test: ## all tests (some 10 minutes on two cores); ARGS="tests/unit -k name" for some
	@$(WITH) --wants "$(CLIENTS)" -- scripts/test.sh $(ARGS)

lint: ## style, types, and that imports go one way
	@$(WITH) -- scripts/lint.sh

bench: ## ratios to bwrap, mitmdump and other sandboxes, measured on this machine
	@$(WITH) --wants "rg socat npm" -- python -m bench $(ARGS)

soak: ## the proxy under load for MINUTES (default 10), then hostile input to its parsers
	@$(WITH) -- python -m bench.soak --minutes $(or $(MINUTES),10)
	@$(WITH) -- python -m bench.fuzz --minutes $(or $(MINUTES),2)

clients: ## which of the clients on this machine read freely and are held when they write
	@$(WITH) --wants "$(CLIENTS)" -- python -m bench.clients $(ARGS)
