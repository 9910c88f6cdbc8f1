"""Masks of attention: true removes."""

import dataclasses
from collections.abc import Iterable, Sequence

from burn._arguments import device as check_device
from burn._arguments import instance, integer
from burn.config import ConfigEnum, tuple_variant
from burn.tensor import DType, Int, Tensor


def generate_autoregressive_mask(batch_size: int, seq_length: int, device=None) -> Tensor:
    """The mask by which a position sees itself and what is before it. Mirrors `generate_autoregressive_mask`.

    Args:
        batch_size, seq_length: sizes.
        device: where to; the default device if None.

    Returns:
        Bool tensor [batch_size, seq_length, seq_length], true above the diagonal.

    >>> generate_autoregressive_mask(1, 2).tolist()
    [[[False, True], [False, False]]]
    """
    op = "generate_autoregressive_mask"
    batch, length = integer(op, "batch_size", batch_size, 0), integer(op, "seq_length", seq_length, 0)
    mask = Tensor.tril_mask([length, length], 0, check_device(op, device))
    return mask.unsqueeze_dim(0).expand([batch, length, length])


class SeqLengthOption(ConfigEnum):
    """How long padded rows become. Mirrors `SeqLengthOption`.

    >>> generate_padding_mask(0, [[5], [6, 7]], SeqLengthOption.Fixed(3)).tensor.tolist()
    [[5, 0, 0], [6, 7, 0]]
    """

    class NoMax:
        """As long as the longest one."""

    @tuple_variant
    class Max:
        """The same, but at most this long."""

        length: int

    @tuple_variant
    class Fixed:
        """This long."""

        length: int


@dataclasses.dataclass(frozen=True)
class GeneratePaddingMask:
    """What `generate_padding_mask` returns: `tensor`, Int [batch, length], and `mask`, Bool, true at the padding.

    Mirrors `GeneratePaddingMask`.

    >>> generate_padding_mask(0, [[5], [6, 7]]).tensor.tolist()
    [[5, 0], [6, 7]]
    """

    tensor: Tensor
    mask: Tensor


_ROWS = "give one list of tokens a row"


def generate_padding_mask(
    pad_token: int, tokens_list: Sequence[Sequence[int]], seq_length=None, device=None
) -> GeneratePaddingMask:
    """Rows of tokens, cut or padded on the right to one length, and where they are padded.

    The mask follows from the lengths, so a token that equals ``pad_token`` is not masked (in Burn it is). Mirrors
    `generate_padding_mask`.

    Args:
        pad_token: what rows are filled with.
        tokens_list: one list of tokens a row.
        seq_length: a SeqLengthOption, an int (at most so long) or None (as long as the longest).
        device: where to; the default device if None.

    Returns:
        GeneratePaddingMask, whose tensors are [rows, length].

    >>> generate_padding_mask(0, [[5], [6, 7]]).mask.tolist()
    [[False, True], [False, False]]
    """
    op = "generate_padding_mask"
    pad = integer(op, "pad_token", pad_token)
    rows = [
        [integer(op, "tokens_list", token) for token in instance(op, "tokens_list", row, Iterable, _ROWS)]
        for row in instance(op, "tokens_list", tokens_list, Iterable, _ROWS)
    ]
    length = max((len(row) for row in rows), default=1)
    if isinstance(seq_length, SeqLengthOption.Fixed):
        length = integer(op, "seq_length", seq_length.length, 0)
    elif isinstance(seq_length, SeqLengthOption.Max):
        length = min(length, integer(op, "seq_length", seq_length.length, 0))
    elif seq_length is not None and seq_length is not SeqLengthOption.NoMax:
        length = min(length, integer(op, "seq_length", seq_length, 0))
    place = check_device(op, device)
    kept = [row[:length] for row in rows]
    shape = [len(rows), length]
    if not rows or not length:
        empty = Tensor.zeros(shape, place, kind=Int)
        return GeneratePaddingMask(empty, empty.equal_elem(1))
    filled = [row + [pad] * (length - len(row)) for row in kept]
    counts = Tensor.from_data([[len(row)] for row in kept], place, dtype=DType.I64)
    columns = Tensor.arange(0, length, place, dtype=DType.I64).unsqueeze_dim(0)
    mask = columns.expand(shape).greater_equal(counts.expand(shape))
    return GeneratePaddingMask(Tensor.from_data(filled, place), mask)
