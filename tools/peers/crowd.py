#!/usr/bin/env python3
"""The crowd engine beside its peers, one workload, one machine, one run.

    crowd.py [--agents 5000] [--rounds 3] [--promenade target/release/promenade] [--venv DIR] [--json FILE]

Makes a virtual environment with the peers of requirements.txt (once), then measures in turn, round after round, so that everybody
meets the same noise; the best round of each counts. Prints a table, and with --json writes the rows.

Workload: people on a square at 0.25 per m2, each heading for the point mirrored through its middle, steps of 0.05 s, one thread.
A peer is built once, steps 20 times to get going, and is then timed. The time to build it does not count.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import random
import tempfile
import time

from interpreter import install, last_json

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DENSITY, DT, WARM_UP = 0.25, 0.05, 20
ONE_THREAD = {name: "1" for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]}


def places(count):
    """Starts on a jittered lattice; nobody touches anybody."""
    rng, side, spacing = random.Random(0), math.ceil(math.sqrt(count)), 1 / math.sqrt(DENSITY)
    along = lambda index: (index - 0.5 * (side - 1) + rng.uniform(-0.3, 0.3)) * spacing
    return [(along(number % side), along(number // side)) for number in range(count)]


def speeds(count):
    """Desired speeds as the adults of our engine have them, m/s."""
    rng = random.Random(1)
    return [min(max(rng.gauss(1.1, 0.12), 0.5), 1.5) for _ in range(count)]


def jupedsim(count):
    """Social force model of JuPedSim; a C++ core, stepped by its own loop."""
    import jupedsim as jps

    starts, half = places(count), 2.0 * math.ceil(math.sqrt(count)) + 50.0
    area = [(-half, -half), (half, -half), (half, half), (-half, half)]
    crowd = jps.Simulation(model=jps.SocialForceModel(), geometry=area, dt=DT)
    stage = crowd.add_direct_steering_stage()
    journey = crowd.add_journey(jps.JourneyDescription([stage]))
    for (x, y), speed in zip(starts, speeds(count)):
        agent = crowd.add_agent(
            jps.SocialForceModelAgentParameters(
                position=(x, y), journey_id=journey, stage_id=stage, desired_speed=speed, radius=0.25
            )
        )
        crowd.agent(agent).target = (-x, -y)
    return crowd.iterate


def rvo2(count):
    """ORCA of the RVO2 library, with the numbers of our `orca`; preferred velocities are set from Python each step."""
    import pyrvo

    starts, wanted = places(count), speeds(count)
    crowd = pyrvo.RVOSimulator(DT, 5.0, 10, 5.0, 2.0, 0.25, 1.5)
    for start in starts:
        crowd.add_agent(start)

    def step():
        for agent, ((x, y), speed) in enumerate(zip(starts, wanted)):
            at = crowd.get_agent_position(agent)
            dx, dy = -x - at.x, -y - at.y
            scale = speed / max(math.hypot(dx, dy), 1e-6)
            crowd.set_agent_pref_velocity(agent, (dx * scale, dy * scale))
        crowd.do_step()

    return step


def pysocialforce(count):
    """PySocialForce: NumPy over all pairs."""
    import logging

    import numpy
    import pysocialforce

    logging.disable(logging.CRITICAL)
    starts = places(count)
    state = numpy.array([(x, y, 0.0, 0.0, -x, -y) for x, y in starts])
    crowd = pysocialforce.Simulator(state)
    return crowd.step_once


PEERS = {"jupedsim": jupedsim, "rvo2": rvo2, "pysocialforce": pysocialforce}
# PySocialForce looks at all pairs: a few hundred people are what it can do in a minute. More would only be slower for each.
MOST = {"pysocialforce": 1000}
SECONDS = 2.0


def work(name, count):
    """Measure one peer in this process and print its row."""
    count = min(count, MOST.get(name, count))
    step = PEERS[name](count)
    start = time.perf_counter()
    for _ in range(WARM_UP):
        step()
        if time.perf_counter() - start > 10 * SECONDS:
            break
    done, start = 0, time.perf_counter()
    while done < 3 or time.perf_counter() - start < SECONDS:
        step()
        done += 1
    mean = (time.perf_counter() - start) / done
    print(json.dumps({"peer": name, "agents": count, "agent_steps_per_s": round(count / mean, 1)}))


def ours(promenade, label, *options):
    def measure(count):
        row = last_json([promenade, "bench", "crowd", "--agents", str(count), "--json", *options])
        return row and {"peer": label, "agents": count, "agent_steps_per_s": row["agent_steps_per_s"]}

    return measure


def peer(python, name):
    def measure(count):
        with tempfile.TemporaryDirectory() as scratch:
            command = [python, HERE / "crowd.py", "--work", name, "--agents", str(count)]
            return last_json(command, cwd=scratch, env={**os.environ, **ONE_THREAD})

    return measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--promenade", type=pathlib.Path, default=ROOT / "target" / "release" / "promenade")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / ".peers")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows into this file")
    parser.add_argument("--work", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options.work, options.agents)
    if not options.promenade.exists():
        parser.error(f"no {options.promenade}: build it with `cargo build --release`, or say where it is with --promenade")
    python = install(options.venv.resolve(), (HERE / "requirements.txt").read_text())
    promenade = options.promenade.resolve()
    candidates = [
        ours(promenade, "promenade sfm"),
        ours(promenade, "promenade sfm, improvements", "--improvements"),
        ours(promenade, "promenade orca", "--planner", "orca"),
        ours(promenade, "plain loop", "--plain"),
        *(peer(python, name) for name in PEERS),
    ]
    best = {}
    for _ in range(options.rounds):
        for measure in candidates:
            row = measure(options.agents)
            if row and row["agent_steps_per_s"] > best.get(row["peer"], {"agent_steps_per_s": 0.0})["agent_steps_per_s"]:
                best[row["peer"]] = row
    reference = best.get("jupedsim", {}).get("agent_steps_per_s")
    print("| who | people | agent-steps per second | times JuPedSim |")
    print("|---|---|---|---|")
    for row in best.values():
        ratio = f"{row['agent_steps_per_s'] / reference:.3g}" if reference else "-"
        print(f"| {row['peer']} | {row['agents']} | {row['agent_steps_per_s']:,.0f} | {ratio} |")
    if options.json:
        machine = {"machine": platform.processor() or platform.machine(), "python": platform.python_version()}
        options.json.write_text(json.dumps({**machine, "rows": list(best.values())}, indent=2) + "\n")


if __name__ == "__main__":
    main()
