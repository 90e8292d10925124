"""What random_ops.py is made to draw: each random op has a message passing core whose reducer, message, softmax key, fusion, type
and index width go round by the number of the case, each list in an order of its own: among any WINDOW cases with consecutive numbers
each value stands at least once. What else an op holds is chance.
"""
import random

PLAIN = ["sum", "prod", "max", "min", "mean", "variance", "deviation", "logsumexp", "count", "any", "all", "r_last", "r_span"]
PAIRS = {"welford": 1, "top2": 1, "r_affine": 2}   # two results; so many arguments
PLACES = ["argmax", "argmin"]
OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
OPERANDS = {"u": "cx[cs[ce], cf]", "v": "cz[cd[ce], cf]", "e": "cw[ce, cf]"}
KEYS = {"none": None, "over": "over cf", "over_two": "over (ce, cf)", "by_map": "by cd", "by_two_maps": "by (cd, ct)", "by_stage": "by ck"}
POLICIES = {
    "reducer": PLAIN + list(PAIRS) + PLACES,
    "message": ["copy_" + a for a in OPERANDS] + ["%s_%s_%s" % (a, o, b) for a, b in ("uv", "ue", "ve") for o in OPERATORS] + ["u_dot_v"],
    "key": list(KEYS),
    "fusion": ["inline", "staged", "shared", "kept"],   # one equation; a stage; a stage two results read; a stage that is a result
    "dtype": ["f16", "bf16", "f32", "f64", "i32", "i64"],
    "index": [32, 64],
}
WINDOW = 2 * max(len(v) for v in POLICIES.values()) - 1   # holds a whole round of the longest list


def policy(number):
    drawn = {}
    for name, values in POLICIES.items():
        order = random.Random("%s %d" % (name, number // len(values))).sample(values, len(values))
        drawn[name] = order[number % len(values)]
    return drawn


def message(form):
    if form.startswith("copy_"):
        return OPERANDS[form[5:]]
    a, operator, b = form.split("_")
    if operator == "dot":
        return "sum{cj} cx[cs[ce], cj] * cz[cd[ce], cj]"
    return "%s %s %s" % (OPERANDS[a], OPERATORS[operator], OPERANDS[b])


class Core:
    """Text of parameters, results (name, text) and equations (left, right, binders) for a policy, on spaces of these names."""

    def __init__(self, drawn, edges, sources, rows, width, other):
        self.drawn, self.spaces = drawn, {"E": edges, "U": sources, "V": rows, "F": width, "R": other}
        self.parameters, self.results, self.equations = [], [], []
        self.reals = drawn["dtype"][0] != "i" or "_div_" in drawn["message"] or drawn["key"] != "none"
        self.add_parameters()
        self.reduce(self.add_message())

    def space(self, text):
        return "".join(self.spaces.get(c, c) for c in text)

    def storage(self, reals):
        integers = self.drawn["dtype"][0] == "i"
        return ("f32" if integers else self.drawn["dtype"]) if reals else self.drawn["dtype"] if integers else "i64"

    def add_parameters(self):
        e, u, v, f, r = (self.spaces[k] for k in "EUVFR")
        t = self.drawn["dtype"]
        self.parameters = ["cs: %s -> %s" % (e, u), "cd: %s -> %s sorted" % (e, v), "cx: %s[%s, %s]" % (t, u, f), "cz: %s[%s, %s]" % (t, v, f),
                           "cw: %s[%s, %s]" % (t, e, f)]
        if self.drawn["key"] == "by_two_maps":
            self.parameters.append("ct: %s -> %s" % (e, r))
        if self.drawn["key"] == "by_stage":
            self.parameters.append("cp: %s -> %s" % (v, r))
            self.equations.append(("ck[ce]", "cp[cd[ce]]", " for ce in %s" % e))

    def add_message(self):
        e, u, f = self.spaces["E"], self.spaces["U"], self.spaces["F"]
        key, text = KEYS[self.drawn["key"]], message(self.drawn["message"])
        if self.reals:
            text = "1.0 * (%s)" % text.replace(" / ", " * 1.0 / ")
        if key:
            text = "softmax(%s %s)" % (text, key)
        if self.drawn["fusion"] == "inline":
            return text
        kept = self.drawn["fusion"] == "kept"
        self.equations.append(("ca[ce, cf]", text if self.reals else "0 + " + text, "" if kept else " for ce in %s, cf in %s" % (e, f)))
        if kept:
            self.results.append(("ca", "ca: %s[%s, %s]" % (self.storage(self.reals), e, f)))
        if self.drawn["fusion"] == "shared":
            self.equations.append(("cb[cu, cf]", "sum{ce : cs[ce] == cu} ca[ce, cf]", ""))
            self.results.append(("cb", "cb: %s[%s, %s]" % (self.storage(self.reals), u, f)))
        return "ca[ce, cf]"

    def reduce(self, term):
        reducer, head = self.drawn["reducer"], "%s{ce : cd[ce] == cv} " % self.drawn["reducer"]
        e, v, f = self.spaces["E"], self.spaces["V"], self.spaces["F"]
        reals = self.reals or reducer not in PLAIN[:4] + ["count"]
        if reducer in PLACES:
            self.equations.append(("cy[cv]", head + "(1.0 * (sum{cf in %s} (%s)), ce)" % (f, term), ""))
            self.results.append(("cy", "cy: %s -> %s partial" % (v, e)))
            return
        if reducer in PAIRS:
            self.equations.append(("cy[cv, cf], cq[cv, cf]", head + "(%s)" % ", ".join(["1.0 * (%s)" % term] * PAIRS[reducer]), ""))
            self.results += [(n, "%s: %s[%s, %s]" % (n, self.storage(True), v, f)) for n in ("cy", "cq")]
            return
        truth = reducer in ("any", "all")
        body = "0 + (%s) > 0" % term if truth else "1.0 * (%s)" % term if reals and reducer != "count" else term
        self.equations.append(("cy[cv, cf]", head + "(%s)" % body, ""))
        self.results.append(("cy", "cy: %s[%s, %s]" % ("bool" if truth else self.storage(reals and reducer != "count"), v, f)))
