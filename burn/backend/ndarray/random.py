"""Random numbers of the counter-based generator Philox4x32-10: a number depends on seed, offset and position only.

Element j reads word `j % 4` of block `offset + j // 4` in the stream of its seed (ints = seed, offset). Elements of
eight bytes read two words, Bernoulli always one.
"""

import numpy as np

from burn.backend.ndarray.table import is_float, kernel

MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = 0x9E3779B9, 0xBB67AE85
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox(seed: int, first: int, blocks: int) -> np.ndarray:
    """The words `[blocks, 4]` (uint64, each below 2^32) of the blocks from `first` on in the stream of `seed`."""
    counter = np.arange(blocks, dtype=np.uint64) + np.uint64(first % 2**64)
    a, b, c, d = counter & LOW, counter >> HALF, np.zeros_like(counter), np.zeros_like(counter)
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        left, right = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, b = right >> HALF ^ b ^ np.uint64(keys[0]), right & LOW
        c, d = left >> HALF ^ d ^ np.uint64(keys[1]), left & LOW
        keys = [(key + step) & 0xFFFFFFFF for key, step in zip(keys, WEYL, strict=True)]
    return np.stack([a, b, c, d], axis=1)


def words(ints, count):
    """The first `count` words from the offset on, as uint64."""
    seed, offset = ints
    return philox(seed, offset, -(-count // 4)).reshape(-1)[:count]


def bits(out, ints, count):
    """`count` random integers as wide as the elements of `out`, 32 bits at least, and how many bits those are."""
    if out.dtype.itemsize < 8:
        return words(ints, count), 32
    pairs = words(ints, 2 * count).reshape(count, 2)
    return pairs[:, 1] << HALF | pairs[:, 0], 64


def units(out, ints, count):
    """`count` numbers on [0, 1) of as many bits as float32, or float64 for such elements, holds; and their spacing."""
    value, width = bits(out, ints, count)
    kept = 24 if width == 32 else 53
    return (value >> np.uint64(width - kept)).astype(np.float64) * 2.0**-kept, 2.0**-kept


@kernel("uniform")
def uniform(outs, ins, ints, floats):
    """Numbers on [low, high) (floats); rounding never reaches high."""
    out, (low, high) = outs[0], floats
    if not is_float(out.dtype):
        value, width = bits(out, ints, out.size)
        scaled = value.astype(object) * (int(high) - int(low)) >> width
        wrapped = (scaled + int(low)) % 2**64
        out[...] = wrapped.astype(np.uint64).astype(out.dtype).reshape(out.shape)
        return
    wide = np.float64 if out.dtype.itemsize == 8 else np.float32
    unit = units(out, ints, out.size)[0].astype(wide)
    value = unit * wide(high - low) + wide(low)
    out[...] = np.minimum(value, below(out.dtype, high).astype(wide)).reshape(out.shape)


def below(dtype, high):
    """The largest value of a float dtype that is less than `high`."""
    nearest = np.array(high).astype(dtype)
    return nearest if float(nearest) < high else np.nextafter(nearest, np.array(-np.inf).astype(dtype))


@kernel("normal")
def normal(outs, ins, ints, floats):
    """Normal deviates by Box and Muller from the numbers of each pair of elements (floats = mean, deviation)."""
    out, (mean, deviation) = outs[0], floats
    unit, spacing = units(out, ints, out.size + out.size % 2)
    radius, angle = np.sqrt(-2.0 * np.log(unit[0::2] + spacing)), 2.0 * np.pi * unit[1::2]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    out[...] = (mean + deviation * pairs.reshape(-1)[: out.size]).reshape(out.shape)


@kernel("bernoulli")
def bernoulli(outs, ins, ints, floats):
    """1 with probability p (floats), else 0."""
    out = outs[0]
    out[...] = (words(ints, out.size) < int(floats[0] * 2.0**32)).reshape(out.shape)
