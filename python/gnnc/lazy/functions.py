"""Elementwise functions of PyTorch, and how the language spells them."""
import torch

TYPES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
         torch.bool: "bool"}


class Unknown(Exception):
    """That something cannot be noted; values are wanted."""


class Row:
    """text: the expression of operands {0}, {1}, …, and of what is said besides, {p0}, …; takes: what operands have to be, "number",
    "condition" or "any"; run: the function of PyTorch on operands and what is said; read: arguments of a call to both."""

    def __init__(self, text, run, read=None, takes="number"):
        self.text, self.run, self.takes = text, run, takes
        self.read = read or _operands

    def written(self, operands, data):
        words = {"p%d" % k: _number(v) for k, v in enumerate(data)}
        text = self.text(data) if callable(self.text) else self.text
        return text.format(*operands, **words)


def _number(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if v != v:
        return "(inf - inf)"
    text = {float("inf"): "inf", float("-inf"): "(-inf)"}.get(v) or repr(v)
    return "(%s)" % text if text.startswith("-") else text


number = _number


def _operands(*args, **kwargs):
    if kwargs:
        raise Unknown("arguments by name")
    return args, ()


def _scaled(a, b, alpha=1):
    if alpha != 1:
        raise Unknown("alpha")
    return (a, b), ()


def _divided(a, b, rounding_mode=None):
    if rounding_mode is not None:
        raise Unknown("rounding")
    return (a, b), ()


def _with(**defaults):
    """One operand, and numbers by place or name."""
    names = list(defaults)

    def read(x, *args, **kwargs):
        said = {**defaults, **dict(zip(names, args)), **kwargs}
        if set(said) != set(names) or any(not isinstance(v, (int, float, type(None))) for v in said.values()):
            raise Unknown("arguments")
        return (x,), tuple(said.values())
    return read


def _powered(x, exponent):
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool) and isinstance(x, torch.Tensor):
        return (x,), (exponent,)
    return (x, exponent), ()


def _power(data):
    if not data:
        return "pow({0}, {1})"
    return {2: "sq({0})", 1: "{0}", 0.5: "sqrt({0})", -0.5: "rsqrt({0})", -1: "(1 / {0})", 0: "1"}.get(data[0], "pow({0}, {p0})")


def _clamped(x, min=None, max=None):
    if any(not isinstance(v, (int, float, type(None))) for v in (min, max)):
        raise Unknown("a clamp by tensors")
    return (x,), (min, max)


def _clamp(data):
    text = "{0}" if data[0] is None else "max({0}, {p0})"
    return text if data[1] is None else "min(%s, {p1})" % text


def _chosen(condition, a, b):
    return (condition, a, b), ()


def _masked(x, mask, value):
    return (x, mask, value), ()


def _gelu(x, approximate="none"):
    return (x,), (approximate == "tanh",)


def _soft(x, beta=1, threshold=20):
    if beta != 1 or threshold != 20:
        raise Unknown("beta")
    return (x,), ()


def _elu(x, alpha=1.0):
    return (x,), (alpha,)


F = torch.nn.functional


def _plain(names, takes="number"):
    return {n: Row(n + "({0})", getattr(torch, n), takes=takes) for n in names.split()}


def _compared(**signs):
    return {n: Row("({0} %s {1})" % s, getattr(torch, n), takes="any") for n, s in signs.items()}


ELEMENTWISE = {
    **_plain("exp log sqrt rsqrt tanh sigmoid relu erf sin cos tan asin acos atan abs floor ceil expm1 log1p"),
    **_compared(eq="==", ne="!=", lt="<", le="<=", gt=">", ge=">="),
    "add": Row("({0} + {1})", torch.add, _scaled),
    "sub": Row("({0} - {1})", torch.sub, _scaled),
    "rsub": Row("({1} - {0})", torch.rsub, _scaled),
    "mul": Row("({0} * {1})", torch.mul),
    "div": Row("({0} / {1})", torch.div, _divided),
    "rdiv": Row("({1} / {0})", lambda a, b: b / a),
    "neg": Row("(-{0})", torch.neg),
    "square": Row("sq({0})", torch.square),
    "reciprocal": Row("(1 / {0})", torch.reciprocal),
    "pow": Row(_power, torch.pow, _powered),
    "rpow": Row("pow({1}, {0})", lambda a, b: b ** a),
    "maximum": Row("maximum({0}, {1})", torch.maximum),
    "minimum": Row("minimum({0}, {1})", torch.minimum),
    "atan2": Row("atan2({0}, {1})", torch.atan2),
    "clamp": Row(_clamp, torch.clamp, _clamped),
    "clamp_min": Row("max({0}, {p0})", torch.clamp_min, _with(min=0)),
    "clamp_max": Row("min({0}, {p0})", torch.clamp_max, _with(max=0)),
    "leaky_relu": Row("leaky_relu({0}, {p0})", F.leaky_relu, _with(negative_slope=0.01)),
    "elu": Row(lambda d: "elu({0})" if d[0] == 1 else "({0} > 0 ? {0} : {p0} * expm1({0}))", F.elu, _elu),
    "silu": Row("silu({0})", F.silu),
    "softplus": Row("softplus({0})", F.softplus, _soft),
    "gelu": Row(lambda d: "gelu_tanh({0})" if d[0] else "gelu({0})",
                lambda x, tanh: F.gelu(x, approximate="tanh" if tanh else "none"), _gelu),
    "where": Row("({0} ? {1} : {2})", torch.where, _chosen, takes="choice"),
    "masked_fill": Row("({1} ? {2} : {0})", torch.masked_fill, _masked, takes="mask"),
    "logical_and": Row("({0} && {1})", torch.logical_and, takes="condition"),
    "logical_or": Row("({0} || {1})", torch.logical_or, takes="condition"),
    "logical_not": Row("(!{0})", torch.logical_not, takes="condition"),
    "stop": Row("stop({0})", lambda x: x.detach(), takes="any"),
    "cast": Row(None, lambda x, dtype: x.to(dtype), takes="any"),
}

# what PyTorch calls functions besides, by methods and operators
NAMES = {"__%s__" % n: n for n in "add sub mul neg pow eq ne lt le gt ge abs getitem iter rsub".split()}
NAMES.update({"__radd__": "add", "__rmul__": "mul", "__truediv__": "div", "__div__": "div", "__rtruediv__": "rdiv", "__rdiv__": "rdiv",
              "__rpow__": "rpow", "__iadd__": "add_", "__imul__": "mul_", "__isub__": "sub_", "__itruediv__": "div_", "__idiv__": "div_",
              "__rsub__": "rsub", "multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div", "absolute": "abs",
              "negative": "neg", "greater": "gt", "less": "lt", "greater_equal": "ge", "less_equal": "le", "not_equal": "ne",
              "__matmul__": "matmul", "__rmatmul__": "rmatmul", "mm": "matmul", "swapaxes": "transpose", "swapdims": "transpose", "unsafe_chunk": "chunk", "clip": "clamp", "arctan2": "atan2",
              "arctan": "atan", "arcsin": "asin", "arccos": "acos"})

def dtype_of(run, nodes, data, device):
    """The type of the result, as PyTorch has it. device: "meta", or where autocast may choose another."""
    operands = []
    for n in nodes:
        if n.kind == "const" and not n.axes:
            operands.append(n.data[1])
        else:
            operands.append(torch.empty([1] * len(n.axes), dtype=n.dtype, device=device))
    try:
        return run(*operands, *data).dtype
    except (RuntimeError, TypeError) as e:
        raise Unknown(str(e)) from None
