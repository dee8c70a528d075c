#!/usr/bin/env python3
"""Gait synthesis as a Python layer would do it: one person at a time, numpy over the harmonics of each joint.

The peer of `promenade bench gait`. Needs numpy and nothing else; it carries the numbers of the default walk.

    gait_numpy.py --people 1000 --ticks 5 [--state walk|run|idle] [--variant joint|person|crowd]
        prints {"bench": "gait_numpy", "people": ..., "state": ..., "variant": ..., "ns_per_pose": ...}

Variants: `joint` is one numpy expression per joint and person (the straightforward layer), `person` one per person,
`crowd` one for everybody at once (what numpy can do at best, for a layer whose people all share one profile).

    gait_numpy.py --check --id 7 --state walk --speed 1.0 --steps 40 --dt 0.05
        prints {"phase": ..., "positions": [40 values after the last step]}
"""

import argparse
import json
import math
import time

import numpy as np

JOINTS = [
    "r_waist", "y_waist", "waist", "r_spine", "y_spine", "spine", "r_chest", "y_chest", "chest", "r_head", "y_head",
    "p_head", "l_y_collar", "l_p_collar", "l_y_shoulder", "l_p_shoulder", "l_r_shoulder", "l_elbow", "r_y_collar",
    "r_p_collar", "r_y_shoulder", "r_p_shoulder", "r_r_shoulder", "r_elbow", "l_y_hip", "l_p_hip", "l_r_hip",
    "l_knee", "r_y_hip", "r_p_hip", "r_r_hip", "r_knee", "l_y_ankle", "l_ankle", "r_y_ankle", "r_ankle",
    "l_r_wrist", "l_wrist", "r_r_wrist", "r_wrist",
]
INDEX = {name: index for index, name in enumerate(JOINTS)}

ARM = [(-0.5, 0.5), (-0.2, 0.6), (-3.1, 3.1), (-1.0, 3.3), (-1.6, 1.6), (0.0, 2.5)]
LEG = [(-0.1, 0.6), (-0.4, 3.3), (-0.4, 0.7), (-2.5, 0.0)]
ANKLE = [(-0.6, 0.6), (-0.9, 0.6)]
WRIST = [(-1.4, 1.4), (-1.3, 1.3)]
LIMITS = np.array(
    [(-0.6, 0.6), (-0.8, 0.8), (-0.2, 1.0)]
    + 2 * [(-0.3, 0.3), (-0.4, 0.4), (-0.1, 0.5)]
    + [(-1.0, 1.0), (-1.4, 1.4), (-1.5, 1.5)]
    + 2 * ARM + 2 * LEG + 2 * ANKLE + 2 * WRIST
)

# Signal: (mean, amplitudes, phases).
SIGNALS = {
    "hip": (0.1875, np.array([0.4535, 0.1231, 0.0525]), np.array([0.0041, 0.7792, 1.6039])),
    "knee": (-0.5526, np.array([0.3626, 0.3583, 0.1199]), np.array([-2.2253, -1.7656, -1.6237])),
    "p_shoulder": (0.025, np.array([0.2977, 0.0146, 0.0016]), np.array([3.1387, -2.8025, 3.0495])),
    "elbow": (0.3183, np.array([0.2007, 0.0085, 0.0069]), np.array([3.1396, -1.5596, 3.1002])),
    "waist": (-0.0003, np.array([0.0027, 0.0118, 0.0009]), np.array([-0.3283, -2.679, 0.7895])),
    "r_head": (0.0024, np.array([0.0613, 0.005, 0.0192]), np.array([0.5242, -1.3198, 2.4158])),
    "y_head": (0.0018, np.array([0.0443, 0.0074, 0.0042]), np.array([-1.1709, 0.3561, 2.6086])),
    "p_head": (-0.0007, np.array([0.0097, 0.0207, 0.0019]), np.array([1.5574, -1.9386, 0.0378])),
}
BINDINGS = [
    (f"{side}_{joint}", SIGNALS[signal], shift)
    for joint, signal in [("r_hip", "hip"), ("knee", "knee"), ("p_shoulder", "p_shoulder"), ("elbow", "elbow")]
    for side, shift in [("l", 0.0), ("r", math.pi)]
] + [(name, SIGNALS[name], 0.0) for name in ["waist", "r_head", "y_head", "p_head"]]
ORDERS = np.arange(1, 4)
FACTOR = {"walk": 1.0, "run": 1.6}


