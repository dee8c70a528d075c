#!/usr/bin/env python3
"""The robot world beside IR-SIM, the same world files, one machine, one run.

    world.py [--rounds 3] [--case dash rvo lidar scan push] [--promenade target/release/promenade] [--venv DIR] [--json FILE]

`promenade bench world --write` makes the world files; both simulators read them and step them without drawing. IR-SIM is installed
with pip into a virtual environment (once) and only called through `irsim.make` and `step`. The two take turns, round after round, so
that both meet the same noise; the best round of each counts. Prints a table, and with --json writes the rows.

A world is read, steps a few times to get going, and is then timed. The time to read it does not count.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import time

from interpreter import install, last_json

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CASES = ["dash", "rvo", "lidar", "scan", "push"]
REQUIREMENT = "ir-sim==2.12.0\n"
ONE_THREAD = {name: "1" for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]} | {"MPLBACKEND": "Agg"}
SECONDS = 3.0


def work(file):
    """Measure IR-SIM with one file in this process and print its row."""
    import irsim

    start = time.perf_counter()
    world = irsim.make(str(file), headless=True, log_level="ERROR", seed=0)
    made = time.perf_counter() - start
    for _ in range(3):
        world.step()
    done, start = 0, time.perf_counter()
    while done < 3 or time.perf_counter() - start < SECONDS:
        world.step()
        done += 1
    mean = (time.perf_counter() - start) / done
    print(json.dumps({"steps_per_s": 1 / mean, "ms_per_step": 1000 * mean, "steps": done, "load_s": made}))


def better(best, row):
    return row if row and (best is None or row["steps_per_s"] > best["steps_per_s"]) else best


def describe(row):
    """A line for people: what is in the world."""
    parts = [f"{row['robots']:,} robots" if row["robots"] > 1 else "1 robot"]
    if row["beams"]:
        parts.append(f"{row['beams']} beams each" if row["robots"] > 1 else f"{row['beams']} beams")
    if row["obstacles"]:
        parts.append(f"{row['obstacles']} obstacles")
    return ", ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--promenade", type=pathlib.Path, default=ROOT / "target" / "release" / "promenade")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / ".peers" / "world")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows into this file")
    parser.add_argument("--work", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options.work)
    if not options.promenade.exists():
        parser.error(f"no {options.promenade}: build it with `cargo build --release`, or say where it is with --promenade")
    python = install(options.venv.resolve(), REQUIREMENT)
    promenade = options.promenade.resolve()
    best = {case: [None, None] for case in options.case}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for case in options.case:
            write = [promenade, "bench", "world", "--case", case, "--write", scratch / f"{case}.yaml"]
            subprocess.run(write, check=True)
        for _ in range(options.rounds):
            for case in options.case:
                ours = last_json([promenade, "bench", "world", "--case", case, "--json"])
                command = [python, HERE / "world.py", "--work", scratch / f"{case}.yaml"]
                theirs = last_json(command, cwd=scratch, env={**os.environ, **ONE_THREAD})
                best[case] = [better(*pair) for pair in zip(best[case], [ours, theirs])]
    print("| case | world | IR-SIM 2.12.0, steps per second | ms per step | ours, steps per second | ms per step | ratio |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    for case, (ours, theirs) in best.items():
        if not ours or not theirs:
            continue
        ratio = ours["steps_per_s"] / theirs["steps_per_s"]
        print(
            f"| `{case}` | {describe(ours)} | {theirs['steps_per_s']:.3g} | {theirs['ms_per_step']:.3g} "
            f"| {ours['steps_per_s']:,.0f} | {ours['ms_per_step']:.3g} | {ratio:,.0f} |"
        )
        rows.append({**ours, "irsim_steps_per_s": round(theirs["steps_per_s"], 3), "ratio_to_irsim": round(ratio, 1)})
    if options.json:
        machine = {"machine": platform.processor() or platform.machine(), "python": platform.python_version()}
        options.json.write_text(json.dumps({**machine, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
