#!/usr/bin/env python3
"""A third client, rclpy, sees what the nodes publish: `/clock` from dummy_sim, and the people types load.

Ends with 0 when it received a clock message, with 1 and a reason otherwise.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

DEADLINE_S = 30.0

os.environ["ROS_DOMAIN_ID"] = str(10 + os.getpid() % 92)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import rclpy  # noqa: E402  (reads the domain from the environment)
from arena_people_msgs.msg import Pedestrian, Pedestrians  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402


def executable(name):
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":"):
        path = Path(prefix) / "lib" / "promenade" / name
        if path.is_file():
            return str(path)
    sys.exit(f"no executable {name!r} in AMENT_PREFIX_PATH: make build, then source tools/ros2/setup.bash")


def main():
    crowd = Pedestrians(pedestrians=[Pedestrian(name="anna", animation_state=Pedestrian.WALKING)])
    assert crowd.pedestrians[0].animation_state == 1

    rclpy.init()
    node = rclpy.create_node("rclpy_smoke")
    received = rclpy.task.Future()
    node.create_subscription(Clock, "/clock", lambda m: received.done() or received.set_result(m), 10)
    simulator = subprocess.Popen([executable("dummy_sim")])
    try:
        rclpy.spin_until_future_complete(node, received, timeout_sec=DEADLINE_S)
    finally:
        simulator.send_signal(signal.SIGINT)
        simulator.wait(DEADLINE_S)
        node.destroy_node()
        rclpy.shutdown()
    if not received.done():
        sys.exit(f"no /clock message within {DEADLINE_S} s")
    print(f"rclpy received /clock: {received.result().clock}")


if __name__ == "__main__":
    main()
