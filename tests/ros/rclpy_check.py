#!/usr/bin/env python3
"""A third implementation of a client, rclpy, against the nodes: what is on the bus, who is claimed, the QoS of all topics.

Starts dummy_sim, human_simulator and hri_producer itself, in a ROS domain of its own. Ends with 0 when everything is as
the specification says, else with 1 and what is not. Waits for conditions only, never for a time.
"""

import fcntl
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEADLINE_S = 30.0
NAMESPACE = "/arena/env_0"

SCENARIO = """\
static:
- {name: desk, model: box, pose: [3.0, 3.0, 0.0]}
dynamic:
- {name: anna, model: adult_casual_01, pose: [1.0, 0.0, 0.0]}
- {name: ben, model: adult_casual_01, pose: [2.0, 0.0, 0.0]}
"""

JOINTS = """
r_waist y_waist waist r_spine y_spine spine r_chest y_chest chest r_head y_head p_head
l_y_collar l_p_collar l_y_shoulder l_p_shoulder l_r_shoulder l_elbow
r_y_collar r_p_collar r_y_shoulder r_p_shoulder r_r_shoulder r_elbow
l_y_hip l_p_hip l_r_hip l_knee r_y_hip r_p_hip r_r_hip r_knee
l_y_ankle l_ankle r_y_ankle r_ankle l_r_wrist l_wrist r_r_wrist r_wrist
""".split()


