#!/usr/bin/env python3
"""Spoils a pack. Usage: spoil_pack.py HOW PACK OUT

flip: a bit of the file; cut: its end; wrong: what the first results of the first record with any elements may be;
crash: the code of the second record; form: the number of the form."""
import json
import sys
import zlib


def members(data):
    while data:
        z = zlib.decompressobj(31)
        text, _, rest = z.decompress(data).partition(b"\0")
        yield json.loads(text), bytearray(rest)
        data = z.unused_data


def member(about, data):
    z = zlib.compressobj(9, zlib.DEFLATED, 31)
    return z.compress(json.dumps(about).encode() + b"\0" + bytes(data)) + z.flush()


def spoil_record(how, about, data):
    if how == "form":
        about["pack"] += 1
    if how == "crash":
        at, size = about["code"]
        text = bytes(data[at:at + size]).replace(about["op"].encode(), about["op"].encode()[:-1] + b"_")
        data[at:at + size] = text
    if how == "wrong":
        for graph in about["runs"]:
            for at, size in graph["versions"][0]["results"].values():
                data[at:at + size // 2] = b"\x11" * (size // 2)
                data[at + size // 2:at + size] = bytes(size // 2)


def has_elements(about):
    return any(size for graph in about["runs"] for _, size in graph["versions"][0]["results"].values())


def main():
    how, path, out = sys.argv[1:]
    data = bytearray(open(path, "rb").read())
    if how == "flip":
        data[len(data) // 2] ^= 16
    elif how == "cut":
        data = data[:-20]
    else:
        records = list(members(bytes(data)))
        spoil_record(how, *(next(r for r in records if has_elements(r[0])) if how == "wrong" else records[1]))
        data = b"".join(member(*r) for r in records)
    open(out, "wb").write(data)


if __name__ == "__main__":
    main()
