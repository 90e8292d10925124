"""What the rules of the house share: a table of what breaks them today, and rings of a graph.

A row of the table is `rule name ceiling`. What is found may not be larger than its ceiling, nor be missing there; a row whose thing
keeps the rule by now fails, too, so that it goes.
"""


def read(path):
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.strip() and line[0] != "#"]
    return {(rule, name): int(ceiling) for rule, name, ceiling in rows}


def write(path, rules, found):
    """The rows of other rules stay as they are, and so does the head."""
    with open(path, encoding="utf-8") as f:
        lines = f.readlines()
    head = [line for line in lines if line[0] == "#"]
    kept = [line for line in lines if line[0] != "#" and line.split()[0] not in rules]
    made = ["%s %s %d\n" % (rule, name, size) for (rule, name), size in found.items()]
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(head + sorted(kept + made))


def compare(path, rules, found):
    """The faults of what is found, a dict of sizes above their rules' limits: rules has the limits."""
    ceilings = {key: size for key, size in read(path).items() if key[0] in rules}
    for (rule, name), size in sorted(found.items()):
        limit = ceilings.get((rule, name))
        if limit is None:
            yield "%s: %s %d, at most %d" % (name, rule, size, rules[rule])
        elif size > limit:
            yield "%s: %s %d, and its ceiling is %d" % (name, rule, size, limit)
    for rule, name in sorted(ceilings):
        if (rule, name) not in found:
            yield "%s: keeps the rule of %s now; take it out of the table" % (name, rule)


def rings(graph):
    """Tarjan's strongly connected sets of more than one node, without recursion. graph: a node's set of those it leads to."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, None)]
        while work:
            node, targets = work.pop()
            if targets is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
                targets = iter(sorted(graph.get(node, ())))
            for target in targets:
                if target not in index:
                    work += [(node, targets), (target, None)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                if low[node] == index[node]:
                    cut = stack.index(node)
                    found.append(stack[cut:])
                    on_stack -= set(stack[cut:])
                    del stack[cut:]
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return [sorted(ring) for ring in found if len(ring) > 1]
