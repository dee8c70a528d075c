# Everything a user or CI does, by one word. `make help` lists it.

SHELL := /bin/bash
ros := tools/ros2/setup.sh
sourced := source tools/ros2/setup.bash &&

.DEFAULT_GOAL := help
.PHONY: help ros build test run clean-ros

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1|/p' $(MAKEFILE_LIST) | column -t -s '|'

ros: ## set up ROS 2 and build the interface packages; then: source tools/ros2/setup.bash
	$(ros)

build: ## build the ROS-free workspace and the nodes (release)
	cargo build --release --workspace
	$(ros) nodes

test: ## set up, build, and run everything that CI runs
	tools/test.sh

run: build ## from nothing to the running demo; HUMAN=hunav, SCENARIO=clinic/corridor_crowd choose
	$(sourced) target/release/promenade up launch/demo.launch.xml $(if $(HUMAN),human:=$(HUMAN)) $(if $(SCENARIO),scenario:=$(SCENARIO))

clean-ros: ## remove the ROS 2 environment and all that was built with it
	rm -rf .ros crates/nodes/.cargo crates/nodes/target tests/ros/target
