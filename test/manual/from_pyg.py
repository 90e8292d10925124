"""The layers of lang/from-pyg.md against what their Python computes, message by message. Usage: from_pyg.py GNNC FILE.md DIR"""
import os
import re
import subprocess
import sys

import numpy as np

N, K, Q, H, D = 40, 5, 3, 2, 4


def scatter(ufunc, start, messages, index):   # as aggr does
    out = np.full((N,) + messages.shape[1:], start)
    ufunc.at(out, index, messages)
    return out


def gcn(src, dst, x, w, b):
    loop = np.arange(N)
    src, dst = np.concatenate([src, loop]), np.concatenate([dst, loop])
    norm = np.bincount(dst, minlength=N) ** -0.5
    return scatter(np.add, 0.0, (norm[dst] * norm[src])[:, None] * (x @ w)[src], dst) + b


def gat(src, dst, x, w, att_dst, att_src):
    h = np.einsum("nk,khd->nhd", x, w)
    s = (h * att_dst).sum(-1)[dst] + (h * att_src).sum(-1)[src]
    s = np.where(s > 0, s, 0.2 * s)
    e = np.exp(s - scatter(np.maximum, -np.inf, s, dst)[dst])
    return scatter(np.add, 0.0, (e / scatter(np.add, 0.0, e, dst)[dst])[:, :, None] * h[src], dst)


def edge_conv(src, dst, x, w_self, w_diff, b):
    messages = np.concatenate([x[dst], x[src] - x[dst]], axis=1) @ np.concatenate([w_self, w_diff]) + b
    return scatter(np.maximum, 0.0, np.maximum(messages, 0), dst)


def main():
    gnnc, document, folder = sys.argv[1:]
    text = "".join(re.findall(r"^```gnn\n(.*?)^```", open(document).read(), re.M | re.S))
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "layers.gnn")
    open(source, "w").write(text)
    rng = np.random.default_rng(0)
    edge_index = rng.integers(0, N - 3, (2, 200))   # the last nodes have no edges
    order = edge_index[1].argsort(kind="stable")
    src, dst = edge_index[:, order]
    np.savez(folder + "/graph.npz", rowptr=np.concatenate([[0], np.bincount(dst, minlength=N).cumsum()]), col=src)
    shapes = {"x": (N, K), "w": (K, Q), "b": (Q,), "w_self": (K, Q), "w_diff": (K, Q), "att_dst": (H, D), "att_src": (H, D)}
    for layer in gcn, gat, edge_conv:
        values = {}
        for name in layer.__code__.co_varnames[2:layer.__code__.co_argcount]:
            values[name] = rng.standard_normal((K, H, D) if (layer, name) == (gat, "w") else shapes[name])
            np.save("%s/%s.npy" % (folder, name), values[name])
        params = [w for name in values for w in ("--param", "%s=%s/%s.npy" % (name, folder, name))]
        subprocess.run([gnnc, "run", source, "--op=" + layer.__name__, "-D", "T=f64", "--graph=" + folder + "/graph.npz",
                        "--target=host", "--out", folder] + params, check=True, stdout=subprocess.DEVNULL)
        y = np.load("%s/%s_f64.y.npy" % (folder, layer.__name__))
        np.testing.assert_allclose(y, layer(src, dst, **values), rtol=1e-10, atol=1e-12)
    return 0


if __name__ == "__main__":
    sys.exit(main())
