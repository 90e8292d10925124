"""Plans as functions of the TVM FFI. Exit status 1: a test failed. On a GPU where there is one, else on the host."""
import gc
import unittest

import torch
import tvm_ffi   # noqa: F401   the test is skipped without

import gnnc

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TEXT = """
op scaled(dst: E -> V, x: f32[E, F] strided, a: f32, n: i64, flip: bool, w: f64[E]) -> (y: f32[V, F], most: f32[V]) {
    y[v, f] = sum{e : dst[e] == v} (flip ? -1 : 1) * (a * x[e, f] + n);
    most[v] = max{e : dst[e] == v else 0} f32(w[e]);
}
op plain(dst: E -> V, x: f32[E, F]) -> (y: f32[V, F]) { y[v, f] = sum{e : dst[e] == v} x[e, f]; }
grad plain wrt (x);
"""


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = gnnc.compile(TEXT)

    def setUp(self):
        torch.manual_seed(2)
        self.dst = torch.tensor([0, 0, 2, 4], device=DEVICE)
        self.x, self.w = torch.randn(4, 6, device=DEVICE), torch.rand(4, dtype=torch.float64, device=DEVICE)
        self.y, self.most = torch.full((5, 6), torch.nan, device=DEVICE), torch.full((5,), torch.nan, device=DEVICE)
        self.call = self.module.scaled.plan(self.dst, x=self.x, w=self.w, V=5).ffi()

    def test_values(self):
        for a, n, flip in ((2.0, 3, False), (-0.5, -1, True), (1, 0, False)):
            self.assertIsNone(self.call(self.x, a, n, flip, self.w, self.y, self.most))
            expected = torch.zeros(5, 6, device=DEVICE).index_add(0, self.dst, (-1 if flip else 1) * (a * self.x + n))
            self.assertLess((self.y - expected).abs().max().item(), 1e-5)
            self.assertEqual(self.most[0].item(), self.w[:2].max().float().item())

    def test_views(self):
        x = torch.randn(6, 4, device=DEVICE).t()
        self.call(x, 1.0, 0, False, self.w, self.y, self.most)
        self.assertLess((self.y - torch.zeros(5, 6, device=DEVICE).index_add(0, self.dst, x)).abs().max().item(), 1e-5)

    def test_streams(self):
        if DEVICE == "cuda":
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                x = self.x * 2
                self.call(x, 1.0, 0, False, self.w, self.y, self.most)
            stream.synchronize()
            self.assertLess((self.y - torch.zeros(5, 6, device=DEVICE).index_add(0, self.dst, x)).abs().max().item(), 1e-5)

    def test_faults(self):
        good = [self.x, 1.0, 0, False, self.w, self.y, self.most]
        for at, wrong, kind, text in (
                (0, 3, TypeError, "argument 0, x: a tensor is wanted"),
                (0, self.x.double(), TypeError, "argument 0, x: its elements have another type"),
                (1, self.x, TypeError, "argument 1, a: a number is wanted"),
                (2, 1.5, TypeError, "argument 2, n: a whole number is wanted"),
                (5, self.y[:4], RuntimeError, "y: axis 0 has 4 elements, but V is 5"),
                (0, self.x[:, :5], RuntimeError, "x|y")):
            with self.assertRaisesRegex(kind, text):
                self.call(*good[:at], wrong, *good[at + 1:])
        with self.assertRaisesRegex(TypeError, "scaled takes 7 arguments .* and is given 2"):
            self.call(self.x, 1.0)
        self.call(*good)

    def test_the_function_keeps_the_plan(self):
        call = self.module.plain.plan(self.dst, x=self.x, V=5).ffi()
        gc.collect()
        call(self.x, self.y)
        self.assertLess((self.y - torch.zeros(5, 6, device=DEVICE).index_add(0, self.dst, self.x)).abs().max().item(), 1e-5)

    def test_several_of_one_plan(self):
        plan = self.module.plain.plan(self.dst, x=self.x, V=5)
        calls = [plan.ffi() for _ in range(3)]
        del plan
        for call in calls:
            call(self.x, self.y)
        del calls, call
        gc.collect()


if __name__ == "__main__":
    unittest.main()
