"""Usage: set.py FOLDER. Graphs of several forms: rings, one with hubs, a star, a few edges."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir()


def write(name, nodes, edges):
    lines = [f"{row + 1} {column + 1}" for row, column in sorted(set(edges))]
    head = f"%%MatrixMarket matrix coordinate pattern general\n{nodes} {nodes} {len(lines)}"
    (folder / name).write_text("\n".join([head, *lines]) + "\n")


write("hubs.mtx", 200, [(i % 3 * i % 200, i * 7 % 200) for i in range(200)] + [(5, i) for i in range(200)])
write("ring.mtx", 150, [(i, (i + k) % 150) for i in range(150) for k in (1, 2, 3)])
write("star.mtx", 120, [(0, i) for i in range(1, 120)] + [(i, 0) for i in range(1, 120)])
(folder / "few.el").write_text("0 1\n1 2\n2 0\n3 1\n")
(folder / ".hidden").write_text("not a graph\n")
