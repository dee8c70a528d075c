"""Record how RVO2 (van den Berg, Guy, Lin & Manocha; Apache-2.0) moves the scenes of the correspondence gate.

Run with a Python binding of RVO2 on the path:  python3 record.py > orca_peer.json
Preferred velocities are at 1.1 m/s to the goal, and zero from 0.15 m before it on. Every eighth position is kept.
"""
import json, math, random
import rvo2

DT, SECONDS, KEPT = 0.05, 25.0, 8
RADIUS, SPEED, MOST = 0.25, 1.1, 1.5
REACH, NEIGHBOURS, HORIZON = 5.0, 10, 5.0
JITTER, ARRIVED, STEP = 0.05, 0.15, 0.01


def circle(count, radius):
    at = lambda k: (radius * math.cos(2 * math.pi * k / count), radius * math.sin(2 * math.pi * k / count))
    return [(at(k), tuple(-c for c in at(k))) for k in range(count)]


def crossing():
    along = [((-5.0, y), (5.0, y)) for y in (-1.0, 0.0, 1.0)]
    return along + [((x, -5.0), (x, 5.0)) for x in (-1.0, 0.0, 1.0)]


def corridor_pass():
    east = [((-5.0, y), (5.0, y)) for y in (-0.8, 0.0, 0.8)]
    return east + [((5.0, y), (-5.0, y)) for y in (-0.8, 0.0, 0.8)]


def sparse_random(count, draw):
    place = lambda: (draw.uniform(-6.0, 6.0), draw.uniform(-6.0, 6.0))
    starts = []
    while len(starts) < count:
        start = place()
        if all(math.dist(start, other) > 1.0 for other in starts):
            starts.append(start)
    return [(start, tuple(round(c, 3) for c in place())) for start in starts]


def record(name, people, seed, walls=()):
    draw = random.Random(seed)
    people = [((s[0] + draw.uniform(-JITTER, JITTER), s[1] + draw.uniform(-JITTER, JITTER)), g) for s, g in people]
    people = [tuple(tuple(round(c, 6) for c in p) for p in pair) for pair in people]
    sim = rvo2.PyRVOSimulator(DT, REACH, NEIGHBOURS, HORIZON, 2.0, RADIUS, MOST)
    ids = [sim.addAgent(start) for start, _ in people]
    for wall in walls:
        sim.addObstacle([(wall[0], wall[1]), (wall[2], wall[3])])
    sim.processObstacles()
    positions = [[list(start) for start, _ in people]]
    speeds = [[] for _ in ids]
    for tick in range(1, round(SECONDS / DT) + 1):
        for i, (_, goal) in zip(ids, people):
            x, y = sim.getAgentPosition(i)
            dx, dy = goal[0] - x, goal[1] - y
            d = math.hypot(dx, dy)
            sim.setAgentPrefVelocity(i, (SPEED * dx / d, SPEED * dy / d) if d > ARRIVED else (0.0, 0.0))
        sim.doStep()
        if tick % KEPT == 0:
            positions.append([[round(c, 3) for c in sim.getAgentPosition(i)] for i in ids])
    return {"name": name, "walls": walls, "starts": [s for s, _ in people], "goals": [g for _, g in people], "positions": positions}


def step(seed):
    """One step of five people in a small place with walls that do not touch each other."""
    draw = random.Random(seed)
    sim = rvo2.PyRVOSimulator(STEP, REACH, NEIGHBOURS, HORIZON, 2.0, RADIUS, MOST)
    rows = [[round(draw.uniform(-w, w), 3) for w in (2.0, 2.0, 1.0, 1.0, 1.0, 1.0)] for _ in range(5)]
    middle = draw.uniform(0.0, 2 * math.pi)
    ends = lambda a, d: [d * math.cos(a), d * math.sin(a)]
    walls = [[round(c, 3) for c in ends(middle + k * math.pi, 1.0) + ends(middle + k * math.pi + 0.8, 2.5)] for k in range(seed % 3)]
    for x, y, vx, vy, wx, wy in rows:
        i = sim.addAgent((x, y), REACH, NEIGHBOURS, HORIZON, 2.0, RADIUS, MOST, (vx, vy))
        sim.setAgentPrefVelocity(i, (wx, wy))
    for wall in walls:
        sim.addObstacle([(wall[0], wall[1]), (wall[2], wall[3])])
    sim.processObstacles()
    sim.doStep()
    velocities = [[round(c, 5) for c in sim.getAgentVelocity(i)] for i in range(len(rows))]
    return {"rows": rows, "walls": walls, "velocities": velocities}


print(json.dumps({
    "made_with": "RVO2 library through its Python binding (tools/peers/orca_rvo2.py)", "dt": DT, "every": KEPT,
    "scenes": [record("circle_6", circle(6, 4.0), 6), record("circle_10", circle(10, 5.0), 10), record("crossing_6", crossing(), 66),
               record("corridor_pass_6", corridor_pass(), 7, [[-8.0, -1.5, 8.0, -1.5], [-8.0, 1.5, 8.0, 1.5]]),
               record("sparse_random_10", sparse_random(10, random.Random(110)), 11),
               record("sparse_random_16", sparse_random(16, random.Random(116)), 17)],
    "steps": [step(seed) for seed in range(60)],
}))
