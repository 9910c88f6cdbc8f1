"""Random numbers of the counter-based generator Philox4x32-10: a number depends on seed, offset and position only.

Position j of a result reads block `offset + j // lanes` of the stream of its seed (ints = seed, offset): four 32-bit words a block,
one a number, two for doubles and for normal deviates in double precision.
"""

import numpy as np

MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = 0x9E3779B9, 0xBB67AE85
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox(seed: int, first: int, blocks: int) -> np.ndarray:
    """The words `[blocks, 4]` (uint32) of the blocks from `first` on in the stream of `seed`."""
    counter = np.arange(blocks, dtype=np.uint64) + np.uint64(first % 2**64)
    a, b, c, d = counter & LOW, counter >> HALF, np.zeros_like(counter), np.zeros_like(counter)
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        left, right = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, b, c, d = (
            right >> HALF ^ b ^ np.uint64(key[0]),
            right & LOW,
            left >> HALF ^ d ^ np.uint64(key[1]),
            left & LOW,
        )
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, WEYL, strict=True)]
    return np.stack([a, b, c, d], axis=1).astype(np.uint32)
