// A gradient.
