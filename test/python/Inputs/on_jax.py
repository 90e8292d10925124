"""Ops on JAX arrays, on the host. Exit status 1: a test failed."""
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import gnnc
import gnnc.jax

N, E, H, D = 20, 80, 2, 4


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = gnnc.compile("""
import "attention";
op two(dst: E -> V, x: f32[E]) -> (total: f32[V], most: f32[V]) {
    total[v] = sum{e : dst[e] == v} x[e];
    most[v] = max{e : dst[e] == v else 0} x[e];
}
grad two wrt (x);
op ends(dst: E -> V, x: f32[E]) -> (y: f32[V]) { y[v] = sum{e : dst[e] == v} x[e]; }
op times(dst: E -> V, x: f32[E], a: f32) -> (y: f32[V]) { y[v] = sum{e : dst[e] == v} a * x[e]; }
""", ops=["gat", "gat.grad", "two", "two.grad", "ends", "times"])

    def setUp(self):
        rng = np.random.default_rng(0)
        self.src, self.dst = np.sort(rng.integers(0, N, E)), np.sort(rng.integers(0, N - 1, E))
        self.graph = gnnc.Graph.of((self.src, self.dst), N)
        self.tensors = [jnp.asarray(rng.standard_normal((N, H, *s)), jnp.float32) for s in ((), (), (D,))]
        self.edges = jnp.asarray(rng.standard_normal(E), jnp.float32)

    def attention(self, left, right, x):
        s = jax.nn.leaky_relu(left[self.dst] + right[self.src], 0.2)
        a = jnp.exp(s - jax.ops.segment_max(s, self.dst, N)[self.dst])
        total = jax.ops.segment_sum(a, self.dst, N)
        return jax.ops.segment_sum((a / total[self.dst])[..., None] * x[self.src], self.dst, N)

    def near(self, a, b):
        self.assertEqual(a.shape, b.shape)
        self.assertLess(float(jnp.abs(a - b).max()), 1e-5)

    def test_attention(self):
        layer = gnnc.jax.on(self.module.gat, self.graph, shapes={"x": (N, H, D)})
        self.near(layer(*self.tensors), self.attention(*self.tensors))
        self.near(jax.jit(layer)(*self.tensors), self.attention(*self.tensors))

        def loss(f):
            return lambda *t: jnp.cos(f(t[0] * 2, t[1], t[2])).sum()
        for wrap in (lambda f: f, jax.jit):
            for a, b in zip(wrap(jax.grad(loss(layer), (0, 1, 2)))(*self.tensors), jax.grad(loss(self.attention), (0, 1, 2))(*self.tensors)):
                self.near(a, b)

    def test_several_results(self):
        layer = gnnc.jax.on(self.module.two, self.dst, V=N)
        total, most = jax.jit(layer)(self.edges)
        self.near(total, jax.ops.segment_sum(self.edges, self.dst, N))
        d = jax.grad(lambda x: (layer(x)[0] * 2).sum() + layer(x)[1].sum())(self.edges)
        top = jax.ops.segment_max(self.edges, self.dst, N)
        self.near(d, 2 + (self.edges == top[self.dst]).astype(jnp.float32))

    def test_gradients_that_are_not_derived(self):
        module = gnnc.compile("""
op scaled(dst: E -> V, x: f32[E], w: f32[E]) -> (y: f32[V]) { y[v] = sum{e : dst[e] == v} w[e] * x[e]; }
grad scaled wrt (x);
""")
        layer = gnnc.jax.on(module.scaled, self.dst, V=N)
        w = self.edges * 2
        self.near(jax.grad(lambda x: layer(x, w).sum())(self.edges), w)
        with self.assertRaisesRegex(ValueError, r"no gradient with respect to w: `grad scaled wrt \(x, w\);`"):
            jax.grad(lambda w: layer(self.edges, w).sum())(w)

    def test_without_gradients(self):
        layer = gnnc.jax.on(self.module.ends, self.dst, V=N)
        self.near(layer(self.edges), jax.ops.segment_sum(self.edges, self.dst, N))
        with self.assertRaises(ValueError):
            jax.grad(lambda x: layer(x).sum())(self.edges)

    def test_faults(self):
        with self.assertRaisesRegex(NotImplementedError, "takes the number a"):
            gnnc.jax.on(self.module.times, self.dst, V=N)
        with self.assertRaisesRegex(ValueError, "no tensor z"):
            gnnc.jax.on(self.module.ends, self.dst, V=N, shapes={"z": (3,)})


if __name__ == "__main__":
    unittest.main()
