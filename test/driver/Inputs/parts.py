"""Parts that gnnc wrote, by NumPy; owners and a graph for it to read. Usage: parts.py FOLDER GNNC"""
import subprocess
import sys

import numpy as np


def parts(folder, n):
    return [dict(np.load("%s/%d.npz" % (folder, i))) for i in range(n)]


def check(p):
    rows = np.concatenate([x["ids"][:len(x["rowptr"]) - 1] for x in p])
    edges = np.concatenate([x["edge_ids"] for x in p])
    assert sorted(rows) == list(range(p[0]["part"][2])) and sorted(edges) == list(range(p[0]["part"][3]))
    assert len({int(x["part"][4]) for x in p}) == 1
    for i, x in enumerate(p):
        own = len(x["rowptr"]) - 1
        for q, y in enumerate(p):
            sent = y["ids"][y["send"][y["send_ptr"][i]:y["send_ptr"][i + 1]]]
            assert (sent == x["ids"][own + x["halo_ptr"][q]:own + x["halo_ptr"][q + 1]]).all()


def main():
    folder, gnnc = sys.argv[1:]
    check(parts(folder + "/g", 3))
    check(parts(folder + "/h", 4))
    np.save(folder + "/short.npy", np.zeros(63, np.int32))
    np.save(folder + "/wide.npy", np.array([0, 1, 0, 1, 0, 2] + [0] * 58))
    np.savez(folder + "/bip.npz", rowptr=[0, 1, 2], col=[2, 0], num_src=3)
    owner = np.arange(64, dtype=np.int32) % 2
    np.save(folder + "/owner.npy", owner)
    subprocess.run([gnnc, "partition", "rmat:6:4", "--parts=2", "--owners=" + folder + "/owner.npy", "-o", folder + "/o"], check=True,
                   stdout=subprocess.DEVNULL)
    for i, x in enumerate(parts(folder + "/o", 2)):
        assert (x["ids"][:len(x["rowptr"]) - 1] == np.flatnonzero(owner == i)).all()


main()
