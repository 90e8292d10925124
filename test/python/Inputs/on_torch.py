"""Ops on PyTorch tensors. Exit status 1: a test failed. On a GPU where there is one, else on the host."""
import copy
import gc
import pickle
import threading
import unittest
import weakref

import torch
from torch.utils.checkpoint import checkpoint

import gnnc
from gnnc import _torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
E, U, V, H, D = 200, 30, 25, 2, 4


def attention(src, dst, l, r, x, slope=0.2):
    """The same in PyTorch."""
    s = torch.nn.functional.leaky_relu(l[dst] + r[src], slope)
    top = torch.full_like(l, -torch.inf).scatter_reduce(0, dst[:, None].expand_as(s), s, "amax")
    a = (s - top[dst]).exp()
    total = torch.zeros_like(l).index_add(0, dst, a)
    return torch.zeros(len(l), *x.shape[1:], dtype=x.dtype, device=x.device).index_add(0, dst, (a / total[dst])[..., None] * x[src])


class Base(unittest.TestCase):
    TYPE = torch.float64

    @classmethod
    def setUpClass(cls):
        kind = {torch.float64: "f64", torch.float32: "f32"}[cls.TYPE]
        cls.module = gnnc.compile(ATTENTION, ops=["gat", "gat.grad"], T=kind)
        cls.gat = cls.module.gat

    def setUp(self):
        torch.manual_seed(3)
        self.dst = torch.sort(torch.randint(0, V, (E,)))[0].to(DEVICE)
        self.src = torch.randint(0, U, (E,)).to(DEVICE)
        make = lambda *shape: torch.randn(*shape, dtype=self.TYPE, device=DEVICE).requires_grad_()
        self.l, self.r, self.x = make(V, H), make(U, H), make(U, H, D)

    @property
    def arrays(self):
        return self.l, self.r, self.x


class Gradients(Base):
    def test_values_and_gradients(self):
        y, wanted = self.gat(self.src, self.dst, *self.arrays), attention(self.src, self.dst, *self.arrays)
        self.assertLess((y - wanted).abs().max().item(), 1e-12)
        w = torch.randn_like(y)
        for a, b in zip(torch.autograd.grad((y * w).sum(), self.arrays), torch.autograd.grad((wanted * w).sum(), self.arrays)):
            self.assertLess((a - b).abs().max().item(), 1e-11)

    def test_gradcheck(self):
        self.assertTrue(torch.autograd.gradcheck(lambda *a: self.gat(self.src, self.dst, *a), self.arrays))

    def test_opcheck(self):
        for saved in (False, True):
            op = _torch.registered(self.gat, saved)
            done = torch.library.opcheck(op.call, (self.src, self.dst, *self.arrays, [-1] * len(op.free)))
            self.assertEqual(set(done.values()), {"SUCCESS"})

    def test_some_gradients(self):
        l, r = self.l.detach(), self.r.detach()
        y = self.gat(self.src, self.dst, l, r, self.x)
        y.sum().backward()
        self.assertIsNotNone(self.x.grad)
        self.assertFalse(self.gat(self.src, self.dst, l, r, self.x.detach()).requires_grad)

    def test_second(self):
        module = gnnc.compile(CUBE, target=self.module.target, T="f64")
        f = lambda x: module.cube(self.src, self.dst, x, V=V)
        x = self.x.reshape(U, -1)[:, :2].detach().contiguous().requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(f, x))
        self.assertTrue(torch.autograd.gradgradcheck(f, x))

    def test_second_that_lacks_some(self):
        module = gnnc.compile(CUBE.replace("(x, dy)", "(x)"), target=self.module.target, T="f64")
        x = self.x.reshape(U, -1)[:, :2].detach().contiguous().requires_grad_()
        dx, = torch.autograd.grad(module.cube(self.src, self.dst, x, V=V).square().sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, r"no gradient with respect to dy.*`grad cube.grad wrt \(x, dy\) as NAME;`"):
            dx.sum().backward()

    def test_no_grad(self):
        with torch.no_grad():
            self.assertFalse(self.gat(self.src, self.dst, *self.arrays).requires_grad)

    def test_checkpoint(self):
        y = checkpoint(lambda *a: self.gat(self.src, self.dst, *a), *self.arrays, use_reentrant=False)
        wanted = self.gat(self.src, self.dst, *self.arrays)
        for a, b in zip(torch.autograd.grad(y.sum(), self.arrays), torch.autograd.grad(wanted.sum(), self.arrays)):
            self.assertTrue(torch.equal(a, b))

    def test_same_bits(self):
        first = self.gat(self.src, self.dst, *self.arrays)
        for _ in range(5):
            self.assertTrue(torch.equal(first, self.gat(self.src, self.dst, *self.arrays)))

    def test_other_maps_at_the_same_place(self):
        both = torch.stack([self.src, self.src.flip(0)], 1).contiguous()
        self.gat(both.view(-1)[:E], self.dst, *self.arrays)
        with self.assertRaisesRegex(TypeError, "packed"):
            self.gat(both[:, 0], self.dst, *self.arrays)

    def test_changed_maps(self):
        before = self.gat(self.src, self.dst, *self.arrays)
        self.src.fill_(1)
        after = self.gat(self.src, self.dst, *self.arrays)
        self.assertFalse(torch.equal(before, after))
        self.assertLess((after - attention(self.src, self.dst, *self.arrays)).abs().max().item(), 1e-12)


