"""Writes a list of edges: rows of all pairs of degrees 0 to 6 next to each other, empty ones at both ends."""
degrees = [0] + [d for a in range(7) for b in range(7) for d in (a, b)]
for v, d in enumerate(degrees):
    for e in range(d):
        print(e % 3 + len(degrees), v)
