"""What a benchmark case is: a statement for each contender, and the inputs that it uses."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Arg:
    """One input: shape, dtype, and the range of its values.

    Indices lie in [0, below) and have the dtype that the contender makes by default, unless one is named.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -1.0
    high: float = 1.0
    below: int = 0
    tracked: bool = False

    def array(self, rng, limit, index_dtype):
        """The values, no axis longer than `limit`."""
        shape = tuple(min(size, limit) for size in self.shape)
        if self.below:
            return rng.integers(0, min(self.below, limit), shape).astype(self.dtype or index_dtype)
        values = rng.uniform(self.low, self.high, shape)
        if self.dtype == "bool":
            return values > 0
        return values.astype("float32" if self.dtype == "bfloat16" else self.dtype)


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Args:
        name: what is measured; unique.
        family: family of the operation, or `training` and `graph`.
        args: inputs, called a, b, c in the statements.
        burn, torch, numpy: the statements; empty where a contender does not take part.
        ratio: least torch time / burn time asked for; a pair where a processor with AVX-512 has another one.
        memory: bytes that must be moved, where that is what limits the case.
        flops: multiplications and additions of the plain formula, where they are.
        step: name and sizes of a step of `training.py`, which `step()` then runs.
        within: a case, and how many times burn's own time for that one this case may take.
    """

    name: str
    family: str
    args: tuple[Arg, ...]
    burn: str
    torch: str = ""
    numpy: str = ""
    ratio: float | tuple[float, float] | None = None
    memory: int = 0
    flops: int = 0
    step: tuple = ()
    within: tuple[str, float] | None = None

    def statement(self, contender_name):
        """The statement that the contender runs; empty where it has none."""
        return getattr(self, contender_name)

    def names(self, contender, limit=1 << 30):
        """The names that the statement uses, with inputs whose axes are at most `limit` long."""
        rng = np.random.default_rng(0)
        names = dict(contender.names, chain=chain)
        for letter, arg in zip("abc", self.args):
            names[letter] = contender.tensor(arg.array(rng, limit, contender.index_dtype), arg.tracked, arg.dtype)
        if self.step:
            name, *sizes = self.step
            names["step"] = contender.step(name, *(min(size, limit) for size in sizes))
        return names

    def function(self, contender, limit=1 << 30):
        """The statement as a function, where the cost of a call does not matter."""
        names = self.names(contender, limit)
        exec(f"def run():\n    {self.statement(contender.name)}", names)
        return names["run"]

    def target(self, avx512):
        """The ratio asked for on this processor, or None."""
        return self.ratio[avx512] if isinstance(self.ratio, tuple) else self.ratio

    @property
    def limit(self):
        """What limits the case: cases of one limit are measured against the same rate. None where nothing is counted."""
        if self.flops:
            return "f64 operations" if self.args and self.args[0].dtype == "float64" else "f32 operations"
        if self.memory:
            return "bytes read" if self.family == "reduce" else "bytes moved"
        return None

    def floor(self, rates):
        """Seconds below which the case cannot get at the rates measured, a second, by limit; None where it has no limit."""
        return (self.flops or self.memory) / rates[self.limit] if rates.get(self.limit) else None


def chain(x, y):
    """Twenty times a multiplication and an addition, then the sum and its gradients."""
    for _ in range(20):
        x = x * y + y
    return x.sum().backward()


# Inputs that several families share
M4 = 1 << 22
SQUARE = Arg((2048, 2048))
