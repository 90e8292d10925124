"""Every word of frontend/foreign.def, where it would be written, is answered with its hint. Usage: foreign.py GNNC ROOT"""
import re
import subprocess
import sys

EQUATION = "op f<T>(dst: E -> V sorted, w: T[E], x: T[V, F]) -> (y: T[V, F]) { y[v, f] = %s; }"
PLACES = {
    "EXPRESSION": EQUATION % "%s(x[v, f], 1)",
    "REDUCER": EQUATION % "%s{e : dst[e] == v} w[e]",
    "TYPE": "op f(x: %s[V]) -> (y: f32[V]) { y[v] = x[v]; }",
    "FACT": "op f<T>(x: T[V] %s) -> (y: T[V]) { y[v] = x[v]; }",
    "ITEM": "%s f(x: f32[V]) { y[v] = x[v]; }",
    "STATEMENT": EQUATION % "x[v, f]" + " schedule f s { %s v 4; }",
}
# What is no function's name.
OTHERWISE = {
    "and": EQUATION % "x[v, f] > 0 and x[v, f] < 1 ? 1 : 0",
    "or": EQUATION % "(x[v, f] > 0 or x[v, f] < 1) ? 1 : 0",
    "**": EQUATION % "x[v, f] ** 2",
    "][": EQUATION % "x[v][f]",
    ":": EQUATION % "x[v, :]",
    ".": EQUATION % "x.relu()",
    "|": EQUATION % "sum{e | dst[e] == v} w[e]",
    "if": EQUATION % "(1 if x[v, f] > 0 else 0)",
    "for": EQUATION % "max(w[e] for e)",
    "let": EQUATION.replace("{ y", "{ let a = 3; y") % "x[v, f]",
    "return": EQUATION.replace("{ y", "{ return y") % "x[v, f]",
    "lambda": EQUATION % "lambda a",
    "nan": EQUATION % "nan",
}


def main():
    gnnc, root = sys.argv[1:]
    rows = re.findall(r'^FOREIGN\((\w+), "([^"]+)", "((?:[^"\\]|\\.)*)"\)$', open(root + "/frontend/foreign.def").read(), re.M)
    faults = []
    for where, word, hint in rows:
        text = OTHERWISE.get(word) if where == "EXPRESSION" else None
        done = subprocess.run([gnnc, "check", "-"], input=text or PLACES[where] % word, capture_output=True, text=True)
        if done.returncode != 1 or "help: " + hint.replace('\\"', '"') not in done.stderr:
            faults.append("%s %s: '%s' is not told\n%s" % (where, word, hint, done.stderr))
    print("\n".join(faults))
    return 1 if faults or len(rows) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
