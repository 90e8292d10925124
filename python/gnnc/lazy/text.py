"""The text of an op that computes nodes."""
import torch

from .functions import ELEMENTWISE, TYPES, number


class Writer:
    """Equations of nodes. square: sources and destinations are one set of nodes."""

    def __init__(self, roots, square):
        self.roots, self.square = roots, square
        self.equations, self.names, self.leaves, self.sizes, self.maps = [], {}, {}, {}, set()
        self.lookups = {}   # of a slot of an index, and the size of what it leads into: name, node
        self.uses, self.fresh = {}, 0
        for r in roots:
            self._count(r)

    def _count(self, node):
        self.uses[node.id] = self.uses.get(node.id, 0) + 1
        if self.uses[node.id] == 1:
            for a in node.args:
                self._count(a)

    # ---- Spaces and indices ---------------------------------------------------------------------
    def space(self, axis):
        if axis.__class__ is str:
            return "N" if self.square and axis != "E" else axis
        self.sizes["D%d" % axis] = axis
        return "D%d" % axis

    def index(self, axis):
        self.fresh += 1
        return "%s%d" % (axis.lower() if axis.__class__ is str else "i", self.fresh)

    def indices(self, axes):
        return [None if a == 1 else self.index(a) for a in axes]

    # ---- Expressions ----------------------------------------------------------------------------
    def at(self, node, idx):
        """The expression of an element. idx: an index for each axis, or None: it has one point."""
        own = [None if a == 1 else i for a, i in zip(node.axes, idx)]
        if node.kind in ("segment", "fold") or (node.kind == "op" and self.uses[node.id] > 1 and not self._is_cheap(node)):
            return self._ref(self._stored(node), own)
        return getattr(self, "_" + node.kind)(node, own)

    def _is_cheap(self, node):
        return all(a.kind in ("leaf", "const") for a in node.args) and node.data[0] in ("add", "sub", "mul", "neg", "stop", "cast")

    @staticmethod
    def _ref(name, idx):
        return "%s[%s]" % (name, ", ".join(i for i in idx if i is not None))

    def _leaf(self, node, idx):
        axes = tuple(self.space(a) for a in node.axes if a != 1)
        key = node.data[0], axes
        if key not in self.leaves:
            self.leaves[key] = "a%d" % len(self.leaves), node
        return self._ref(self.leaves[key][0], idx)

    def _const(self, node, idx):
        if node.dtype == torch.bool:
            return "true" if node.data[1] else "false"
        value = node.data[1]
        return number(float(value) if node.dtype.is_floating_point else int(value))

    def _map(self, node, idx):
        letter, axis = node.data
        return "i64(%s)" % self._lead(letter, idx[axis])

    def _lead(self, letter, edge):
        self.maps.add(letter)
        return "%s[%s]" % ("src" if letter == "U" else "dst", edge)

    def _gather(self, node, idx):
        dim, letter = node.data
        inner = list(idx)
        inner[dim] = self._lead(letter, idx[dim] if idx[dim] is not None else "0")
        return self.at(node.args[0], inner)

    def _lookup(self, node, idx):
        dim, = node.data
        table, index = node.args
        key = index.data[0], table.axes[dim]
        if key not in self.lookups:
            self.lookups[key] = "m%d" % len(self.lookups), index
        inner = list(idx)
        inner[dim] = "%s[%s]" % (self.lookups[key][0], idx[dim])
        return self.at(table, inner)

    def _op(self, node, idx):
        name, data = node.data
        row = ELEMENTWISE[name]
        operands = []
        for k, a in enumerate(node.args):
            text = self.at(a, idx[len(idx) - len(a.axes):])
            operands.append(self._as(row.takes, k, text, a.dtype == torch.bool))
        if name == "cast":
            return self._cast(operands[0], node.args[0].dtype, data[0])
        return row.written(operands, data)

    @staticmethod
    def _as(takes, k, text, is_condition):
        condition = takes == "condition" or (takes == "choice" and k == 0) or (takes == "mask" and k == 1)
        if condition and not is_condition:
            return "(%s != 0)" % text
        if takes == "number" and is_condition or takes in ("choice", "mask") and not condition and is_condition:
            return "(%s ? 1 : 0)" % text
        return text

    @staticmethod
    def _cast(text, origin, dtype):
        if dtype == torch.bool:
            return text if origin == torch.bool else "(%s != 0)" % text
        if origin == torch.bool:
            text = "(%s ? 1 : 0)" % text
        return "%s(%s)" % (TYPES[dtype], text)

    def _ones(self, node, idx):
        long = [i for i, a in zip(idx, node.axes) if a != 1]
        inner = node.args[0]
        return self.at(inner, [None if a == 1 else long.pop(0) for a in inner.axes])

    def _slice(self, node, idx):
        axis, begin = node.data
        inner = list(idx)
        own = inner[axis]
        inner[axis] = str(begin) if own is None else own if not begin else "%s + %d" % (own, begin)
        return self.at(node.args[0], inner)

    def _expand(self, node, idx):
        return self.at(node.args[0], idx[len(idx) - len(node.args[0].axes):])

    def _permute(self, node, idx):
        inner = [None] * len(idx)
        for k, d in enumerate(node.data):
            inner[d] = idx[k]
        return self.at(node.args[0], inner)

    # ---- Equations ------------------------------------------------------------------------------
    def _stored(self, node):
        if node.id not in self.names:
            idx = self.indices(node.axes)
            text = getattr(self, "_value_" + node.kind, self._op)(node, idx)
            name = self.names[node.id] = "t%d" % len(self.names)
            self.equations.append(self._equation(name, node.axes, idx, text))
        return self.names[node.id]

    def _equation(self, name, axes, idx, text):
        said = ", ".join("%s in %s" % (i, self.space(a)) for i, a in zip(idx, axes) if i is not None)
        return "    %s = %s%s;" % (self._ref(name, idx), text, " for " + said if said else "")

    def _value_segment(self, node, idx):
        dim, letter, fold = node.data
        e = self.index("E")
        body = self.at(node.args[0], idx[:dim] + [e] + idx[dim + 1:])
        if node.args[0].dtype == torch.bool:
            body = "(%s ? 1 : 0)" % body
        more = " else 0 ties split" if fold in ("max", "min") else ""
        return "%s{%s in E : %s == %s%s} (%s)" % (fold, e, self._lead(letter, e), idx[dim] if idx[dim] is not None else "0", more, body)

    def _value_fold(self, node, idx):
        fold, dims = node.data
        inner, binders, count = list(idx), [], 1
        for d in dims:
            n = node.args[0].axes[d]
            count *= n
            if n != 1:
                inner[d] = self.index(n)
                binders.append("%s in %s" % (inner[d], self.space(n)))
        body = self.at(node.args[0], inner)
        if not binders:
            return body
        more = " ties split" if fold in ("max", "min") else ""
        text = "%s{%s%s} (%s)" % ("sum" if fold == "mean" else fold, ", ".join(binders), more, body)
        return "(%s) / %d" % (text, count) if fold == "mean" else text

    # ---- The op ---------------------------------------------------------------------------------
    def op(self, wanted):
        """The text. wanted: slots of leaves whose gradients are."""
        results = []
        for k, r in enumerate(self.roots):
            idx = self.indices(r.axes)
            text = self.at(r, idx)
            results.append("y%d: %s[%s]" % (k, TYPES[r.dtype], ", ".join(self.space(a) for a in r.axes if a != 1)))
            self.equations.append(self._equation("y%d" % k, r.axes, idx, text))
        self.sizes.pop("D1", None)
        params = [m for letter, m in (("U", "src: E -> %s" % self.space("U")), ("V", "dst: E -> %s sorted" % self.space("V")))
                  if letter in self.maps]
        params += ["%s: E -> %s" % (name, self.space(key[1])) for key, (name, _) in self.lookups.items()]
        params += ["%s: %s[%s]" % (name, TYPES[node.dtype], ", ".join(key[1])) for key, (name, node) in self.leaves.items()]
        text = ["op lazy(%s) -> (%s) {" % (", ".join(params), ", ".join(results)), *self.equations, "}"]
        names = [name for (slot, _), (name, node) in self.leaves.items() if slot in wanted and node.dtype.is_floating_point]
        if names:
            text.append("grad lazy wrt (%s);" % ", ".join(names))
        return "\n".join(text) + "\n"
