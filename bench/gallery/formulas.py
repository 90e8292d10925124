"""What the formulas of the gallery share: sums and the like by an index, as one writes them in PyTorch. Nothing is imported,
so that each works on tensors as they come. `at`: the row of each value; n: how many rows there are."""


def rows(at, values):
    """The index of each element of the values, for scatter_reduce."""
    return at.view(-1, *[1] * (values.dim() - 1)).expand_as(values)


def total(at, values, n):
    return values.new_zeros(n, *values.shape[1:]).index_add(0, at, values)


def degree(at, n, like):
    return like.new_zeros(n).index_add(0, at, like.new_ones(len(at)))


def mean(at, values, n):
    count = degree(at, n, values).clamp(min=1)
    return total(at, values, n) / count.view(-1, *[1] * (values.dim() - 1))


def largest(at, values, n, empty=0.0):
    out = values.new_full((n, *values.shape[1:]), empty)
    return out.scatter_reduce(0, rows(at, values), values, "amax", include_self=False)


def smallest(at, values, n, empty=0.0):
    out = values.new_full((n, *values.shape[1:]), empty)
    return out.scatter_reduce(0, rows(at, values), values, "amin", include_self=False)


def product(at, values, n):
    return values.new_ones(n, *values.shape[1:]).scatter_reduce(0, rows(at, values), values, "prod")


def variance(at, values, n):
    return mean(at, (values - mean(at, values, n)[at]).square(), n)


def softmax(at, values, n):
    """Of the values of each row."""
    e = (values - largest(at, values.detach(), n)[at]).exp()
    return e / total(at, e, n)[at]


def logsumexp(at, values, n):
    """-inf of nothing."""
    top = largest(at, values.detach(), n)
    return total(at, (values - top[at]).exp(), n).log() + top


def root(x):
    """A square root whose derivative at 0 is 0."""
    positive = x > 0
    return positive * (x * positive + ~positive).sqrt()


def norm(x, dim=-1):
    return root(x.square().sum(dim))


def inverse(x):
    """0 of 0."""
    zero = x == 0
    return ~zero / (x + zero)
