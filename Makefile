# make          builds build/bin/gnnc
# make demo     compiles GAT, runs it on Cora and compares the result with its definition
# make test     fuzzes for SECONDS=60 on WORKERS=2 processors, then runs every test; the last line is "N passed, N failed"
# make sweep    every op of the library over all pairs of graphs, sizes, types and layouts; table in build/sweep.txt
# make seeded   faults put into generated code on purpose: how many the simulator and the definition notice (some minutes)
# make golden   writes test/golden/stdlib.txt anew: hashes of the texts that the compiler makes of the library
# make gallery  times of the ops in bench/gallery beside PyTorch, on a GPU; GALLERY="--graphs=star --ops=gat*" takes those
# make asan     the same tests with AddressSanitizer and UndefinedBehaviorSanitizer
# make coverage which lines of gnnc's C the tests run: a table by folder. TESTS="test/passes test/frontend" runs those alone
# make lint     the style of .clang-format and the checks of .clang-tidy over all C: any finding fails
# make format   writes all C in the style of .clang-format
# make fuzz     fuzzes for SECONDS=300 in all on WORKERS=1 processors, with clang's libFuzzer; FUZZ=parse,ir takes those
# make nightly  what is too long for each merge, by a fresh seed: SECONDS=3600 of fuzzing, CASES=10000, SEED=, PARTS=malformed,fuzz
# On Debian 12 what is missing is installed first (GNNC_NO_SETUP=1 leaves that out).
BUILD ?= build
# The one apt-get installs packages for.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
export PATH := $(CURDIR)/$(BUILD)/bin:$(PATH)

.PHONY: all setup demo test wheel sweep seeded golden gallery asan coverage lint format fuzz nightly clean
all: setup
	@test -f $(BUILD)/build.ninja || cmake -G Ninja -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release
	@ninja -C $(BUILD)

setup:
	@scripts/setup.sh $(BUILD)

demo: all
	@scripts/demo.sh $(BUILD)

# What fuzzing found is told again below the tests, where one looks.
# Python's package, with the compiler in it, to build/wheel. It needs pip, and hatchling from PyPI.
wheel: all
	@rm -rf $(BUILD)/wheel
	GNNC_BUILD=$(abspath $(BUILD)) $(PYTHON) -m pip wheel --quiet --no-deps -w $(BUILD)/wheel ./python
	@ls -l $(BUILD)/wheel

test: all
	@scripts/setup.sh $(BUILD) fuzz
	@scripts/setup.sh $(BUILD) tests
	@ninja -C $(BUILD) unit_tests
	@rm -f $(BUILD)/fuzz/out/report.txt; found=0; \
	FUZZ_SECONDS=$(or $(SECONDS),60) FUZZ_WORKERS=$(or $(WORKERS),2) FUZZ=$(FUZZ) scripts/fuzz.sh $(BUILD) --test || found=1; \
	$(PYTHON) test/run.py $(BUILD); status=$$?; \
	[ $$found = 1 ] || exit $$status; \
	echo "fuzzing failed:"; cat $(BUILD)/fuzz/out/report.txt 2>/dev/null || echo "its build, above"; exit 1

sweep: all
	@$(PYTHON) test/run/sweep.py $(BUILD)/bin/gnnc --level=full --out=$(BUILD)/sweep.txt

# Both counts are printed, whatever they are; fewer than asked for, and make fails.
seeded: all
	@echo "Faults in what is computed:"; s=0; \
	$(PYTHON) test/fuzz/seeded.py $(BUILD)/bin/gnnc run test/fuzz/miscompiles.txt --least 60 || s=1; \
	echo "Races:"; $(PYTHON) test/fuzz/seeded.py $(BUILD)/bin/gnnc run test/fuzz/races.txt --races || s=1; exit $$s

golden: all
	@$(PYTHON) test/golden/golden.py $(BUILD)/bin/gnnc --write --jobs=2

gallery: all
	@$(PYTHON) bench/gallery/gallery.py --gnnc=$(BUILD)/bin/gnnc --jobs=8 --warm=8 --out=$(BUILD)/gallery.jsonl $(GALLERY)

asan: setup
	@test -f $(BUILD)/asan/build.ninja || \
	    cmake -G Ninja -S . -B $(BUILD)/asan -DCMAKE_BUILD_TYPE=Debug -DGNNC_SANITIZE=ON
	@ninja -C $(BUILD)/asan all unit_tests
	@ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(CURDIR)/test/lsan.supp:print_suppressions=0 \
	    UBSAN_OPTIONS=print_stacktrace=1 \
	    $(PYTHON) test/run.py $(BUILD)/asan --param=sanitized=1

# Tests that fail do not keep the table away: it is printed, and then make fails.
coverage: setup
	@test -f $(BUILD)/coverage/build.ninja || \
	    cmake -G Ninja -S . -B $(BUILD)/coverage -DCMAKE_BUILD_TYPE=Debug -DGNNC_COVERAGE=ON
	@ninja -C $(BUILD)/coverage all unit_tests
	@find $(BUILD)/coverage -name '*.gcda' -delete
	@$(PYTHON) test/run.py $(BUILD)/coverage --param=coverage=1 $(TESTS); status=$$?; \
	$(PYTHON) scripts/coverage.py . $(BUILD)/coverage $(COVERAGE) && exit $$status

lint: all
	@scripts/setup.sh $(BUILD) lint
	@scripts/format.sh --check
	@scripts/lint.sh $(BUILD)

format: all
	@scripts/setup.sh $(BUILD) lint
	@scripts/format.sh

fuzz: all
	@scripts/setup.sh $(BUILD) fuzz
	@FUZZ_SECONDS=$(or $(SECONDS),300) FUZZ_WORKERS=$(or $(WORKERS),1) FUZZ=$(FUZZ) scripts/fuzz.sh $(BUILD)

nightly: all
	@ninja -C $(BUILD) unit_tests
	@NIGHTLY_SECONDS=$(SECONDS) NIGHTLY_CASES=$(CASES) NIGHTLY_SEED=$(SEED) NIGHTLY_PARTS=$(PARTS) PYTHON=$(PYTHON) scripts/nightly.sh $(BUILD)

clean:
	rm -rf $(BUILD)
