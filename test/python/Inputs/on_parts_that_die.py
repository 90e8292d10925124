"""A rank that is gone: the others raise within the timeout, in an exchange, in its gradient, and where the halo travels meanwhile.
Exit status 1: a test failed."""
import datetime
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from gnnc import distributed

TIMEOUT = 4
EDGES = torch.stack([torch.arange(40), (torch.arange(40) * 7 + 3) % 40])


def forward(x, part):
    distributed.exchange(x, part)


def backward(x, part):
    y = distributed.exchange(x, part)
    if part.part == 1:
        os._exit(0)
    y.sum().backward()


def meanwhile(x, part):
    distributed.overlapped(lambda h, rows: h[rows.rows], x, part)


def joining(x, part):
    distributed.join(part)


def work(rank, folder, name):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://%s/%s" % (folder, name), rank=rank, world_size=3,
                            timeout=datetime.timedelta(seconds=TIMEOUT))
    part = distributed.partition(EDGES, 3)[rank]
    x = torch.ones(part.owned, 2, requires_grad=True)
    distributed.exchange(x, part)   # all are there
    if rank == 1 and name != "backward":
        os._exit(0)
    begun = time.monotonic()
    try:
        globals()[name](x, part)
        os._exit(3)   # nothing was raised
    except RuntimeError:
        os._exit(0 if time.monotonic() - begun < 4 * TIMEOUT else 4)


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("forward", "backward", "meanwhile", "joining"):
            ranks = [mp.get_context("spawn").Process(target=work, args=(r, folder, name)) for r in range(3)]
            for p in ranks:
                p.start()
            for r, p in enumerate(ranks):
                p.join(60)
                if p.exitcode != 0:
                    print("%s: rank %d ended with %s" % (name, r, p.exitcode))
                    wrong += 1
                    p.kill()
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
