"""Ops on NumPy arrays. Exit status 1: a test failed."""
import unittest

import numpy as np

import gnnc

MEAN = """
op mean<T>(src: E -> U, dst: E -> V, x: T[U, F]) -> (y: T[V, F]) {
    y[v, f] = mean{e : dst[e] == v} x[src[e], f];
}
grad mean wrt (x);
"""
rng = np.random.default_rng(7)
SRC, DST = rng.integers(0, 50, 300), rng.integers(0, 40, 300)
X = rng.standard_normal((50, 8)).astype(np.float32)


def mean_of(src, dst, x, nodes):
    y = np.zeros((nodes, x.shape[1]))
    np.add.at(y, dst, x[src].astype(np.float64))
    return y / np.maximum(np.bincount(dst, minlength=nodes), 1)[:, None]


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = gnnc.compile(MEAN, target="host")
        cls.mean = cls.module.mean

    def near(self, y, bound=1e-6):
        self.assertLess(np.abs(y - mean_of(SRC, DST, X, 40)).max(), bound)

    def test_values(self):
        self.near(self.mean(SRC, DST, X, V=40))
        self.near(self.mean(src=SRC.astype(np.int32), dst=DST.astype(np.int32), x=X, V=40))

    def test_layouts(self):
        wide = np.zeros((50, 16), np.float32)
        wide[:, :8] = X
        self.near(self.mean(SRC, DST, wide[:, :8], V=40))
        with self.assertRaisesRegex(gnnc.Error, "stride"):
            self.mean(SRC, DST, np.asfortranarray(X), V=40)

    def test_misaligned(self):
        bytes_ = np.zeros(X.nbytes + 4, np.uint8)
        x = bytes_[4:].view(np.float32).reshape(X.shape)
        x[:] = X
        self.near(self.mean(SRC, DST, x, V=40))

    def test_results_given(self):
        y = np.full((40, 8), np.nan, np.float32)
        self.assertIs(self.mean.plan(SRC, DST, X, V=40)(X, y=y), y)
        self.near(y)

    def test_changed_maps(self):
        src = SRC.copy()
        self.mean(src, DST, X, V=40)
        src[:] = 0   # a plan that was kept would not see it
        y = self.mean(src, DST, X, V=40)
        self.assertLess(np.abs(y - mean_of(src, DST, X, 40)).max(), 1e-6)

    def test_plan(self):
        plan = self.mean.plan(SRC, DST, X, V=40)
        for scale in (1, 2, 3):
            y = plan(X * np.float32(scale))
            self.assertLess(np.abs(y - scale * mean_of(SRC, DST, X, 40)).max(), 1e-5)
        self.assertIn("default", plan.version(x=X))

    def test_read_only(self):
        base = SRC.copy()
        src, dst = base[:], DST[:]
        src.flags.writeable = False
        self.mean(src, dst, X, V=40)
        base[:] = 0   # what cannot be written here can be elsewhere
        self.assertLess(np.abs(self.mean(src, dst, X, V=40) - mean_of(base, DST, X, 40)).max(), 1e-6)
        y = np.zeros((40, 8), np.float32)
        y.flags.writeable = False
        with self.assertRaisesRegex(TypeError, "y is read-only"):
            self.mean.plan(SRC, DST, X, V=40)(X, y=y)

    def test_maps_of_two_axes(self):
        op = gnnc.compile("""op o(at: [G, K] -> N, x: f32[N, F]) -> (y: f32[G, F]) { y[g, f] = sum{k} x[at[g, k], f]; }""",
                          target="host").o
        at = rng.integers(0, 50, (7, 3))
        self.assertLess(np.abs(op(at, X) - X[at].sum(1)).max(), 1e-5)
        with self.assertRaisesRegex(TypeError, "the map at has 2 axes"):
            op(at.ravel(), X, G=7, K=3)
        with self.assertRaisesRegex(ValueError, "the size K is 4, and 3 by a map"):
            op(at, X, K=4)

    def test_empty(self):
        none = np.zeros(0, np.int64)
        y = self.mean(none, none, X, V=40, E=0)
        self.assertEqual((y.shape, np.abs(y).max()), ((40, 8), 0))
        self.assertEqual(self.mean(none, none, X[:, :0], V=0, E=0).shape, (0, 0))

    def test_none(self):
        x = X.copy()
        x[SRC[0], 3] = np.nan
        y = self.mean(SRC, DST, x, V=40)
        self.assertTrue(np.isnan(y[DST[0], 3]))
        self.assertFalse(np.isnan(y[:, :3]).any())

    def test_types(self):
        for name, bound in (("f64", 1e-14), ("f16", 2e-3), (np.float64, 1e-14)):
            module = gnnc.compile(MEAN, target="host", T=name)
            x = X.astype(np.float16 if name == "f16" else np.float64)
            y = module.mean(SRC, DST, x, V=40)
            self.assertEqual(y.dtype, x.dtype)
            self.assertLess(np.abs(y - mean_of(SRC, DST, x, 40)).max(), bound)

    def test_gradient(self):
        dy = rng.standard_normal((40, 8)).astype(np.float32)
        dx = self.module["mean.grad"](SRC, DST, X, dy, V=40)
        degrees = np.maximum(np.bincount(DST, minlength=40), 1)[:, None]
        wanted = np.zeros((50, 8))
        np.add.at(wanted, SRC, (dy / degrees)[DST])
        self.assertLess(np.abs(dx - wanted).max(), 1e-5)
        self.assertEqual([g.path for g in self.mean.gradients], ["mean.grad"])
        self.assertEqual([p.adjoint_of for p in self.module["mean.grad"].params], [None, None, None, "y", "x"])

    def test_scalars_and_several_results(self):
        module = gnnc.compile("""
        op norm(x: f32[N, F], scale: f32, k: i32) -> (y: f32[N, F], best: [N] -> F partial, big: f32[]) {
            y[n, f] = scale * x[n, f] + k;
            best[n] = argmax{f} (x[n, f], f);
            big[] = max{n, f} x[n, f];
        }""", target="host")
        y, best, big = module.norm(X, 2.0, 3)
        self.assertLess(np.abs(y - (2 * X + 3)).max(), 1e-6)
        self.assertTrue((best == X.argmax(1)).all())
        self.assertEqual(big, X.max())

    def test_told(self):
        self.assertIn("mean(src: E -> U, dst: E -> V, x: f32[U, F]) -> (y: f32[V, F])", self.mean.__doc__)
        self.assertEqual([p.name for p in self.mean.results], ["y"])
        self.assertIn("kernel", self.mean.emit("simt"))
        self.assertIn("right", self.mean.check("er:20:60", F=4))
        self.assertRegex(self.mean.bench("er:20:60", F=4), "mean_f32.* us")


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mean = gnnc.compile(MEAN, target="host").mean

    def told(self, kind, text, *args, **kwargs):
        with self.assertRaisesRegex(kind, text):
            self.mean(*args, **kwargs)

    def test_calls(self):
        self.told(gnnc.Error, "the size of V is not given", SRC, DST, X)
        self.told(gnnc.Error, r"src\[0\] = %d is outside U" % (SRC[0] + 100), SRC + 100, DST, X, V=40)
        self.told(gnnc.Error, "x has type f64, not f32", SRC, DST, X.astype(np.float64), V=40)
        self.told(TypeError, "mean has no Q; it has E, F, U, V, dst, src, x, y", SRC, DST, X, V=40, Q=1)
        self.told(TypeError, "src is given twice", SRC, DST, X, V=40, src=SRC)
        self.told(TypeError, "takes 3 arguments", SRC, DST, X, X, V=40)
        self.told(TypeError, "the map dst is not given", SRC, x=X, V=40)
        self.told(TypeError, "x is a str, and has to be an array", SRC, DST, "x", V=40)
        self.told(TypeError, "x has elements of int8", SRC, DST, X.astype(np.int8), V=40)
        self.told(TypeError, "the map src has to be a packed array of int32 or int64", SRC.astype(np.float32), DST, X, V=40)
        self.told(TypeError, "the map src has to be a packed array", np.repeat(SRC, 2)[::2], DST, X, V=40)
        self.told(TypeError, "dst is None", SRC, None, X, V=40)
        self.told(TypeError, "the size V is 3.9, and has to be a whole number", SRC, DST, X, V=3.9)
        self.told(ValueError, "the size V is -1", SRC, DST, X, V=-1)
        self.told(TypeError, "x has its bytes in another order", SRC, DST, X.astype(">f4"), V=40)
        self.told(TypeError, "the map src has 1 axes", SRC[None], DST, X, V=40)

    def test_after_a_fault(self):
        for _ in range(3):
            self.told(gnnc.Error, "outside U", SRC + 100, DST, X, V=40)
            self.assertEqual(self.mean(SRC, DST, X, V=40).shape, (40, 8))

    def test_texts(self):
        with self.assertRaises(gnnc.CompileError) as e:
            gnnc.compile("op f(x: f32[N]) -> (y: f32[N]) { y[n] = x[m]; }")
        self.assertIn("text:1:43: error[E0201]: 'm' is not declared", str(e.exception))
        self.assertEqual((e.exception.diagnostics[0]["code"], e.exception.diagnostics[0]["line"]), ("E0201", 1))
        with self.assertRaisesRegex(gnnc.CompileError, "none.gnn"):
            gnnc.compile("none.gnn")
        with self.assertRaisesRegex(AttributeError, "there is no op median; there are mean, mean.grad"):
            gnnc.compile(MEAN, target="host").median
        with self.assertWarnsRegex(gnnc.CompileWarning, "-D Q has no effect"):
            gnnc.compile(MEAN, target="host", Q=3)


if __name__ == "__main__":
    unittest.main()
