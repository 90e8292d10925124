"""The cases of the family: ops of the library that memory bounds, their sizes, and the bytes that must move."""
from collections import namedtuple

BYTES = {"f32": 4, "f16": 2, "bf16": 2}
# kind: what an op computes of which tensors; each peer knows the kinds it can do.
Op = namedtuple("Op", "file kind reduce weighted")
OPS = {
    **{"copy_e_" + r: Op("stdlib/spmm.gnn", "segment", r, False) for r in ("sum", "mean", "max", "min")},
    "spmm": Op("stdlib/spmm.gnn", "spmm", "sum", True),
    **{"copy_u_" + r: Op("stdlib/spmm.gnn", "spmm", r, False) for r in ("sum", "mean", "max")},
    "sddmm": Op("stdlib/sddmm.gnn", "dot", None, False),
    "u_dot_v": Op("stdlib/dgl.gnn", "dot", None, False),   # of heads
    "u_add_v": Op("stdlib/dgl.gnn", "add", None, False),
    "l2_distance": Op("bench/family/distance.gnn", "l2", None, False),
    "edge_softmax": Op("stdlib/softmax.gnn", "softmax", None, False),
}
WIDE, NARROW = (16, 32, 64, 128, 256), (1, 4, 16, 32, 64, 128, 256)
# family: its ops with their numbers of heads, the sizes and types it is timed with
FAMILIES = {
    "segment": ({op: (1,) for op in OPS if OPS[op].kind == "segment"}, NARROW, ("f32", "f16")),
    "spmm": ({op: (1,) for op in OPS if OPS[op].kind == "spmm"}, WIDE, ("f32", "f16", "bf16")),
    "sddmm": ({"sddmm": (1,), "u_dot_v": (8,), "u_add_v": (1,), "l2_distance": (1,)}, WIDE[1:], ("f32", "f16", "bf16")),
    "softmax": ({"edge_softmax": (1, 8)}, (1,), ("f32", "f16")),
}

# F: numbers a row, all heads together; of softmax 1, as a row has one of each head.
Case = namedtuple("Case", "family op dtype F H")


def select(families, ops=None, dtypes=None, feats=None):
    """Sizes and types that are asked for take the place of a family's own; those of softmax are its heads."""
    for family in families:
        heads, own_feats, own_dtypes = FAMILIES[family]
        for dtype in dtypes or own_dtypes:
            for feat in own_feats if family == "softmax" else feats or own_feats:
                for op in heads:
                    if ops and op not in ops:
                        continue
                    for h in heads[op]:
                        if family == "softmax" or feat % h == 0:
                            yield Case(family, op, dtype, feat, h)


def defines(case):
    """What gnnc compiles the op for."""
    if case.op == "edge_softmax":
        return {"H": case.H}
    return {"H": case.H, "D": case.F // case.H} if case.op == "u_dot_v" else {"F": case.F}


def row_bytes(case):
    return case.F * BYTES[case.dtype]


def gathers(case):
    """Whether rows are fetched by the edges' sources."""
    return OPS[case.op].kind in ("spmm", "dot", "add", "l2")


def stream_bytes(case, nodes, edges):
    """Each array read or written once; indices have 4 bytes, rows of edges are told by offsets."""
    b, kind = BYTES[case.dtype], OPS[case.op].kind
    offsets, nodes_rows, edge_rows = 4 * (nodes + 1), nodes * row_bytes(case), edges * row_bytes(case)
    if kind == "segment":
        return offsets + edge_rows + nodes_rows
    if kind == "softmax":
        return offsets + 2 * edges * case.H * b
    if kind == "spmm":
        return offsets + 4 * edges + edges * b * OPS[case.op].weighted + 2 * nodes_rows
    return offsets + 4 * edges + 2 * nodes_rows + (edge_rows if kind == "add" else edges * case.H * b)


def largest_bytes(case, nodes, edges):
    """Of the largest tensor."""
    kind = OPS[case.op].kind
    rows = edges if kind in ("segment", "add") else nodes
    return max(rows * row_bytes(case), edges * case.H * BYTES[case.dtype] if kind == "softmax" else 0)
