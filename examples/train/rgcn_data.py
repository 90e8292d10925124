#!/usr/bin/env python3
"""Makes the graph that rgcn reads from triples and a task on their nodes.

    rgcn_data.py TRIPLES.nt[.gz] TRAIN.tsv TEST.tsv OUT.npz

Nodes are all subjects and objects, literals too, and relations all predicates, each numbered in the order of their names. A triple
gives an edge from subject to object, and one back of the relation's inverse: relation r + R / 2 of R. A line of a task, below one
of titles, begins with a node's IRI and ends with its class.
"""
import csv
import gzip
import re
import sys

import numpy as np

NODE, LITERAL = r"<[^<>]*>|_:[^\s<]+", r'"(?:[^"\\]|\\.)*"(?:\^\^<[^<>]*>|@[\w-]+)?'
TRIPLE = re.compile(r"\s*(%s)\s*(<[^<>]*>)\s*(%s|%s)\s*\.\s*(?:#.*)?$" % (NODE, NODE, LITERAL))


def triples(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                found = TRIPLE.match(line)
                if not found:
                    sys.exit("%s:%d: not a triple" % (path, number))
                yield found.groups()


def numbered(names):
    return {name: i for i, name in enumerate(sorted(set(names)))}


def task(path):
    with open(path, encoding="utf-8", newline="") as f:
        return [("<%s>" % row[0], row[-1]) for row in list(csv.reader(f, delimiter="\t"))[1:] if row]


def main(source, train, test, out):
    facts = sorted(set(triples(source)))
    nodes = numbered([s for s, _, _ in facts] + [o for _, _, o in facts])
    relations = numbered(p for _, p, _ in facts)
    s, p, o = (np.array([table[fact[i]] for fact in facts], np.int32)
               for i, table in enumerate((nodes, relations, nodes)))
    src, dst, kind = np.concatenate([s, o]), np.concatenate([o, s]), np.concatenate([p, p + len(relations)])
    order = np.lexsort((kind, src, dst))
    sets = [task(train), task(test)]
    classes = numbered(c for rows in sets for _, c in rows)
    y, split = np.full(len(nodes), -1, np.int32), []
    for rows in sets:
        split.append(sorted(nodes[node] for node, _ in rows if node in nodes))
        for node, c in rows:
            if node in nodes:
                y[nodes[node]] = classes[c]
    rowptr = np.concatenate([[0], np.cumsum(np.bincount(dst, minlength=len(nodes)))])
    np.savez_compressed(out, rowptr=rowptr.astype(np.int32), col=src[order], etype=kind[order].astype(np.int32), y=y,
                        train_idx=np.array(split[0], np.int32), test_idx=np.array(split[1], np.int32))
    print("%d nodes, %d edges, %d relations with inverses, %d classes, %d and %d nodes to train and test"
          % (len(nodes), len(dst), 2 * len(relations), len(classes), len(split[0]), len(split[1])))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
