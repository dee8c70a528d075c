"""Writes the clip files of this folder: `make.py np1 .` under NumPy 1.26, `make.py np2 .` under NumPy 2.4.

`hostile.npy` asks its reader to run a command; never load it with allow_pickle.
"""

import io
import os
import pickle
import sys

import numpy as np

TAG, OUT = sys.argv[1:3]
JOINTS = (
    "r_waist y_waist waist r_spine y_spine spine r_chest y_chest chest r_head y_head p_head "
    "l_y_collar l_p_collar l_y_shoulder l_p_shoulder l_r_shoulder l_elbow "
    "r_y_collar r_p_collar r_y_shoulder r_p_shoulder r_r_shoulder r_elbow "
    "l_y_hip l_p_hip l_r_hip l_knee r_y_hip r_p_hip r_r_hip r_knee "
    "l_y_ankle l_ankle r_y_ankle r_ankle l_r_wrist l_wrist r_r_wrist r_wrist"
).split()


def frames(number, count=5, root=list):
    clip = np.empty(count, dtype=object)
    for k in range(count):
        angles = {j: number(0.01 * i + 0.1 * k) for i, j in enumerate(JOINTS) if not (j == "waist" and k == 2)}
        angles["l_thumb"] = number(0.5 * k)
        clip[k] = {"angles": angles, "t": k / 20, "root_xy_yaw": root([float(k), 0.5, -0.25]), "animation_state": 1}
    return clip


def save(name, clip, protocol=None):
    path = os.path.join(OUT, name + ".npy")
    if protocol is None:
        np.save(path, clip, allow_pickle=True)
        return
    data = io.BytesIO()
    np.lib.format.write_array_header_1_0(data, np.lib.format.header_data_from_array_1_0(clip))
    pickle.dump(clip, data, protocol=protocol)
    with open(path, "wb") as file:
        file.write(data.getvalue())


class Hostile:
    def __reduce__(self):
        return os.system, ("echo hi",)


if TAG == "np1":
    save("np1_floats", frames(float))
    save("np1_scalars_p2", frames(np.float64, 3, tuple), 2)
    save("np1_f4_p3", frames(np.float32, 3, np.array), 3)
else:
    save("np2_scalars", frames(np.float64, 3, np.array))
    save("np2_floats_p5", frames(float, 5, tuple), 5)
    big = frames(lambda v: np.array(v, dtype=">f8")[()], 3, lambda r: np.array(r, dtype=">f4"))
    save("np2_big_endian", big, 4)
    np.savez_compressed(
        os.path.join(OUT, "np2.npz"),
        joint_names=np.array(JOINTS + ["l_thumb"]),
        angles=np.array([[0.01 * i + 0.1 * k for i in range(40)] + [0.5 * k] for k in range(5)]),
        t=np.arange(5) / 20,
        root_xy_yaw=np.array([[k, 0.5, -0.25] for k in range(5)]),
        animation_state=np.ones(5, dtype=np.int16),
    )
    hostile = np.empty(1, dtype=object)
    hostile[0] = Hostile()
    save("hostile", hostile)
    np.save(os.path.join(OUT, "numeric.npy"), np.zeros(3))