def claim_domain():
    """A domain whose lock file is free; the conformance tests take theirs the same way. Answers the open lock."""
    for step in range(92):
        domain = 10 + (os.getpid() + step) % 92
        lock = open(Path(tempfile.gettempdir()) / f"promenade-ros-domain-{domain}.lock", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        return lock
    sys.exit("every ROS domain from 10 to 101 is taken by another test process")


LOCK = claim_domain()

import rclpy  # noqa: E402  (reads the domain from the environment)
from arena_people_msgs.msg import Pedestrian, Pedestrians  # noqa: E402
from arena_people_msgs.srv import MovePedestrians  # noqa: E402
from hri_msgs.msg import IdsList  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from task_generator_msgs.msg import EpisodeRecord  # noqa: E402
from task_generator_msgs.srv import QueueEpisode, ResetEpisode  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

VOLATILE, LATCHED = DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL
RELIABLE = ReliabilityPolicy.RELIABLE
PEOPLE = "arena_people_msgs/msg/Pedestrians"
MARKERS = "visualization_msgs/msg/MarkerArray"
IDS = "hri_msgs/msg/IdsList"
STRING = "std_msgs/msg/String"
RECORD = "task_generator_msgs/msg/EpisodeRecord"

# Who publishes or reads what and how: human-layer specification, section 3; ROS4HRI projection, section 6.1. The depth of a
# history is not part of the graph.
PUBLISHERS = [
    ("human_simulator", "arena_peds", PEOPLE, RELIABLE, VOLATILE),
    ("human_simulator", "pedestrian_markers/static_walls", MARKERS, RELIABLE, LATCHED),
    ("human_simulator", "pedestrian_markers/static_objects", MARKERS, RELIABLE, LATCHED),
    ("human_simulator", "task_generator/state/episode", RECORD, RELIABLE, LATCHED),
    ("human_simulator", "task_generator/state/queue", RECORD, RELIABLE, LATCHED),
    ("hri_producer", "humans/bodies/tracked", IDS, RELIABLE, LATCHED),
    ("hri_producer", "humans/faces/tracked", IDS, RELIABLE, LATCHED),
    ("hri_producer", "humans/persons/tracked", IDS, RELIABLE, LATCHED),
    ("hri_producer", "humans/persons/known", IDS, RELIABLE, LATCHED),
    ("hri_producer", "humans/bodies/{id}/joint_states", "sensor_msgs/msg/JointState", RELIABLE, VOLATILE),
    ("hri_producer", "humans/bodies/{id}/urdf", STRING, RELIABLE, LATCHED),
    ("hri_producer", "humans/persons/{id}/body_id", STRING, RELIABLE, LATCHED),
    ("hri_producer", "humans/persons/{id}/face_id", STRING, RELIABLE, LATCHED),
    ("hri_producer", "humans/persons/{id}/anonymous", "std_msgs/msg/Bool", RELIABLE, LATCHED),
    ("hri_producer", "humans/persons/{id}/location_confidence", "std_msgs/msg/Float32", RELIABLE, VOLATILE),
    ("hri_producer", "humans/persons/{id}/engagement_status", "hri_msgs/msg/EngagementLevel", RELIABLE, VOLATILE),
    ("hri_producer", "humans/faces/{id}/view", "arena_people_msgs/msg/FaceView", RELIABLE, VOLATILE),
    ("hri_producer", "humans/tf", "tf2_msgs/msg/TFMessage", RELIABLE, VOLATILE),
    ("hri_producer", "humans/tf_static", "tf2_msgs/msg/TFMessage", RELIABLE, LATCHED),
    ("hri_producer", "humans/markers", MARKERS, RELIABLE, VOLATILE),
]
SUBSCRIPTIONS = [
    ("human_simulator", "human/stream", PEOPLE, RELIABLE, VOLATILE),
    # Best available: reliable where the bus is, since a large message hardly arrives otherwise.
    ("hri_producer", "arena_peds", PEOPLE, RELIABLE, VOLATILE),
]


class Failure(Exception):
    """Something is not as specified."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def executable(name):
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":"):
        path = Path(prefix) / "lib" / "promenade" / name
        if path.is_file():
            return str(path)
    sys.exit(f"no executable {name!r} in AMENT_PREFIX_PATH: make build, then source tools/ros2/setup.bash")


class Client:
    def __init__(self, node):
        self.node = node
        self.now = None  # stamp of the newest frame
        self.frame = None
        node.create_subscription(Pedestrians, f"{NAMESPACE}/arena_peds", self.on_frame, 10)
        self.stream = node.create_publisher(Pedestrians, f"{NAMESPACE}/human/stream", 1)
        self.move = node.create_client(MovePedestrians, f"{NAMESPACE}/human/move")

    def on_frame(self, message):
        self.frame, self.now = message, message.header.stamp

    def until(self, what, look):
        """Spins until `look` answers something true, and answers that."""
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            rclpy.spin_once(self.node, timeout_sec=0.01)
        raise Failure(f"no {what} within {DEADLINE_S} s")

    def person(self, name):
        people = self.frame.pedestrians if self.frame else []
        return next((p for p in people if p.name == f"env_0/{name}"), None)

    def claim(self, *people):
        batch = Pedestrians(pedestrians=list(people))
        batch.header.stamp = self.now
        self.stream.publish(batch)


def person(name, x, y):
    result = Pedestrian(name=name)
    result.pose.position.x, result.pose.position.y = x, y
    result.pose.orientation.w = 1.0
    return result


def is_at(ped, x, y):
    return ped is not None and (ped.pose.position.x, ped.pose.position.y) == (x, y)


def check_bus(client):
    frame = client.until("people on arena_peds", lambda: client.frame)
    check(frame.header.frame_id == "map", f"frame_id is {frame.header.frame_id!r}")
    names = [p.name for p in frame.pedestrians]
    check(names == ["env_0/anna", "env_0/ben"], f"the people are {names}")
    for ped in frame.pedestrians:
        joints = ped.joint_state
        check(list(joints.name) == JOINTS, f"joints of {ped.name}: {list(joints.name)}")
        check(len(joints.position) == 40 and all(map(math.isfinite, joints.position)), f"{ped.name}: {joints.position}")
        check(not joints.velocity and not joints.effort, f"{ped.name} has velocities or efforts")
        check(ped.animation_state == Pedestrian.IDLE, f"{ped.name} is in state {ped.animation_state}")


def check_possession(client):
    client.until("reader of human/stream", lambda: client.stream.get_subscription_count() == 1)
    # A claim lasts a second of simulated time, so it is renewed until the bus shows it.
    client.until(
        "claim of anna",
        lambda: is_at(client.person("anna"), 7.0, -7.0) or client.claim(person("anna", 7.0, -7.0)),
    )
    check(is_at(client.person("ben"), 2.0, 0.0), "ben moved, though nobody claimed him")
    ben = person("ben", 8.0, 8.0)
    ben.animation_state = Pedestrian.WALKING
    client.claim(ben)
    client.until("claim of ben", lambda: is_at(client.person("ben"), 8.0, 8.0))
    check(is_at(client.person("anna"), 7.0, -7.0), "anna did not stay where she was released")
    client.claim()
    # Released, he is idle again; until then the stream says where he is.
    client.until("release of ben", lambda: client.person("ben").animation_state == Pedestrian.IDLE)
    check(is_at(client.person("ben"), 8.0, 8.0), "ben did not stay where he was released")


def check_move(client):
    client.until("human/move", client.move.service_is_ready)
    people = [person("nobody", 0.0, 0.0), person("anna", -3.0, -4.0), person("env_0/ben", -5.0, -6.0)]
    future = client.move.call_async(MovePedestrians.Request(pedestrians=people))
    client.until("answer of human/move", future.done)
    results = list(future.result().results)
    expected = [MovePedestrians.Response.NOT_FOUND] + [MovePedestrians.Response.SUCCESS] * 2
    check(results == expected, f"human/move answered {results} instead of {expected}")
    client.until("move of anna", lambda: is_at(client.person("anna"), -3.0, -4.0))
    client.until("move of ben", lambda: is_at(client.person("ben"), -5.0, -6.0))


def check_episodes(client):
    records = []
    qos = QoSProfile(depth=1, durability=LATCHED)
    node = client.node
    node.create_subscription(EpisodeRecord, f"{NAMESPACE}/task_generator/state/episode", records.append, qos)
    queue = node.create_client(QueueEpisode, f"{NAMESPACE}/task_generator/queue_episode")
    reset = node.create_client(ResetEpisode, f"{NAMESPACE}/task_generator/reset_episode")
    for service in [queue, reset]:
        client.until(service.srv_name, service.service_is_ready)

    def answer(service, request):
        future = service.call_async(request)
        client.until(f"answer of {service.srv_name}", future.done)
        return future.result()

    value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.1)
    refused = answer(queue, QueueEpisode.Request(human_params=[Parameter(name="human.dt", value=value)]))
    check(not refused.success and "reserved" in refused.error_msg, f"queue_episode answered {refused}")
    queued = answer(queue, QueueEpisode.Request(human_params=[Parameter(name="humansim.dt", value=value)]))
    check(queued.success, f"queue_episode answered {queued}")
    done = answer(reset, ResetEpisode.Request(seed=11))
    check(done.success, f"reset_episode answered {done}")
    record = client.until("record of episode 1", lambda: next((r for r in records if r.episode_id == 1), None))
    check((record.outcome_state, record.seed) == (EpisodeRecord.RUNNING, 11), f"the record is {record}")
    client.until("anna back at the start", lambda: is_at(client.person("anna"), 1.0, 0.0))


def check_latched(client):
    received = []
    qos = QoSProfile(depth=1, durability=LATCHED)
    topic = f"{NAMESPACE}/pedestrian_markers/static_objects"
    subscription = client.node.create_subscription(MarkerArray, topic, received.append, qos)
    client.until("latched objects", lambda: received)
    actions = [marker.action for marker in received[0].markers]
    check(actions == [Marker.DELETEALL, Marker.ADD], f"static_objects has the actions {actions}")
    client.node.destroy_subscription(subscription)


def check_qos(client):
    lists = []
    topic = f"{NAMESPACE}/humans/bodies/tracked"
    client.node.create_subscription(IdsList, topic, lists.append, QoSProfile(depth=1, durability=LATCHED))
    ids = client.until("two bodies", lambda: next((m.ids for m in lists if len(m.ids) == 2), None))
    expected = sorted(f"env_0_agent_{p.id}" for p in client.frame.pedestrians)
    check(list(ids) == expected, f"the bodies are {ids} instead of {expected}")

    for kind, table, look in [
        ("publisher", PUBLISHERS, client.node.get_publishers_info_by_topic),
        ("subscription", SUBSCRIPTIONS, client.node.get_subscriptions_info_by_topic),
    ]:
        for owner, name, message_type, reliability, durability in table:
            topic = f"{NAMESPACE}/{name.format(id=ids[0])}"
            what = f"{kind} of {owner} on {topic}"
            info = client.until(what, lambda: next((i for i in look(topic) if i.node_name == owner), None))
            check(info.topic_type == message_type, f"{what}: type {info.topic_type} instead of {message_type}")
            qos = info.qos_profile
            is_right = (qos.reliability, qos.durability) == (reliability, durability)
            check(is_right, f"{what}: {qos.reliability.name} {qos.durability.name}, "
                            f"should be {reliability.name} {durability.name}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "play.yaml"
        scenario.write_text(SCENARIO)
        in_namespace = ["--ros-args", "-r", f"__ns:={NAMESPACE}", "-p", "use_sim_time:=true"]
        commands = [
            [executable("dummy_sim")],
            [executable("human_simulator"), *in_namespace, "-p", "human:=dummy", "-p", f"scenario:={scenario}",
             "-p", "prefix:=env_0"],
            [executable("hri_producer"), *in_namespace],
        ]
        processes = [subprocess.Popen(command) for command in commands]
        rclpy.init()
        client = Client(rclpy.create_node("rclpy_check"))
        try:
            for step in [check_bus, check_possession, check_move, check_episodes, check_latched, check_qos]:
                step(client)
                print(f"{step.__name__}: ok")
        except Failure as failure:
            sys.exit(f"rclpy_check: {failure}")
        finally:
            client.node.destroy_node()
            rclpy.shutdown()
            for process in processes:
                process.send_signal(signal.SIGINT)
            statuses = [process.wait(DEADLINE_S) for process in processes]
        for command, status in zip(commands, statuses):
            if status != 0:
                sys.exit(f"rclpy_check: {Path(command[0]).name} ended with {status} after SIGINT")


if __name__ == "__main__":
    main()
