# mountward: one static binary, daemon and command line.

GO            ?= go
GOFUMPT       := mvdan.cc/gofumpt@v0.12.0
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

DESTDIR    ?=
PREFIX     ?= /usr
BINDIR     ?= $(PREFIX)/bin
UNITDIR    ?= $(PREFIX)/lib/systemd/system
CATALOGDIR ?= $(PREFIX)/lib/systemd/catalog
DOCDIR     ?= $(PREFIX)/share/doc/mountward
SYSCONFDIR ?= /etc
PLUGINDIR  ?= /opt/nri/plugins
# Where containerd's main file imports drop-ins from.
DROPINDIR  ?= $(SYSCONFDIR)/containerd/conf.d

# The environment may say -buildvcs=false; the version comes from build info.
BUILDFLAGS := -trimpath -buildvcs=auto -ldflags=-s\ -w

.PHONY: help build build-faults lint test test-runtime test-vap test-node demo bench chaos check install install-launched install-namespace install-fail-closed uninstall clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/mountward, static
	CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -o bin/mountward ./plugin

build-faults: # goes wrong on purpose, for tests; see plugin/fault_on.go
	CGO_ENABLED=0 $(GO) build $(BUILDFLAGS) -tags faults -o bin/mountward-faults ./plugin

# The linters that look at a package alone. The others first analyze all that it
# imports, which for Kubernetes' libraries takes ten times as long: "make test-vap"
# has them.
FACTLESS := copyloopvar,errcheck,errorlint,gocritic,ineffassign,misspell,nolintlint,predeclared,unconvert,unused,usestdlibvars,usetesting

# golangci-lint vets as well: go vet would do it anew for all that the nested
# modules import.
lint: ## gofumpt, go vet, golangci-lint
	@test/scripts/step "gofumpt" sh -c 'out=$$($(GO) run $(GOFUMPT) -l .); test -z "$$out" || { echo "gofumpt would change:"; echo "$$out"; exit 1; }'
	@test/scripts/step "go vet" $(GO) vet ./...
	@test/scripts/step "golangci-lint (about 3 min the first time)" $(GO) run $(GOLANGCI_LINT) run --allow-parallel-runners ./...
	@test/scripts/step "golangci-lint test/runtime" sh -c 'cd test/runtime && $(GO) run $(GOLANGCI_LINT) run --allow-parallel-runners --config ../../.golangci.yml ./...'
	@test/scripts/step "golangci-lint test/node" sh -c 'cd test/node && $(GO) run $(GOLANGCI_LINT) run --allow-parallel-runners --config ../../.golangci.yml ./...'
	@test/scripts/step "golangci-lint test/vap" sh -c 'cd test/vap && $(GO) run $(GOLANGCI_LINT) run --allow-parallel-runners --config ../../.golangci.yml --enable-only $(FACTLESS) ./...'

test: build ## everything but the VM, chaos and bench: unit, scripts, journald, real containerd
	@test/scripts/prepare test
	@test/scripts/step "go test ./..." test/scripts/go-test ./...
	@test/scripts/step "go test test/vap (about 1 min more the first time)" sh -c 'cd test/vap && ../scripts/go-test ./...'
	@test/scripts/step "shipped policies and examples" $(MAKE) --no-print-directory check
	@test/scripts/step "systemd unit and catalog" test/scripts/check-systemd
	@test/scripts/step "install and uninstall" test/scripts/check-install
	@$(MAKE) --no-print-directory test-runtime

test-runtime: build build-faults ## the tests on a real containerd (about 4 min more the first time)
	@test/scripts/prepare test
	@test/scripts/step "go test test/runtime" sh -c 'cd test/runtime && ../scripts/go-test -timeout 30m ./...'

test-vap: ## the exported policies by the whole admission plugin of kube-apiserver, and lint of them (about 5 min more the first time)
	@test/scripts/step "golangci-lint -tags plugin test/vap" sh -c 'cd test/vap && $(GO) run $(GOLANGCI_LINT) run --allow-parallel-runners --config ../../.golangci.yml --build-tags plugin ./...'
	@test/scripts/step "go test -tags plugin test/vap" sh -c 'cd test/vap && ../scripts/go-test -tags plugin ./...'

SUITE ?= trixie,bookworm
test-node: build ## the tests in virtual machines with systemd and LVM (SUITE=trixie RUN=REGEXP FULL=1)
	@test/node/prepare
	@test/scripts/step "go test test/node" sh -c 'cd test/node && ../scripts/go-test .'
	@mkdir -p test/node/cache && cd test/node && $(GO) build -o cache/node .
	@cd test/node && exec cache/node -suites '$(SUITE)' -run '$(RUN)' -full='$(or $(FULL),0)'

demo: build ## the main job on a real containerd, on one screen
	@test/scripts/prepare build
	@cd test/runtime && $(GO) run ./demo

bench: build ## figures, side by side in one run; no test asserts a time
	@test/scripts/prepare build
	@cd test/runtime && $(GO) run ./bench
	@$(GO) run ./test/bench

CHAOS ?=
chaos: build ## kill the plugin and containerd while 500 pods come and go; fails if a guard has a hole (CHAOS='-seed N')
	@test/scripts/prepare build
	@cd test/runtime && $(GO) run ./chaos $(CHAOS)