class Single(Base):
    TYPE = torch.float32

    def test_compile(self):
        f = lambda l, r, x: self.gat(self.src, self.dst, l, r, x).relu().sum()
        compiled = torch.compile(f, fullgraph=True, backend="aot_eager" if DEVICE == "cpu" else "inductor")
        for a, b in zip(torch.autograd.grad(compiled(*self.arrays), self.arrays), torch.autograd.grad(f(*self.arrays), self.arrays)):
            self.assertLess((a - b).abs().max().item(), 1e-5)

    def test_compiled_maps(self):
        """Maps that compiled code computes lie where others lay, and nobody counts the writing."""
        total = gnnc.compile(TOTAL, target=self.module.target).total
        s, d = torch.randint(0, 64, (500,), device=DEVICE), torch.randint(0, 64, (500,), device=DEVICE)
        x = torch.randn(64, 8, device=DEVICE)

        def f(s, d, x):
            y = total((s * 2 + 1) % 64, d, x, V=64)
            return total((s + 5 + (y[0, 0] > 1e9)) % 64, d, y, V=64)
        compiled = torch.compile(f, fullgraph=True)
        for _ in range(3):
            self.assertLess((compiled(s, d, x) - f(s, d, x)).abs().max().item(), 1e-3)
            s = s.flip(0)

    def test_forward_mode(self):
        with torch.autograd.forward_ad.dual_level():
            x = torch.autograd.forward_ad.make_dual(self.x.detach(), torch.ones_like(self.x))
            with self.assertRaisesRegex(NotImplementedError, "no derivative in forward mode"):
                self.gat(self.src, self.dst, self.l, self.r, x)

    def test_views_of_other_signs(self):
        x = torch._neg_view(self.x.detach())
        self.assertLess((self.gat(self.src, self.dst, self.l, self.r, x) +
                         self.gat(self.src, self.dst, self.l, self.r, self.x)).abs().max().item(), 1e-6)
        plan = self.gat.plan(self.src, self.dst, *(t.detach() for t in self.arrays))
        with torch.no_grad(), self.assertRaisesRegex(TypeError, "x is a view whose elements have another sign"):
            plan(self.l, self.r, x)
        y = self.gat(self.src, self.dst, *self.arrays)
        a, = torch.autograd.grad(y, self.x, torch._neg_view(torch.ones_like(y)), retain_graph=True)
        b, = torch.autograd.grad(y, self.x, torch.ones_like(y))
        self.assertTrue(torch.equal(a, -b))

    def test_copies(self):
        plan = self.gat.plan(self.src, self.dst, *self.arrays)
        self.assertIs(copy.copy(plan), plan)
        layer = torch.nn.Module()
        layer.ops = self.module
        self.assertIs(copy.deepcopy(layer).ops, self.module)
        again = pickle.loads(pickle.dumps(self.gat))
        self.assertTrue(torch.equal(again(self.src, self.dst, *self.arrays), self.gat(self.src, self.dst, *self.arrays)))
        with self.assertRaisesRegex(TypeError, "a plan is of this process"):
            pickle.dumps(plan)

    def test_modules_go(self):
        gone = []
        for k in range(4):
            module = gnnc.compile(TOTAL + "//%d\n" % k, target=self.module.target)
            for _ in range(3):
                module.total(self.src.clone(), self.dst, self.x.detach().reshape(U, -1), V=V)
            gone.append((weakref.ref(module), weakref.ref(module.total)))
            plan = module.total.plan(self.src, self.dst, self.x.detach().reshape(U, -1), V=V)
            del module
        wanted = plan(self.x.detach().reshape(U, -1))
        gc.collect()
        self.assertEqual([m() is None for m, _ in gone], [True] * 3 + [False])   # the last one is its plan's
        self.assertTrue(torch.equal(wanted, plan(self.x.detach().reshape(U, -1))))
        del plan
        gc.collect()
        self.assertTrue(all(r() is None for pair in gone for r in pair))

    def test_plans_refuse(self):
        plan = self.gat.plan(self.src, self.dst, *self.arrays)
        with self.assertRaisesRegex(RuntimeError, "a plan of gat gives no gradients"):
            plan(*self.arrays)
        l, r, x = (t.detach() for t in self.arrays)
        with self.assertRaisesRegex(TypeError, "src of a plan is settled"):
            plan(l, r, x, src=self.src)
        with self.assertRaisesRegex(TypeError, "the result y is given"):
            self.gat(self.src, self.dst, l, r, x, y=x)
        with self.assertRaisesRegex(TypeError, "the map src has 1 axes \\(E\\), and is given 0"):
            self.gat(self.src[0], self.dst, l, r, x)
        y = torch.zeros(V, H, D, device=DEVICE)
        before = y._version
        plan(l, r, x, y=y)
        self.assertGreater(y._version, before)

    def test_strides(self):
        x = self.x.detach().permute(2, 0, 1).contiguous().permute(1, 2, 0).requires_grad_()
        y = self.gat(self.src, self.dst, self.l, self.r, x)
        self.assertLess((y - self.gat(self.src, self.dst, *self.arrays)).abs().max().item(), 1e-6)
        y.sum().backward()   # whose gradient has strides of 0

    def test_autocast(self):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            x = (self.x.reshape(U, -1) @ torch.eye(H * D, device=DEVICE)).reshape(U, H, D)
            self.assertEqual(x.dtype, torch.bfloat16)
            self.assertEqual(self.gat(self.src, self.dst, self.l, self.r, x).dtype, torch.float32)

    def test_faults(self):
        with self.assertRaisesRegex(gnnc.Error, r"src\[0\] = 1000 is outside U"):
            self.gat(torch.full_like(self.src, 1000), self.dst, *self.arrays)
        with self.assertRaisesRegex(gnnc.Error, "not sorted|dst"):
            self.gat(self.src, self.dst.flip(0), *self.arrays)
        with self.assertRaisesRegex(NotImplementedError, "cannot be mapped by vmap"):
            torch.vmap(lambda x: self.gat(self.src, self.dst, self.l, self.r, x))(torch.randn(3, U, H, D, device=DEVICE))
        with self.assertRaisesRegex(TypeError, "x is not given"):
            self.gat(self.src, self.dst, self.l, self.r)
        lone = gnnc.compile(SUM, target=self.module.target)
        with self.assertRaisesRegex(RuntimeError, r"no gradient with respect to x, which requires one: `grad total wrt \(x\);`"):
            lone.total(self.x.reshape(U, -1))

    def test_plan(self):
        l, r, x = (t.detach() for t in self.arrays)
        plan = self.gat.plan(self.src, self.dst, l, r, x)
        wanted = self.gat(self.src, self.dst, l, r, x)
        wide = torch.empty(U, H, D + 3, device=DEVICE)
        wide[..., :D] = x
        for y in (plan(l, r, x), plan(l, r, x.clone()), plan(l, r, wide[..., :D]), plan(l, r, x), plan(l=l, r=r, x=x)):
            self.assertLess((y - wanted).abs().max().item(), 1e-6)
        kept = [plan(l, r, x * k) for k in (1, 2, 3)]   # each call has memory of its own
        for k, y in enumerate(kept):
            self.assertLess((y - (k + 1) * wanted).abs().max().item(), 1e-5)
        with self.assertRaisesRegex(gnnc.Error, "x has type f64, not f32"):
            plan(l, r, x.double())

    def test_threads(self):
        wanted = self.gat(self.src, self.dst, *self.arrays).detach()
        wrong = []

        def work(k):
            torch.manual_seed(k)
            for _ in range(30):
                with torch.no_grad():
                    y = self.gat(self.src, self.dst, self.l, self.r, self.x * (k + 1))
                if (y - (k + 1) * wanted).abs().max().item() > 1e-5 * (k + 1):
                    wrong.append(k)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_no_second_gradient(self):
        y = self.gat(self.src, self.dst, *self.arrays)
        dx, = torch.autograd.grad(y.sum(), self.x, create_graph=True)
        with self.assertRaises(RuntimeError):
            torch.autograd.grad(dx.sum(), self.l)

    @unittest.skipIf(DEVICE == "cpu", "no GPU")
    def test_graph(self):
        x = self.x.detach().clone()
        call = lambda: self.gat(self.src, self.dst, self.l.detach(), self.r.detach(), x)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = call()
        x.mul_(2)
        graph.replay()
        torch.cuda.synchronize()
        self.assertTrue(torch.equal(y, call()))

    @unittest.skipIf(DEVICE == "cpu", "no GPU")
    def test_streams(self):
        wanted = self.gat(self.src, self.dst, *self.arrays)
        streams = [torch.cuda.Stream() for _ in range(4)]
        made = []
        torch.cuda.synchronize()
        for s in streams * 5:
            with torch.cuda.stream(s):
                made.append(self.gat(self.src, self.dst, *self.arrays))
        torch.cuda.synchronize()
        self.assertTrue(all(torch.equal(wanted, y) for y in made))


