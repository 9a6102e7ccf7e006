# Short commands over the CMake presets; `make help` lists them.
JOBS ?= $(shell scripts/count-processors)
RELEASE := build/release
BIN := $(RELEASE)/bin
export JOBS DEPS
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := build
PAPERS ?=
.PHONY: deps build program run papers test verify robust bench soak figures site generated format clean help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

deps: ## install missing packages (Debian; needs root or sudo; DEPS=0 in front of any target: install nothing)
	@scripts/install-deps

build: deps ## build the release into build/release (the default)
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)

program: ## build the program alone
	@scripts/install-deps --program
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target galpha_program -j $(JOBS)

run: program ## a robot arm with two controllers, its motion in build/robot_arm.svg, its errors in build/robot_arm_orders.svg; a car, build/car_*.svg and its animation, build/car_semi_active.html
	@$(BIN)/galpha run examples/models/robot_arm.yaml -o build/robot_arm.h5
	@$(BIN)/galpha plot build/robot_arm.h5 "*.angle" "*.angle_rate" "*_motor.force" --xy tool.x tool.y -o build/robot_arm.svg
	@cd build && ../$(BIN)/galpha converge ../examples/models/robot_arm.yaml --step 10ms
	@$(BIN)/galpha run examples/models/car_semi_active.yaml --step 2ms -o build/car_semi_active.h5
	@$(BIN)/galpha view build/car_semi_active.h5 chassis.y chassis.roll "*_current*" -o build/car_semi_active.html
	@scripts/plot-car $(BIN)/galpha build
	@echo "look at build/robot_arm.svg, build/robot_arm_orders.svg, the four pictures of the car and, in a browser, build/car_semi_active.html"

papers: program ## every figure of the five papers into build/papers, and a page with all of them (PAPERS='000-fig3 002-*': some)
	@$(BIN)/galpha papers $(PAPERS) -o build/papers

test: deps ## all tests, with sanitizers and valgrind; ends with "N passed, N failed"
	@scripts/run-tests

verify: build ## every order, drift and reference, and the cases of docs/trust.md: the long verification
	@$(BIN)/verify; code=$$?; tests/trust/run $(BIN)/galpha build/trust || code=1; \
	  GALPHA=$(BIN)/galpha $(BIN)/accuracy bars \
	    $(filter-out %/light_cart_pole.yaml,$(wildcard examples/models/*.yaml)) tests/accuracy/models/*.yaml || code=1; \
	  tests/accuracy/defaults $(BIN) build/defaults && exit $$code

robust: build ## every model under order 2 and collocation, tolerances 1e-2 to 1e-9, five starts: hours, goes on where it ended (TOL=1e-3,1e-5 STARTS=1 MODELS=...: a part)
	@$(BIN)/robust run --file build/robust.csv --tol "$${TOL:-1e-2,1e-3,1e-4,1e-5,1e-6,1e-7,1e-8,1e-9}" --starts "$${STARTS:-5}" \
	  $${MODELS:-examples/models/*.yaml tests/accuracy/models/*.yaml}; code=$$?; tests/accuracy/robust-summary build/robust.csv && exit $$code

bench: ## speed, side by side with installed peers, into build/bench.json (FULL=1: the long cases too)
	@scripts/install-deps --bench
	@$(MAKE) build
	@scripts/run-bench $(BIN) build/bench.json $(if $(FULL),--full)

soak: ## fuzzing, threads, random seeds, valgrind, kills and long runs, about 45 minutes (FUZZ_SECONDS=20 STEPS=100000: a quick look)
	@scripts/install-deps --soak
	@$(MAKE) build
	@scripts/soak $(RELEASE)

figures: build ## all pictures of docs/img, by the commands of docs/img/figures.txt (FULL=1: also those that take long; ONLY="a.svg b.svg")
	@BIN=$(BIN) scripts/make-figures $(ONLY)

site: program ## the documentation as static pages, with search, equations and moving machines: build/site/index.html
	@scripts/install-deps --site
	@scripts/make-site $(BIN)/galpha build/site

generated: ## write the docs that are made from the library's tables: the format of models and its JSON Schema
	@scripts/install-deps
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target generated -j $(JOBS)
	@$(BIN)/generated .

format: ## format all C sources
	@command -v clang-format >/dev/null || { echo "make format needs clang-format (on Debian, apt-get install clang-format)"; exit 1; }
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format -i

clean: ## remove everything that was built
	@rm -rf build
