"""gnnc: ops of graph neural networks from a short text, on NumPy and PyTorch arrays.

    import gnnc

    layers = gnnc.compile('''
    op mean<T>(src: E -> U, dst: E -> V, x: T[U, F]) -> (y: T[V, F]) {
        y[v, f] = mean{e : dst[e] == v} x[src[e], f];
    }
    grad mean wrt (x);
    ''')
    y = layers.mean(src, dst, x, V=nodes)
"""
from ._compiler import CompileError, CompileWarning
from ._native import Error
from .graph import Graph
from .module import Module, Op, Param, Plan, compile

__version__ = "0.1.0"
__all__ = ["CompileError", "CompileWarning", "Error", "Graph", "Module", "Op", "Param", "Plan", "compile"]
