#!/usr/bin/env python3
"""Records random event-store scenarios and what SimPy's FilterStore delivers in them.

The result, crates/kernel/tests/data/store_scenarios.json, is checked in; run this again only to change the scenarios:

    python3 -m venv /tmp/simpy && /tmp/simpy/bin/pip install simpy==4.1.2
    /tmp/simpy/bin/python tools/kernel_vectors/record.py

A scenario is a list of processes, all known by number. Those in "start" start at time 0 in that order. A process is a
text of instructions, separated by spaces:

    tN      wait N time units
    pV      put the number V, without waiting
    ga      take any number            gmK,R   take a number n with n % K == R
    glV     take a number below V      ggV     take a number above V
    sP      start process P

"deliveries" lists, in order, every take that got its number: time, process, number.
"""

import json
import pathlib
import random

import simpy

SCENARIOS = 400
OUT = pathlib.Path(__file__).resolve().parents[2] / "crates/kernel/tests/data/store_scenarios.json"


def random_take(rng):
    kind = rng.choice("aammmlg")
    if kind == "a":
        return "ga"
    if kind == "m":
        modulus = rng.randint(2, 4)
        return f"gm{modulus},{rng.randrange(modulus)}"
    return f"g{kind}{rng.randint(3, 27)}"


def random_scenario(rng):
    count = rng.randint(2, 9)
    roots = rng.randint(1, count)
    processes = []
    unstarted = list(range(roots, count))
    for _ in range(count):
        putter = rng.random() < 0.5
        instructions = []
        for _ in range(rng.randint(6, 28)):
            roll = rng.random()
            if roll < 0.3:
                instructions.append(f"t{rng.choice([0, 0, 1, 1, 2, 3])}")
            elif roll < 0.37 and unstarted:
                instructions.append(f"s{unstarted.pop(0)}")
            elif putter == (roll < 0.85):
                instructions.append(f"p{rng.randrange(31)}")
            else:
                instructions.append(random_take(rng))
        processes.append(" ".join(instructions))
    start = list(range(roots)) + unstarted
    rng.shuffle(start)
    return start, processes


def accepts(text):
    kind, rest = text[0], text[1:]
    if kind == "a":
        return lambda n: True
    if kind == "m":
        modulus, remainder = map(int, rest.split(","))
        return lambda n: n % modulus == remainder
    bound = int(rest)
    return (lambda n: n < bound) if kind == "l" else (lambda n: n > bound)


def deliveries(start, processes):
    env = simpy.Environment()
    store = simpy.FilterStore(env)
    delivered = []

    def run(number):
        for instruction in processes[number].split():
            verb, rest = instruction[0], instruction[1:]
            if verb == "t":
                yield env.timeout(int(rest))
            elif verb == "p":
                store.put(int(rest))
            elif verb == "g":
                value = yield store.get(accepts(rest))
                delivered.extend([env.now, number, value])
            else:
                env.process(run(int(rest)))

    for number in start:
        env.process(run(number))
    env.run()
    return delivered


def main():
    rng = random.Random(20261130)
    scenarios = []
    for _ in range(SCENARIOS):
        start, processes = random_scenario(rng)
        scenarios.append({"start": start, "processes": processes, "deliveries": deliveries(start, processes)})
    lines = ",\n".join(json.dumps(scenario, separators=(",", ":")) for scenario in scenarios)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    total = sum(len(scenario["deliveries"]) // 3 for scenario in scenarios)
    print(f"{len(scenarios)} scenarios, {total} deliveries, SimPy {simpy.__version__}: {OUT}")


if __name__ == "__main__":
    main()
