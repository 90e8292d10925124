"""Tensors of edges that are not computed yet, which become one op when a value is wanted."""
from . import edges, features, views   # noqa: F401   they know functions of PyTorch
from .compute import SlowPath, tell    # noqa: F401
from .tensor import Lazy, Rerun, Scene, forced, value    # noqa: F401
