"""Schedules of a file with other numbers of threads a block: what `groups`, `lanes` and `tiles` say, multiplied and divided."""
import os
import re
import subprocess

HEAD = re.compile(r"^schedule\s+(\w+)\s+(\w+)([^{]*)\{", re.M)


def read(path):
    """{(op, schedule): text} of those that GPUs take, in the order of the file."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"//.*", "", f.read())
    found = {}
    for m in HEAD.finditer(text):
        end, depth = m.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if not re.search(r"\bfor\s+host\b", m.group(3)):
            found[m.group(1), m.group(2)] = text[m.start():end]
    return found


def classes_of(text):
    return [name for names in re.findall(r"\buse\s+([\w\s,]+);", text) for name in re.findall(r"\w+", names)]


def times(n, by):
    return str(n * by) if by >= 1 else str(int(n * by)) if n * by >= 1 and n * by == int(n * by) else str(n)


def groups(text, by):
    """Blocks own as many times the points that their groups are dealt, too."""
    names = set(re.findall(r"\bgroups\s+(\w+)\s+\d", text))
    text = re.sub(r"\btiles\s+(\d+)", lambda m: "tiles " + times(int(m[1]), by), text)
    return re.sub(r"\b(groups|block)\s+(\w+)\s+(\d+)",
                  lambda m: "%s %s %s" % (m[1], m[2], times(int(m[3]), by)) if m[2] in names else m[0], text)


def lanes(text, by):
    return re.sub(r"\blanes\s+(\w+)\s+(\d+)", lambda m: "lanes %s %s" % (m[1], times(int(m[2]), by)), text)


def more_groups(text, by):
    """Of the index that blocks are made of, where nothing says groups."""
    if re.search(r"\bgroups\b", text):
        return text
    return re.sub(r"\bblock\s+(\w+)\s+(\d+)", lambda m: "block %s %d; groups %s %d" % (m[1], int(m[2]) * by, m[1], by), text)


def groups_of_parts(text, by):
    return re.sub(r"\bsplit\s+(\w+)\s+(\d+)(?![^}]*\bgroups\s+\1\b)", lambda m: "%s; groups %s %d" % (m[0], m[1], by), text)


WAYS = [(groups, 2), (groups, 0.5), (lanes, 0.5), (groups, 4), (more_groups, 2), (more_groups, 4), (lanes, 0.25), (lanes, 2), (groups, 8),
        (groups, 16), (groups_of_parts, 4), (groups_of_parts, 8), (groups_of_parts, 16), (more_groups, 8), (more_groups, 16)]


def threads(gnnc, library, texts, op, schedule, folder):
    """Of the kernels that the schedule's versions launch; None: it is refused."""
    path = os.path.join(folder, "%s.%s.gnn" % (op, schedule))
    with open(path, "w", encoding="utf-8") as f:
        f.write('import "%s";\n%s\n' % (library, "\n".join(texts)))
    done = subprocess.run([gnnc, path, "--op=" + op, "-D", "S=3", "-D", "K=12", "-D", "Q=12", "-Wno-unused-option", "--emit=plan", "-o", "-"], capture_output=True, text=True)
    if done.returncode:
        return None
    versions = re.split(r"^version ", done.stdout, flags=re.M)[1:]
    return tuple(int(n) for v in versions if re.match(r"%s( scalar)?\n" % schedule, v) for n in re.findall(r"threads (\d+)$", v, re.M))


def three_sizes(gnnc, library, schedules, of, name, op, folder):
    """[(threads, texts)]: as written, and two more."""
    text = schedules[of, name]
    texts = [schedules[of, c] for c in classes_of(text) if (of, c) in schedules] + [text]
    found = [(threads(gnnc, library, texts, op, name, folder), texts)]
    for way, by in WAYS:
        other = [way(t, by) for t in texts]
        now = threads(gnnc, library, other, op, name, folder) if len(found) < 3 and other != texts else None
        if now and now not in [t for t, _ in found]:
            found.append((now, other))
    return found


def applying(gnnc, path, ops):
    """{(op of the head, schedule): a concrete op that it applies to}."""
    done = subprocess.run([gnnc, path, "-D", "S=3", "-Wno-unused-option", "--emit=schedule", "-o", "-"] + ["--op=" + op for op in ops],
                          capture_output=True, text=True, check=True)
    found, op = {}, None
    for line in done.stdout.splitlines():
        about, head = re.match(r"// (\w+?)(?:_f32)?: ", line), HEAD.match(line)
        op = about.group(1) if about else op
        if head:
            found.setdefault((head.group(1), head.group(2)), op)
    return found