class Numbers(unittest.TestCase):
    def test_numbers_change_at_each_call(self):
        """By the same plan: f32, f64, integers and conditions."""
        module = gnnc.compile(SCALED)
        dst, x = torch.tensor([0, 0, 2], device=DEVICE), torch.randn(3, 4, device=DEVICE, requires_grad=True)
        for a, b, n, flip in ((2.0, 0.5, 3, False), (-1.5, 0.25, -2, True), (0, 1, 0, 0)):
            y = module.scaled(dst, x, a, b, n, flip, V=3)
            rows = torch.zeros(3, 4, device=DEVICE).index_add(0, dst, x * a + b + n)
            expected = -rows if flip else rows
            self.assertLess((y - expected).abs().max().item(), 1e-5)
            d, = torch.autograd.grad(y.sum(), x)
            self.assertLess((d - (-a if flip else a)).abs().max().item(), 1e-6)
        self.assertEqual(len(module.scaled._plans), 1)
        with torch.no_grad():
            self.assertLess((module.scaled(dst, x, 3, 0, 1, False, V=3) - torch.zeros(3, 4, device=DEVICE).index_add(
                0, dst, x * 3 + 1)).abs().max().item(), 1e-5)


SCALED = """
op scaled(dst: E -> V, x: f32[E, F], a: f32, b: f64, n: i64, flip: bool) -> (y: f32[V, F]) {
    s[v, f] = sum{e : dst[e] == v} (a * x[e, f] + f32(b) + n);
    y[v, f] = flip ? -s[v, f] : s[v, f];
}
grad scaled wrt (x);
"""
CUBE = """
op cube<T>(src: E -> U, dst: E -> V, x: T[U, F]) -> (y: T[V, F]) {
    y[v, f] = sum{e : dst[e] == v} x[src[e], f] * x[src[e], f] * x[src[e], f];
}
grad cube wrt (x);
grad cube.grad wrt (x, dy) as second;
"""
TOTAL = """
op total(src: E -> U, dst: E -> V, x: f32[U, F]) -> (y: f32[V, F]) { y[v, f] = sum{e : dst[e] == v} x[src[e], f]; }
"""
SUM = "op total(x: f32[N, F]) -> (y: f32[F]) { y[f] = sum{n} x[n, f]; }"
ATTENTION = """
import "attention";
op unused(x: f32[N]) -> (y: f32[N]) { y[n] = x[n]; }
"""

if __name__ == "__main__":
    unittest.main()