def evaluate(phase, gain):
    """The 40 joint values of the walk at a phase."""
    pose = np.zeros(len(JOINTS))
    for name, (mean, amplitudes, phases), shift in BINDINGS:
        pose[INDEX[name]] = gain * (mean + np.sum(amplitudes * np.sin(ORDERS * (phase + shift) + phases)))
    return np.clip(pose, LIMITS[:, 0], LIMITS[:, 1])


MEANS = np.array([mean for _, (mean, _, _), _ in BINDINGS])
AMPLITUDES = np.array([amplitudes for _, (_, amplitudes, _), _ in BINDINGS])
OFFSETS = np.array([phases + ORDERS * shift for _, (_, _, phases), shift in BINDINGS])
BOUND = np.array([INDEX[name] for name, _, _ in BINDINGS])


def evaluate_person(phase, gain):
    """As `evaluate`, all joints in one expression."""
    pose = np.zeros(len(JOINTS))
    pose[BOUND] = gain * (MEANS + np.sum(AMPLITUDES * np.sin(ORDERS * phase + OFFSETS), axis=1))
    return np.clip(pose, LIMITS[:, 0], LIMITS[:, 1])


def evaluate_crowd(phases, gains):
    """As `evaluate`, for an array of people."""
    poses = np.zeros((len(phases), len(JOINTS)))
    waves = np.sin(ORDERS * phases[:, None, None] + OFFSETS)
    poses[:, BOUND] = gains[:, None] * (MEANS + np.einsum("jk,pjk->pj", AMPLITUDES, waves))
    return np.clip(poses, LIMITS[:, 0], LIMITS[:, 1])


def sway(phase):
    """The 40 joint values of the idle sway at a phase."""
    pose = np.zeros(len(JOINTS))
    pose[INDEX["waist"]] = 0.03 * np.sin(phase)
    pose[INDEX["y_head"]] = 0.06 * np.sin(0.3 * phase)
    pose[INDEX["p_head"]] = 0.02 * np.sin(0.5 * phase + 1.0)
    return np.clip(pose, LIMITS[:, 0], LIMITS[:, 1])


class Gait:
    """Phases by person id."""

    def __init__(self, evaluate=evaluate):
        self.phases = {}
        self.evaluate = evaluate

    def advance(self, person, state, speed, dt):
        """One tick of one person; returns the 40 values."""
        phase = self.phases.get(person, math.radians(person % 360))
        if state not in FACTOR:
            self.phases[person] = phase = phase + math.tau * 0.25 * dt
            return sway(phase)
        cadence = min(max(0.4 + 0.55 * abs(speed), 0.4), 2.2)
        self.phases[person] = phase = phase + math.copysign(1.0, speed) * math.tau * cadence * dt
        return self.evaluate(phase, FACTOR[state] * min(max(abs(speed) / 1.2, 0.2), 1.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--ticks", type=int, default=5)
    parser.add_argument("--state", choices=["walk", "run", "idle"], default="walk")
    parser.add_argument("--variant", choices=["joint", "person", "crowd"], default="joint")
    parser.add_argument("--check", action="store_true", help="print one person's posture instead of a time")
    parser.add_argument("--id", type=int, default=0)
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--dt", type=float, default=0.05)
    options = parser.parse_args()
    if options.variant == "crowd" and (options.check or options.state == "idle"):
        parser.error("the crowd variant measures walking and running only")
    gait = Gait(evaluate_person if options.variant == "person" else evaluate)
    if options.check:
        for _ in range(options.steps):
            pose = gait.advance(options.id, options.state, options.speed, options.dt)
        print(json.dumps({"phase": gait.phases[options.id], "positions": pose.tolist()}))
        return
    if options.variant == "crowd":
        phases = np.radians(np.arange(options.people) % 360)
        speeds = 0.3 + np.arange(options.people) % 40 * 0.05
    start = time.perf_counter_ns()
    for _ in range(options.ticks):
        if options.variant == "crowd":
            cadences = np.clip(0.4 + 0.55 * np.abs(speeds), 0.4, 2.2)
            phases += np.copysign(1.0, speeds) * math.tau * cadences * options.dt
            evaluate_crowd(phases, FACTOR[options.state] * np.clip(np.abs(speeds) / 1.2, 0.2, 1.0))
            continue
        for person in range(options.people):
            gait.advance(person, options.state, 0.3 + person % 40 * 0.05, options.dt)
    nanoseconds = (time.perf_counter_ns() - start) / (options.people * options.ticks)
    row = {"bench": "gait_numpy", "people": options.people, "state": options.state, "variant": options.variant}
    print(json.dumps({**row, "ns_per_pose": round(nanoseconds, 1)}))


if __name__ == "__main__":
    main()
