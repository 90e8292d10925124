"""Whether the threads took their tickets in the orders that the folders are named by."""
import os
import struct
import sys


def taken(order, name):
    data = open(os.path.join(sys.argv[1], order, name + ".npy"), "rb").read()
    return struct.unpack("<192i", data[-768:])


def expected():
    """Of each thread, before the barrier and after it: a block of two warps takes 64, twice."""
    before = [128 * (i // 64) + i % 64 for i in range(192)]
    return before, [x + 64 for x in before]


before, after = expected()
assert (list(taken("forward", "y")), list(taken("forward", "z"))) == (before, after)
assert (list(taken("reverse", "y"))[::-1], list(taken("reverse", "z"))[::-1]) == (before, after)
random = list(taken("random", "y"))
assert random not in (before, before[::-1]) and sorted(random + list(taken("random", "z"))) == list(range(384))
