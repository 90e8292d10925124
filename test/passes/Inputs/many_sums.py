"""Prints an op of six sums with five indices of their own each, and a schedule that has them in one walk: its loops have more digits than lowering has places for."""
sums, axes = range(6), "abcde"


def index(k):
    return ", ".join(a + str(k) for a in axes)


def space(k):
    return ", ".join("%s%d" % (a.upper(), k) for a in axes)


print("op many(src: E -> U, dst: E -> V sorted, %s) -> (%s) {" % (
    ", ".join("x%d: f32[U, %s]" % (k, space(k)) for k in sums), ", ".join("y%d: f32[V, %s]" % (k, space(k)) for k in sums)))
for k in sums:
    print("    y%d[v, %s] = sum{e : dst[e] == v} x%d[src[e], %s];" % (k, index(k), k, index(k)))
print("}\nschedule many one { fuse %s at e;  block v 4;  groups v 4;" % ", ".join("y%d" % k for k in sums))
for k in sums:
    print("    vector a%d 2; %s" % (k, " ".join("registers %s%d 2; lanes %s%d 2;" % (a, k, a, k) for a in axes)))
print("}")
