"""examples/mpi on six graphs in 1, 2, 4 and 7 processes, and what does not fit. Usage: parts.py PLACE, of a built example"""
import os
import subprocess
import sys

place = sys.argv[1]
GRAPHS = ["rmat:8:5,types=4", "path:20,types=4", "star:30,types=4", "empty:5,types=4", "grid:9:7,types=4", "hubs:200:3000,types=4"]


def parts(ranks, folder):
    r = subprocess.run(["mpirun", "-n", str(ranks), "build/mpi/parts", "build/mpi/layers.gnnlib", folder], cwd=place, capture_output=True,
                       text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def cut(graph, ranks, folder, owners):
    subprocess.run(["install/bin/gnnc", "partition", graph, "--parts=%d" % ranks, "--owners=" + owners, "-o", folder], cwd=place, check=True,
                   stdout=subprocess.DEVNULL)


def columns(text, which):
    rows = [line.split() for line in text.splitlines()]
    assert len(rows) == 4, text
    return [[r[0]] + [r[k] for k in which] for r in rows]


def near(a, b):
    return all(abs(float(x) - float(y)) <= 1e-4 * max(1, abs(float(x))) for p, q in zip(a, b) for x, y in zip(p[1:], q[1:]))


def main():
    for k, graph in enumerate(GRAPHS):
        one = None
        for ranks in (1, 2, 4, 7):
            cut(graph, ranks, "build/mpi/cut", "hash" if k % 2 else "block")
            status, out, err = parts(ranks, "build/mpi/cut")
            assert status == 0, err
            one = one or out
            assert columns(out, [2]) == columns(one, [2]), "%s in %d processes:\n%s%s" % (graph, ranks, one, out)
            assert near(columns(out, [6, 7]), columns(one, [6, 7])), out
        assert parts(ranks, "build/mpi/cut")[1] == out, "other bits when it runs again"
    status, _, err = parts(2, "build/mpi/cut")
    assert status == 1 and "rank 0 of 2 has part 0 of 7" in err, err
    cut(GRAPHS[0], 2, "build/mpi/two", "block")
    cut(GRAPHS[0], 2, "build/mpi/other", "hash")
    os.replace(place + "/build/mpi/other/1.npz", place + "/build/mpi/two/1.npz")
    status, _, err = parts(2, "build/mpi/two")
    assert status == 1 and "rank 1 of 2 has part 1 of 2, of another cut" in err, err
    os.remove(place + "/build/mpi/two/1.npz")
    status, _, err = parts(2, "build/mpi/two")
    assert status != 0 and "1.npz: No such file" in err, err


main()