# Whole policies have a version; the other examples are drop-ins.
check: build ## the shipped policy and the examples through the daemon's own parser, and their tests
	bin/mountward check --strict config/policy.toml
	@set -e; for f in config/examples/*.toml; do case $$f in *_test.toml) continue ;; esac; \
		if grep -q '^version' $$f; then set -- $$f; else set -- --drop-in $$f config/examples/main.toml; fi; \
		echo "bin/mountward check --strict $$*"; bin/mountward check --strict "$$@"; done
	bin/mountward test --min-coverage 100 config config/examples

install: build ## binary, unit, catalog, examples, config, policy.d (never overwrites $(SYSCONFDIR)); then check
	install -D -m 0755 bin/mountward $(DESTDIR)$(BINDIR)/mountward
	install -d $(DESTDIR)$(UNITDIR)
	sed 's,/usr/bin/mountward,$(BINDIR)/mountward,' systemd/mountward.service > $(DESTDIR)$(UNITDIR)/mountward.service
	chmod 0644 $(DESTDIR)$(UNITDIR)/mountward.service
	install -D -m 0644 systemd/mountward.catalog $(DESTDIR)$(CATALOGDIR)/mountward.catalog
	install -d $(DESTDIR)$(DOCDIR)/examples $(DESTDIR)$(SYSCONFDIR)/mountward/policy.d
	install -m 0644 config/examples/* $(DESTDIR)$(DOCDIR)/examples
	@test/scripts/install-config config/mountward.toml $(DESTDIR)$(SYSCONFDIR)/mountward/mountward.toml
	@test/scripts/install-config config/policy.toml $(DESTDIR)$(SYSCONFDIR)/mountward/policy.toml
	@test -n "$(DESTDIR)" || journalctl --update-catalog || echo "mountward: no journal catalog here; journalctl -x will not explain records"
	$(DESTDIR)$(BINDIR)/mountward check $(DESTDIR)$(SYSCONFDIR)/mountward/policy.toml

# containerd launches every executable in its plugin directory and refuses to
# start when one has another name, so nothing but the finished link may ever
# appear there: it is made beside the directory and renamed in. Beside it is
# also where PLUGINDIR ends with a slash.
LAUNCHED := $(DESTDIR)$(abspath $(PLUGINDIR))

# The capabilities are the administrator's choice, so their drop-in is in /etc.
DROPIN := $(DESTDIR)$(SYSCONFDIR)/systemd/system/mountward.service.d

install-launched: install ## ... and let containerd launch it (at its next start)
	install -d $(LAUNCHED)
	@test/scripts/install-config config/nri/90-mountward.conf $(DESTDIR)$(SYSCONFDIR)/nri/conf.d/90-mountward.conf
	ln -sfn $(BINDIR)/mountward $(dir $(LAUNCHED)).mountward-link
	mv -T $(dir $(LAUNCHED)).mountward-link $(LAUNCHED)/90-mountward

install-namespace: install ## ... and let the service change mounts inside containers ([apply] namespace = true)
	install -D -m 0644 systemd/mountward.service.d/namespace.conf $(DROPIN)/namespace.conf
	@test/scripts/switch-namespace $(DESTDIR)$(SYSCONFDIR)/mountward/mountward.toml
	@echo "now run: systemctl daemon-reload && systemctl restart mountward"

REQUIRING := $(DESTDIR)$(abspath $(DROPINDIR))/50-mountward.toml

install-fail-closed: ## ... and let containerd create no container while mountward is away
	@DESTDIR='$(DESTDIR)' PLUGINDIR='$(abspath $(PLUGINDIR))' test/scripts/fail-closed check
	@test/scripts/install-config config/containerd/50-mountward.toml $(REQUIRING)
	@echo 'It holds once containerd is restarted, if its main file has the line'
	@echo '    imports = ["$(abspath $(DROPINDIR))/*.toml"]'
	@echo '"mountward doctor" tells whether that is so. From then on no container is created while'
	@echo 'mountward is away, static pods included; "mountward emergency --for 30m" lets them through.'

# What makes containerd require us goes first: a node is never left with it alone.
uninstall: ## remove what the install targets put there; configuration and state stay
	@! test -e $(REQUIRING) || echo 'removed $(REQUIRING): containerd does not require mountward after its next start'
	rm -f $(REQUIRING)
	@DESTDIR='$(DESTDIR)' test/scripts/fail-closed left
	rm -f $(LAUNCHED)/90-mountward
	rm -f $(DROPIN)/namespace.conf
	@rmdir $(DROPIN) 2>/dev/null || true
	rm -f $(DESTDIR)$(UNITDIR)/mountward.service $(DESTDIR)$(CATALOGDIR)/mountward.catalog $(DESTDIR)$(BINDIR)/mountward
	rm -rf $(DESTDIR)$(DOCDIR)/examples
	@rmdir $(DESTDIR)$(DOCDIR) 2>/dev/null || true
	@test -n "$(DESTDIR)" || journalctl --update-catalog || true
	@echo "left in place: $(DESTDIR)$(SYSCONFDIR)/mountward, /var/lib/mountward; what runs, runs on"
	@echo "now: systemctl restart containerd, and only then systemctl disable --now mountward"

clean: ## remove what was built
	rm -rf bin test/runtime/bin test/node/cache
