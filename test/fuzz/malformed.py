#!/usr/bin/env python3
"""Malformed graph files, which must be refused with the array, the place and the value, and valid ones, which must be read.

Usage: malformed.py READ_MANY [--cases 10000] [--seed 1] [--save FILE]

Makes --cases of each and has READ_MANY (test/fuzz/read_many.c) read all of them in one process. Every case follows from the seed and
its number, which its name tells. The exit status is 1 if one was judged wrongly, or took more memory than files.h promises.
"""
import argparse
import io
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

BAD_FILE, TOO_LARGE = -21, -10
TYPES = {"i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B", "f8": "d", "f4": "f"}


# ---- Files -------------------------------------------------------------------------------------------------------------------
def header(text, version=1, length=None):
    """A .npy header around the text of its dictionary; length: what it says of itself."""
    size = 2 if version == 1 else 4
    text = text + " " * (-(6 + 2 + size + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + (len(text) if length is None else length).to_bytes(size, "little") + text.encode()


def dictionary(kind, shape, fortran=False):
    return "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (kind, fortran, shape)


def npy(values, kind="i8", shape=None, fortran=False, version=1):
    """values: in the order of the file."""
    shape = (len(values),) if shape is None else shape
    data = struct.pack("<%d%s" % (len(values), TYPES[kind]), *values)
    return header(dictionary(("|" if kind[1] == "1" else "<") + kind, shape, fortran), version) + data


def archive(members, deflate=False):
    """members: pairs of a name and bytes; a name may stand twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED) as z:
        for name, data in members:
            entry = zipfile.ZipInfo(name + ".npy")
            entry.compress_type = z.compression
            z.filelist = list(z.filelist)
            z.NameToInfo.pop(entry.filename, None)   # a second one is no matter for a warning
            z.writestr(entry, data)
    return out.getvalue()


class Graph:
    """Rows of sources, and what a reader must find in it."""

    def __init__(self, r, most=12):
        self.nodes = r.choice([0, 1, 2, 3, r.randrange(1, most if r.randrange(40) else 100 * most)])
        self.sources = self.nodes if r.randrange(3) else self.nodes + r.randrange(5)
        self.rows = [[r.randrange(self.sources) for _ in range(r.choice([0, 0, 1, 2, r.randrange(6)]))] for _ in range(self.nodes)]

    @property
    def col(self):
        return [u for row in self.rows for u in row]

    @property
    def rowptr(self):
        out = [0]
        for row in self.rows:
            out.append(out[-1] + len(row))
        return out

    def wanted(self, weights=None):
        total = sum(v * 1000003 + u + 1 for v, row in enumerate(self.rows) for u in row) % 2**64
        sums = "-" if weights is None else str(sum((e + 1) * w for e, w in enumerate(weights)))
        return "%d %d %d %d %s" % (self.nodes, self.sources, len(self.col), total, sums)

    def arrays(self):
        out = {"rowptr": npy(self.rowptr), "col": npy(self.col)}
        if self.sources != self.nodes:
            out["num_src"] = npy([self.sources], shape=())
        return out


# ---- Valid files -------------------------------------------------------------------------------------------------------------
def good_npz(r):
    g, out, weights = Graph(r), {}, None
    integers = ["i8", "i4", "i8", "i4", "i2", "u8", "u4", "i1", "u2", "u1"]

    def index(values):
        fitting = [k for k in integers if not values or max(values) < 2 ** (8 * int(k[1]) - 1)]
        return npy(values, r.choice(fitting), fortran=bool(r.randrange(2)), version=r.choice([1, 1, 2, 3]))
    out["rowptr"], out["col"] = index(g.rowptr), index(g.col)
    if g.sources != g.nodes:
        out["num_src"] = npy([g.sources], r.choice(["i8", "i4"]), shape=r.choice([(), (1,)]))
    if not r.randrange(3):
        weights = [r.randrange(-9, 10) for _ in g.col]
        out["weight"] = npy(weights, r.choice(["f8", "f4"]))
    if not r.randrange(3):
        out["etype"] = index([r.randrange(4) for _ in g.col])
    if not r.randrange(3):
        out["batch"] = index(sorted(r.randrange(3) for _ in range(g.nodes)))
    if not r.randrange(3):
        columns = r.randrange(4)
        out["x"] = npy([r.random() for _ in range(g.nodes * columns)], r.choice(["f8", "f4"]), (g.nodes, columns),
                       bool(r.randrange(2)), r.choice([1, 2, 3]))
    if not r.randrange(4):
        out["something_else"] = npy([1, 2], "f8")
    members = list(out.items())
    r.shuffle(members)
    return "npz", archive(members, bool(r.randrange(2))), g.wanted(weights)


def lines(r, rows, comment):
    """Rows of text with comments, blank lines and ends of lines as people write them."""
    out = []
    for row in rows:
        if comment and not r.randrange(6):
            out.append(comment + " 1 2 3")
        out.append(row)
    end = r.choice(["\n", "\n", "\r\n"])
    return (end.join(out) + (end if out and r.randrange(5) else "")).encode()


def good_edges(r):
    g = Graph(r)
    edges = [(u, v) for v, row in enumerate(g.rows) for u in row]
    g.nodes = g.sources = max([max(e) + 1 for e in edges], default=0)
    g.rows = [sorted(u for u, v in edges if v == row) for row in range(g.nodes)]
    weights = None
    if edges and not r.randrange(3):
        weight = {e: r.randrange(-9, 10) for e in edges}
        rows = [[str(u), str(v), r.choice(["%d", "%d.0", "%de0"]) % weight[u, v]] for u, v in edges]
        weights = [weight[u, v] for v, row in enumerate(g.rows) for u in row]
    else:
        rows = [[str(u), str(v)] for u, v in edges]
    r.shuffle(rows)
    if rows and int(rows[0][-1].split(".")[0].split("e")[0]) == len(rows) - 1:   # else it may be counts, which is refused
        rows.append(rows.pop(0))
    if rows and int(rows[0][-1].split(".")[0].split("e")[0]) == len(rows) - 1:
        return good_edges(r)
    separator = r.choice([" ", "\t", ",", ", ", "  "])
    return "txt", lines(r, [separator.join(row) for row in rows], r.choice(["#", "%"])), g.wanted(weights)


def good_tall_matrix(r):
    """As many rows as a file of no size may declare."""
    rows, columns = 6 * 2**20, r.randrange(1, 2**40)
    v, u = r.randrange(rows), r.randrange(columns)
    text = "%%%%MatrixMarket matrix coordinate pattern general\n%d %d 1\n%d %d\n" % (rows, columns, v + 1, u + 1)
    return "mtx", text.encode(), "%d %d 1 %d -" % (rows, columns, v * 1000003 + u + 1)


def good_matrix(r):
    if not r.randrange(100):
        return good_tall_matrix(r)
    g = Graph(r)
    field, symmetry = r.choice(["real", "integer", "pattern"]), r.choice(["general", "general", "symmetric", "skew-symmetric"])
    if field == "pattern" and symmetry == "skew-symmetric":
        symmetry = "symmetric"
    entries = {(v, u): r.randrange(-9, 10) for v, row in enumerate(g.rows) for u in row}
    if symmetry != "general":
        g.sources = g.nodes
        entries = {(v, u): w for (v, u), w in entries.items() if (u < v if symmetry[1] == "k" else u <= v)}
    stored = list(entries.items())
    if symmetry != "general":
        entries.update({(u, v): -w if symmetry[1] == "k" else w for (v, u), w in stored if u != v})
    g.rows = [sorted(u for w, u in entries if w == v) for v in range(g.nodes)]
    weights = None if field == "pattern" else [entries[v, u] for v, row in enumerate(g.rows) for u in row]
    r.shuffle(stored)
    value = {"real": r.choice([" %d", " %d.0", " %de+00"]), "integer": " %d"}.get(field)
    rows = ["%d %d" % (v + 1, u + 1) + (value % w if value else "") for (v, u), w in stored]
    banner = "%%MatrixMarket matrix coordinate " + field + " " + symmetry
    head = [r.choice([banner, banner, banner.replace("matrix", "MATRIX")])] + ["% a comment"] * r.randrange(3)
    text = "\n".join(head + ["%d %d %d" % (g.nodes, g.sources, len(stored))]) + "\n"
    return "mtx", text.encode() + lines(r, rows, ""), g.wanted(weights)


# ---- Malformed archives --------------------------------------------------------------------------------------------------------
# Each takes a graph that has edges and its arrays, changes them, and gives status and text; the bytes too where no arrays make them.
def spoil_offsets(r, g, a):
    o, n = g.rowptr, g.nodes
    i = r.randrange(1, n + 1)
    kind = r.randrange(4)
    if kind == 0:
        o[0] = r.choice([1, -1, 2**40])
        text = "rowptr[0] = %d, must be 0" % o[0]
    elif kind == 1:
        o[i] = o[i - 1] - r.choice([1, 5, 2**40])
        text = "rowptr[%d] = %d after %d" % (i, o[i], o[i - 1])
    elif kind == 2:
        o[n] += r.choice([1, 3, 2**31, 2**62])
        text = "rowptr[%d] = %d, but there are %d entries in col" % (n, o[n], len(g.col))
    else:
        o = []
        text = "rowptr is empty, must begin with 0"
    a["rowptr"] = npy(o, version=r.choice([1, 2, 3]))
    return BAD_FILE, text


def spoil_index(r, g, a):
    col = g.col
    i = r.randrange(len(col))
    col[i] = r.choice([-1, -2**31, -2**63, g.sources, g.sources + 1, 2**31 - 1, 2**63 - 1])
    a["col"] = npy(col)
    return BAD_FILE, "col[%d] = %d is outside U (%d)" % (i, col[i], g.sources)


def spoil_narrow_index(r, g, a):
    col, kind = g.col, r.choice(["i4", "u4", "i2", "i1", "u1", "u2"] if g.sources < 128 else ["i4", "u4"])
    i = r.randrange(len(col))
    col[i] = -1 if kind[0] == "i" else 2 ** (8 * int(kind[1])) - 1
    a["col"] = npy(col, kind)
    return BAD_FILE, "col[%d] = %d is outside U (%d)" % (i, col[i], g.sources)


def spoil_large_index(r, g, a):
    col = g.col
    i = r.randrange(len(col))
    col[i] = r.choice([2**63, 2**64 - 1])
    a["col"] = npy(col, "u8")
    return TOO_LARGE, "col: element %d = %d does not fit i64" % (i, col[i])


def spoil_type(r, g, a):
    name = r.choice(["rowptr", "col"])
    values = [float(v) for v in (g.rowptr if name == "rowptr" else g.col)]
    values[r.randrange(len(values))] = r.choice([float("nan"), float("inf"), 0.5, 1.0])
    kind = r.choice(["f8", "f4"])
    a[name] = npy(values, kind)
    return BAD_FILE, "%s: it has the type %s, but must hold integers" % (name, kind)


def spoil_unread_type(r, g, a):
    name, kind = r.choice(["rowptr", "col"]), r.choice(["<c16", "<U4", "|O", "|V8", "<i16", "<f16", "<M8", "=i8", "i8", "|S3"])
    a[name] = header(dictionary(kind, (1,))) + bytes(16)
    return BAD_FILE, "%s: its type is '%s'" % (name, kind)


def spoil_endianness(r, g, a):
    name, kind = r.choice(["rowptr", "col"]), r.choice([">i8", ">i4", ">u2"])
    count = len(g.rowptr if name == "rowptr" else g.col)
    a[name] = header(dictionary(kind, (count,))) + bytes(count * int(kind[2]))
    return BAD_FILE, "%s: its type '%s' is big-endian" % (name, kind)


def spoil_rank(r, g, a):
    name = r.choice(["rowptr", "col"])
    values = g.rowptr if name == "rowptr" else g.col
    if r.randrange(2):
        a[name] = npy(values, shape=(len(values), 1), fortran=bool(r.randrange(2)))
        return BAD_FILE, "%s has 2 axes, must have 1" % name
    a[name] = npy(values[:1], shape=())
    return BAD_FILE, "%s is a scalar, must have an axis" % name


def spoil_shape(r, g, a):
    name = r.choice(["rowptr", "col"])
    data = struct.pack("<%dq" % len(g.col), *g.col)
    status, shape, text = r.choice([
        (BAD_FILE, "(%d,)" % (len(g.col) + r.choice([1, 1000, 2**40])), "its shape wants"), (BAD_FILE, "(0,)", "its shape wants 0 bytes"),
        (TOO_LARGE, "(%d,)" % r.choice([2**61, 2**62, 2**63 - 1]), "axis 0 of"), (TOO_LARGE, "(1048576, 1048576, 1048576, 8)", "makes it too large"),
        (TOO_LARGE, "(0, %d, %d)" % (2**40, 2**40), "axis 2 of"), (TOO_LARGE, "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "it has more than 8 axes"),
        (BAD_FILE, "(-1,)", "where a size is expected"), (BAD_FILE, "(1.5,)", "where , is expected"), (BAD_FILE, "(%d,)" % 2**64, "where a size is expected"),
        (BAD_FILE, "(None,)", "where a size is expected"), (BAD_FILE, "[3]", "where ( is expected"), (BAD_FILE, "(3", "where")])
    a[name] = header(dictionary("<i8", shape)) + data
    return status, "%s: " % name, text


def spoil_header(r, g, a):
    name = r.choice(["rowptr", "col"])
    good = dictionary("<i8", (1,))
    text, wanted = r.choice([
        (good.replace("'descr': '<i8', ", ""), "its header lacks 'descr'"), (good.replace("'shape': (1,), ", ""), "its header lacks 'shape'"),
        (good.replace("'fortran_order': False, ", ""), "its header lacks 'fortran_order'"), (good.replace("}", "'shape': (1,)}"), "its header says 'shape' twice"),
        (good.replace("False", "Maybe"), "where True or False is expected"), (good.replace("False", "0"), "where True or False is expected"),
        (good.replace("{", "["), "where { is expected"), (good + "x", "where its end is expected"), (good.replace("shape", "form"), "where 'descr', 'fortran_order' or 'shape' is expected"),
        (good[:r.randrange(1, len(good) - 1)], "its header"), ("", "where { is expected"), (good.replace("'<i8'", "[('a', '<i8')]"), "where a simple type is expected")])
    a[name] = header(text, r.choice([1, 2, 3])) + bytes(8)
    return BAD_FILE, "%s: " % name, wanted


def spoil_magic(r, g, a):
    name = r.choice(["rowptr", "col"])
    data = bytearray(a[name])
    kind = r.randrange(4)
    if kind == 0:
        data[r.randrange(6)] ^= 1 << r.randrange(8)
        wanted = "it does not begin as a .npy array does"
    elif kind == 1:
        data[6] = r.choice([0, 4, 255])
        wanted = "it has the .npy version %d.0" % data[6]
    elif kind == 2:
        data[7] = 1
        wanted = "it has the .npy version 1.1"
    else:
        data = header(dictionary("<i8", (1,)), 2, r.choice([2**16 + 1, 2**31, 2**32 - 1])) + bytes(8)
        wanted = "its header would be"
    a[name] = bytes(data)
    return BAD_FILE, "%s: " % name, wanted


def spoil_length(r, g, a):
    name = r.choice(["rowptr", "col"])
    a[name] = a[name][:-r.randrange(1, 8)] if r.randrange(2) else a[name] + bytes(r.randrange(1, 40))
    return BAD_FILE, "%s: its shape wants" % name


def spoil_members(r, g, a):
    name = r.choice(["rowptr", "col"])
    if r.randrange(2):
        del a[name]
        return BAD_FILE, "has no array '%s'" % name
    twice = [(n, d) for n, d in a.items() for _ in range(2 if n == name else 1)]
    r.shuffle(twice)
    return BAD_FILE, "has '%s' twice" % name, archive(twice, bool(r.randrange(2)))


def spoil_companion(r, g, a):
    """An array beside rowptr and col: of a wrong length, or with a value that is none."""
    name, length = r.choice([("etype", len(g.col)), ("ntype", g.nodes), ("batch", g.nodes), ("weight", len(g.col)), ("y", g.nodes)])
    values = [0] * length
    kind = r.randrange(2)
    if kind == 0 or name in ("weight", "y"):
        values += [0] * r.randrange(1, 4)
        text = "%s has %d entries, must have %d" % (name, len(values), length)
    elif name == "batch":
        values[0] = -r.choice([1, 2**40])
        text = "batch[0] = %d after 0" % values[0]
    else:
        i = r.randrange(length)
        values[i] = r.choice([-1, -2**63, 2**63 - 1])
        text = "%s[%d] = %d is not a type" % (name, i, values[i])
    a[name] = npy(values, "f4" if name == "weight" else "i8")
    return BAD_FILE, text


def spoil_features(r, g, a):
    rows = g.nodes + r.randrange(1, 3)
    kind = r.randrange(3)
    if kind == 0:
        a["x"] = npy([0.0] * rows * 2, "f4", (rows, 2), bool(r.randrange(2)))
        return BAD_FILE, "x must have %d rows" % g.nodes
    a.update(x_indptr=npy([0] + [1] * g.nodes), x_indices=npy([3]), x_data=npy([1.0], "f4"), x_dim=npy([4], shape=()))
    if kind == 1:
        a["x_indices"] = npy([r.choice([4, -1, 2**40])])
        return BAD_FILE, "x_indices[0] = "
    a["x_dim"] = npy([r.choice([2**31, 2**40, 2**62])], shape=())
    return TOO_LARGE, "x would be" if g.nodes else ""


def spoil_split(r, g, a):
    name, value = r.choice(["train_idx", "val_idx", "test_idx"]), r.choice([-1, g.nodes, 2**40])
    a[name] = npy([0, value])
    return BAD_FILE, "%s[1] = %d is outside V (%d)" % (name, value, g.nodes)


def spoil_sources(r, g, a):
    a["num_src"] = r.choice([npy([-1], shape=()), npy([9, 9]), npy([])])
    return BAD_FILE, "num_src must be one number, not negative"


def cut_archive(r, g, a):
    whole = archive(a.items(), bool(r.randrange(2)))
    return BAD_FILE, ": ", whole[:r.randrange(len(whole))]


def damage_data(r, g, a):
    """A bit of a stored member's numbers: the checksum tells, unless the numbers themselves are refused first."""
    whole = bytearray(archive(a.items()))
    at = bytes(whole).find(a["rowptr"]) + len(a["rowptr"]) - 1 - r.randrange(8 * len(g.rowptr))
    whole[at] ^= 1 << r.randrange(8)
    return BAD_FILE, "rowptr", bytes(whole)


def lie_of_size(r, g, a):
    """The directory's sizes of a member; a field of its entry is at 20 (compressed) or 24 (not)."""
    whole = bytearray(archive(a.items()))
    entry = whole.find(b"PK\x01\x02")
    struct.pack_into("<I", whole, entry + r.choice([20, 24]), r.choice([0, 1, 2**31, 2**32 - 2]))
    return BAD_FILE, ": ", bytes(whole)


def other_method(r, g, a):
    whole = bytearray(archive(a.items()))
    method, entry = r.choice([1, 6, 9, 12, 14, 93, 99]), whole.find(b"PK\x01\x02")
    struct.pack_into("<H", whole, entry + 10, method)
    struct.pack_into("<H", whole, 8, method)
    return BAD_FILE, ": ", bytes(whole)


def no_archive(r, g, a):
    return BAD_FILE, "", r.choice([b"", a["rowptr"], b"rowptr", bytes(100), b"\x1f\x8b" + bytes(30), b"PK\x03\x04", b"PK\x05\x06" + bytes(10)])


SPOIL_NPZ = [spoil_offsets, spoil_index, spoil_narrow_index, spoil_large_index, spoil_type, spoil_unread_type, spoil_endianness, spoil_rank,
             spoil_shape, spoil_header, spoil_magic, spoil_length, spoil_members, spoil_companion, spoil_features, spoil_split, spoil_sources,
             cut_archive, damage_data, lie_of_size, other_method, no_archive]


def bad_npz(r):
    g = Graph(r)
    while not g.col:
        g = Graph(r)
    a = g.arrays()
    spoil = r.choice(SPOIL_NPZ)
    status, text, *more = spoil(r, g, a)
    if more and isinstance(more[0], str):   # the array, and what is said of it
        text += "\n" + more.pop()
    whole = more[0] if more else archive(a.items(), bool(r.randrange(2)))
    return "npz", whole, status, text, spoil.__name__


# ---- Malformed texts -----------------------------------------------------------------------------------------------------------
def wrong_number(r):
    return r.choice(["x", "-1", "1.5", "nan", "+1", "0x1", "1e3", "99999999999999999999", "--1", "\x00", "inf"])


def bad_edges(r):
    count = r.randrange(1, 9)
    rows = ["%d %d" % (r.randrange(9), r.randrange(9)) for _ in range(count)]
    i = r.randrange(count)
    place, kind = ":%d: " % (i + 1), r.randrange(6)
    status, text = BAD_FILE, place + "expected two integers, got "
    if kind == 0:
        rows[i] = r.choice(["%s 1", "1 %s"]) % wrong_number(r)
    elif kind == 1:
        rows[i] = "1"
        text += "the end of the line"
    elif kind == 2:
        rows[i] = "1 2 3 4"
        text = place + "expected at most three columns, got '4'"
    elif kind == 3:
        rows[i] = "1 2 " + r.choice(["nano", "1e999", "x", ".", "1e", "0x1p3"])
        text = place + "expected a number as weight, got "
    elif kind == 4:
        rows.append("1 2 3")
        text = ":%d: expected 2 columns as on line 1, got 3" % (count + 1)
    else:
        ident = r.choice([2**31, 2**40, 2**63 - 1])
        rows[i] = r.choice(["%d 1", "1 %d"]) % ident
        status, text = TOO_LARGE, place + "id %d is too large for a file of" % ident
    return "txt", "\n".join(rows).encode() + b"\n", status, text, "edges %d" % kind


def bad_matrix(r):
    nodes, count = r.randrange(2, 9), r.randrange(1, 9)
    banner, sizes = "%%MatrixMarket matrix coordinate real general", "%d %d %d" % (nodes, nodes, count)
    rows = ["%d %d 1" % (r.randrange(1, nodes + 1), r.randrange(1, nodes + 1)) for _ in range(count)]
    i = r.randrange(count)
    place, status, kind = ":%d: " % (i + 3), BAD_FILE, r.randrange(11)
    if kind == 0:
        row = r.choice([0, nodes + 1, 2**40])
        rows[i], text = "%d 1 1" % row, place + "row %d is outside 1 to %d" % (row, nodes)
    elif kind == 1:
        column = r.choice([0, nodes + 1, 2**63 - 1])
        rows[i], text = "1 %d 1" % column, place + "column %d is outside 1 to %d" % (column, nodes)
    elif kind == 2:
        rows[i], text = "%s 1 1" % wrong_number(r), place + "expected two integers, got "
    elif kind == 3:
        rows[i], text = "1 1 " + r.choice(["in", "infinit", "x", "1e999", ""]), place + "expected a number, got "
    elif kind == 4:
        rows[i], text = "1 1 1 9", place + "expected the end of the line, got '9'"
    elif kind == 5:
        rows.pop()
        text = "the file ends after %d of %d entries" % (count - 1, count)
    elif kind == 6:
        rows.append("1 1 1")
        text = "there are more than the %d entries promised" % count
    elif kind == 7:
        sizes, text = r.choice(["%d" % nodes, "%d x 1" % nodes, "-1 2 3", "1.5 2 3", "1 2 3 4", "nan 1 1"]), ":2: expected three sizes"
    elif kind == 8:
        rows_said = r.choice([2**31, 2**40, 2**62])
        sizes, status, text = "%d %d %d" % (rows_said, nodes, count), TOO_LARGE, ":2: %d rows are too many for a file of" % rows_said
    elif kind == 9:
        entries = r.choice([10**6, 2**40, 2**62])
        sizes, text = "%d %d %d" % (nodes, nodes, entries), ":2: %d entries do not fit a file of" % entries
    else:
        banner, text = r.choice([("%%MatrixMarket matrix array real general", ":1: the format must be 'coordinate', got 'array'"),
                                 ("%%MatrixMarket matrix coordinate complex general", ":1: the field must be real, integer or pattern, got 'complex'"),
                                 ("%%MatrixMarket matrix coordinate real even", ":1: the symmetry must be"),
                                 ("%%MatrixMarket matrix coordinate", ":1: the field must be"),
                                 ("MatrixMarket matrix coordinate real general", "does not begin with '%%MatrixMarket'")])
    return "mtx", "\n".join([banner, sizes] + rows).encode() + b"\n", status, text, "matrix %d" % kind


# ---- All -----------------------------------------------------------------------------------------------------------------------
def record(name, wanted, data, status):
    name, wanted = name.encode(), wanted.encode()
    return struct.pack("<IIQiI", len(name), len(wanted), len(data), status, 0) + name + wanted + data


def write(out, cases, seed):
    for i in range(cases):
        r = random.Random("good %d %d" % (seed, i))
        form, data, wanted = r.choice([good_npz, good_npz, good_edges, good_matrix])(r)
        out.write(record("good%d.%s" % (i, form), wanted, data, 0))
        r = random.Random("bad %d %d" % (seed, i))
        form, data, status, text, kind = r.choice([bad_npz, bad_npz, bad_npz, bad_edges, bad_matrix])(r)
        out.write(record("bad%d %s.%s" % (i, kind, form), text, data, status))
    out.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("read_many")
    p.add_argument("--cases", type=int, default=10000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--save", help="keep the archive there")
    o = p.parse_args()
    with open(o.save, "w+b") if o.save else tempfile.NamedTemporaryFile(suffix=".graphs") as out:
        write(out, o.cases, o.seed)
        sys.exit(subprocess.run([o.read_many, out.name]).returncode)


if __name__ == "__main__":
    main()
