"""The random generator of data sets and loaders: ChaCha with 12 rounds, so that seeds give the orders that Burn gives.

It runs on the host and has nothing to do with the generator of a device, which fills tensors.
"""

from __future__ import annotations

import os

import numpy as np

from burn._arguments import integer, shown
from burn.errors import ArgumentError

_MASK32 = 0xFFFFFFFF
_MASK64 = 0xFFFFFFFFFFFFFFFF
_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)  # "expand 32-byte k"
_MIN_BLOCKS, _MAX_BLOCKS = 8, 4096
_LEFT, _HALF, _RIGHT = [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]


def _rotate(word: np.ndarray, bits: int) -> np.ndarray:
    return (word << np.uint32(bits)) | (word >> np.uint32(32 - bits))


def _quarter_rounds(a, b, c, d):
    """Four quarter rounds at once, one a column, of every block."""
    a = a + b
    d = _rotate(d ^ a, 16)
    c = c + d
    b = _rotate(b ^ c, 12)
    a = a + b
    d = _rotate(d ^ a, 8)
    c = c + d
    return a, _rotate(b ^ c, 7), c, d


def _chacha12(key: tuple[int, ...], first: int, blocks: int) -> list[int]:
    """Output words of `blocks` consecutive 64-byte blocks; all blocks are computed at once."""
    start = np.zeros((4, 4, blocks), np.uint32)
    start[:3] = np.array([*_CONSTANTS, *key], np.uint32).reshape(3, 4, 1)
    counter = np.arange(first, first + blocks, dtype=np.uint64)
    start[3, 0], start[3, 1] = counter & np.uint64(_MASK32), counter >> np.uint64(32)
    a, b, c, d = start
    for _ in range(6):
        a, b, c, d = _quarter_rounds(a, b, c, d)
        # The diagonals become columns, and columns again.
        a, b, c, d = _quarter_rounds(a, b[_LEFT], c[_HALF], d[_RIGHT])
        b, c, d = b[_RIGHT], c[_HALF], d[_LEFT]
    return (np.stack([a, b, c, d]) + start).reshape(16, blocks).T.ravel().tolist()


class StdRng:
    """Random generator of data sets, seeded with 32 bytes (Burn: `rand::rngs::StdRng`).

    Args:
        seed: 32 bytes.

    Example:
        >>> StdRng.seed_from_u64(42).next_u32()
        572990626
    """

    def __init__(self, seed: bytes) -> None:
        if not isinstance(seed, bytes) or len(seed) != 32:
            raise ArgumentError(
                f"[StdRng] 'seed' must have 32 bytes, got {shown(seed)}; use StdRng.seed_from_u64 for a number"
            )
        self._key = tuple(int.from_bytes(seed[i : i + 4], "little") for i in range(0, 32, 4))
        self._block = 0
        self._blocks = _MIN_BLOCKS
        self._words: list[int] = []
        self._at = 0

    @classmethod
    def seed_from_u64(cls, seed: int) -> StdRng:
        """Generator whose 32 bytes are spread from one number of 64 bits; another one raises."""
        state, words = integer("seed", "seed", seed, 0, _MASK64), []
        for _ in range(8):
            state = (state * 0x5851F42D4C957F2D + 0xA17654E46FBE17F3) & _MASK64
            word, turn = (((state >> 18) ^ state) >> 27) & _MASK32, state >> 59
            words.append(((word >> turn) | (word << (32 - turn))) & _MASK32)
        return cls(b"".join(word.to_bytes(4, "little") for word in words))

    @classmethod
    def from_system(cls) -> StdRng:
        """Generator seeded by the operating system: another order in every run."""
        return cls(os.urandom(32))

    def next_u32(self) -> int:
        """Next 32 random bits."""
        if self._at == len(self._words):
            self._words, self._at = _chacha12(self._key, self._block, self._blocks), 0
            self._block += self._blocks
            # Small draws stay cheap, a long shuffle is not computed a few blocks at a time.
            self._blocks = min(2 * self._blocks, _MAX_BLOCKS)
        self._at += 1
        return self._words[self._at - 1]

    def next_u64(self) -> int:
        """Next 64 random bits, the low word first."""
        low = self.next_u32()
        return low | (self.next_u32() << 32)

    def fork(self) -> StdRng:
        """Independent generator seeded from the next 32 bytes of this one, which advances."""
        return StdRng(b"".join(self.next_u32().to_bytes(4, "little") for _ in range(8)))

    def below(self, bound: int) -> int:
        """Number in `[0, bound)` as Burn draws it inside a shuffle (`bound` up to 2**32)."""
        product = self.next_u32() * bound
        high, low = product >> 32, product & _MASK32
        if low > (1 << 32) - bound:
            high += (low + ((self.next_u32() * bound) >> 32)) >> 32
        return high

    def uniform(self, bound: int) -> int:
        """Number in `[0, bound)` without bias, as Burn's sampler with replacement draws it."""
        if bound > 1 << 32:
            bits, draw = 64, self.next_u64
        else:
            bits, draw = 32, self.next_u32
        threshold = ((1 << bits) - bound) % bound
        while True:
            product = draw() * bound
            if product & ((1 << bits) - 1) >= threshold:
                return product >> bits

    def shuffle(self, values: list) -> None:
        """Shuffle a list in place."""
        # One draw serves several steps: it is uniform below the longest product m (m+1) (m+2) ... that fits 32 bits.
        self._blocks = max(self._blocks, min(len(values) // 32, _MAX_BLOCKS))  # about as many as will be needed
        chunk, remaining = 0, 1
        for i in range(len(values)):
            m = i + 1
            if remaining == 0:
                bound, count = m, 1
                while bound * (m + count) <= _MASK32:
                    bound *= m + count
                    count += 1
                chunk, remaining = self.below(bound), count - 1
            else:
                remaining -= 1
            if remaining == 0:
                j = chunk
            else:
                chunk, j = divmod(chunk, m)
            values[i], values[j] = values[j], values[i]

    def permutation(self, size: int) -> list[int]:
        """The numbers 0 to `size - 1` in a random order."""
        values = list(range(size))
        self.shuffle(values)
        return values

    def reservoir(self, size: int, amount: int) -> list[int]:
        """`amount` different numbers of 0 to `size - 1`."""
        chosen = list(range(amount))
        for element in range(amount, size):
            slot = self.below(element + 1)
            if slot < amount:
                chosen[slot] = element
        return chosen
