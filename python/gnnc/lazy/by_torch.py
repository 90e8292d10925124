"""Nodes by PyTorch's functions, one after another: what an op is differentiated twice by, and what computes one that is not compiled."""
import torch

from .functions import ELEMENTWISE


def by_torch(scene, roots):
    known = {}
    return [_value(scene, r, known).expand(scene.shape(r.axes)) for r in roots]


def _value(scene, node, known):
    if node.id not in known:
        known[node.id] = _BY_TORCH[node.kind](scene, node, lambda a: _value(scene, a, known))
    return known[node.id]


def _const_by(scene, node, of):
    return torch.full(scene.shape(node.axes), node.data[1], dtype=node.dtype, device=scene.device)


def _map_by(scene, node, of):
    letter, axis = node.data
    return scene.row(letter).reshape([-1 if k == axis else 1 for k in range(len(node.axes))])


def _op_by(scene, node, of):
    name, data = node.data
    operands = [a.data[1] if a.kind == "const" and not a.axes else of(a) for a in node.args]
    return ELEMENTWISE[name].run(*operands, *data).to(node.dtype)


def _slice_by(scene, node, of):
    axis, begin = node.data
    return of(node.args[0]).narrow(axis, begin, node.axes[axis])


def _segment_by(scene, node, of):
    dim, letter, fold = node.data
    source = of(node.args[0]).expand(scene.shape(node.args[0].axes))
    index = scene.row(letter).long().reshape([-1 if k == dim else 1 for k in range(source.dim())]).expand_as(source)
    base = source.new_full(scene.shape(node.axes), 1 if fold == "prod" else 0)
    if fold == "sum":
        return base.scatter_add(dim, index, source)
    return base.scatter_reduce(dim, index, source, {"max": "amax", "min": "amin"}.get(fold, fold), include_self=fold == "prod")


def _fold_by(scene, node, of):
    fold, dims = node.data
    source = of(node.args[0]).expand(scene.shape(node.args[0].axes))
    run = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}[fold]
    return run(source, dim=dims, keepdim=True)


_BY_TORCH = {
    "leaf": lambda scene, node, of: scene.leaves[node.data[0]].reshape(scene.shape(node.axes)),
    "const": _const_by, "map": _map_by, "op": _op_by, "slice": _slice_by, "segment": _segment_by, "fold": _fold_by,
    "gather": lambda scene, node, of: of(node.args[0]).index_select(node.data[0], scene.row(node.data[1])),
    "lookup": lambda scene, node, of: of(node.args[0]).index_select(node.data[0], of(node.args[1])),
    "ones": lambda scene, node, of: of(node.args[0]).expand(scene.shape(node.args[0].axes)).reshape(scene.shape(node.axes)),
    "expand": lambda scene, node, of: of(node.args[0]).expand(scene.shape(node.axes)),
    "permute": lambda scene, node, of: of(node.args[0]).expand(scene.shape(node.args[0].axes)).permute(node.data),
}
