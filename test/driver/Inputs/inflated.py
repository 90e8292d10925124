"""Writes what the compressed bytes of an object hold (runtime/MANIFEST.md), one behind the other. Usage: inflated.py OBJECT"""
import struct
import sys
import zlib

data = open(sys.argv[1], "rb").read()
at = data.find(b"\x89gnncz1\n")
assert at >= 0
while at >= 0:
    stream, plain = struct.unpack_from("<QQ", data, at + 8)
    text = zlib.decompress(data[at + 24 : at + 24 + stream])
    assert len(text) == plain
    sys.stdout.buffer.write(text)
    at = data.find(b"\x89gnncz1\n", at + 24 + stream)
