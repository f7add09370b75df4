"""Tensors by name, shape and type alone."""


class Tensor:
    device = "cuda:0"

    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, shape, dtype

    def __repr__(self):
        return f"{self.name}: {self.dtype} {self.shape}"

    def sum(self, dim):
        assert dim == 0
        return Tensor(f"sum of {self.name}", self.shape[1:], self.dtype)

    def to(self, dtype):
        return Tensor(self.name, self.shape, dtype)
