"""`SamplerDataset`: random draws from another data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from burn._locks import Lock
from burn.data._rng import StdRng
from burn.data.dataset.base import Dataset, size_of, source
from burn.data.dataset.transform.options import RngSource, SizeConfig
from burn.errors import ArgumentError

T = TypeVar("T")


@dataclass(frozen=True)
class SamplerDatasetOptions:
    """Options of `SamplerDataset` (Burn: `SamplerDatasetOptions`).

    Args:
        replace_samples: whether an item may come again before all others came.
        size_config: number of items; as many as the source by default.
        rng_source: where randomness comes from; the operating system by default.

    >>> SamplerDatasetOptions().without_replacement().with_size(0.5).with_seed(42)
    SamplerDatasetOptions(replace_samples=False, size_config=SizeConfig.Ratio(0.5), rng_source=RngSource.Seed(42))
    >>> SamplerDatasetOptions().with_fixed_size(3).with_replacement().with_system_rng().with_source_size()
    SamplerDatasetOptions(replace_samples=True, size_config=SizeConfig.Default, rng_source=RngSource.Default)
    """

    replace_samples: bool = True
    size_config: SizeConfig = SizeConfig.Default
    rng_source: RngSource | StdRng | int = RngSource.Default

    def with_replace_samples(self, replace_samples: bool) -> SamplerDatasetOptions:
        """The same with or without replacement."""
        return replace(self, replace_samples=replace_samples)

    def with_replacement(self) -> SamplerDatasetOptions:
        """The same with replacement."""
        return replace(self, replace_samples=True)

    def without_replacement(self) -> SamplerDatasetOptions:
        """The same without replacement."""
        return replace(self, replace_samples=False)

    def with_size(self, size: SizeConfig | int | float) -> SamplerDatasetOptions:
        """The same with another size: an int is a number of items, a float a ratio of the source."""
        return replace(self, size_config=SizeConfig.of(size))

    def with_source_size(self) -> SamplerDatasetOptions:
        """The same with the size of the source."""
        return replace(self, size_config=SizeConfig.Default)

    def with_fixed_size(self, size: int) -> SamplerDatasetOptions:
        """The same with `size` items."""
        return replace(self, size_config=SizeConfig.Fixed(size))

    def with_size_ratio(self, ratio: float) -> SamplerDatasetOptions:
        """The same with `ratio` times as many items as the source, rounded down."""
        return replace(self, size_config=SizeConfig.Ratio(ratio))

    def with_rng(self, rng_source: RngSource | StdRng | int) -> SamplerDatasetOptions:
        """The same with another source of randomness."""
        return replace(self, rng_source=rng_source)

    def with_system_rng(self) -> SamplerDatasetOptions:
        """The same, seeded by the operating system."""
        return replace(self, rng_source=RngSource.Default)

    def with_seed(self, seed: int) -> SamplerDatasetOptions:
        """The same, seeded with a number."""
        return replace(self, rng_source=RngSource.Seed(seed))


class SamplerDataset(Dataset[T]):
    """Data set of random draws from another one (Burn: `SamplerDataset`).

    Each `get` draws the next item, whatever its index: reading one index twice gives two draws. Without replacement
    every item comes equally often (one more for some where the size is no multiple) in each run of `len(self)` draws.

    Args:
        dataset: the source.
        options: `SamplerDatasetOptions`, a number of items (drawn with replacement), or None for the defaults.

    Raises:
        ArgumentError: if items are to be drawn from an empty source.

    Example:
        >>> from burn.data.dataset import InMemDataset
        >>> options = SamplerDatasetOptions().without_replacement().with_size(5).with_seed(42)
        >>> list(SamplerDataset(InMemDataset(range(10)), options))
        [6, 2, 7, 5, 8]
    """

    def __init__(self, dataset: Dataset[T], options: SamplerDatasetOptions | int | None = None) -> None:
        if options is None:
            options = SamplerDatasetOptions()
        elif not isinstance(options, SamplerDatasetOptions):
            options = SamplerDatasetOptions().with_size(options)
        self._dataset = source("SamplerDataset", dataset)
        size = size_of(dataset)
        self._size = options.size_config.resolve(size)
        self._replace = options.replace_samples
        self._rng = RngSource.resolve(options.rng_source)
        self._stack: list[int] = []
        self._lock = Lock()
        if self._size and not size:
            raise ArgumentError(
                f"[SamplerDataset] 'dataset' must have items to draw {self._size} from, got an empty data set"
            )

    @classmethod
    def with_replacement(cls, dataset: Dataset[T], size: int) -> SamplerDataset[T]:
        """`size` independent draws.

        Args:
            dataset: the source.
            size: number of draws.

        >>> from burn.data.dataset import InMemDataset
        >>> sampler = SamplerDataset.with_replacement(InMemDataset("abc"), 5)
        >>> len(sampler), sampler.is_with_replacement()
        (5, True)
        """
        return cls(dataset, SamplerDatasetOptions().with_fixed_size(size))

    @classmethod
    def without_replacement(cls, dataset: Dataset[T], size: int) -> SamplerDataset[T]:
        """`size` draws that use up the source before an item comes again.

        Args:
            dataset: the source.
            size: number of draws.

        >>> from burn.data.dataset import InMemDataset
        >>> sorted(SamplerDataset.without_replacement(InMemDataset("abc"), 3))
        ['a', 'b', 'c']
        """
        return cls(dataset, SamplerDatasetOptions().without_replacement().with_fixed_size(size))

    def is_with_replacement(self) -> bool:
        """Whether an item may come again before all others came.

        >>> from burn.data.dataset import InMemDataset
        >>> SamplerDataset.without_replacement(InMemDataset("abc"), 3).is_with_replacement()
        False
        """
        return self._replace

    def get(self, index: int) -> T:
        self.check_index(index)
        with self._lock.held:
            drawn = self._draw()
        return self._dataset.get(drawn)

    def __len__(self) -> int:
        return self._size

    def _draw(self) -> int:
        size = len(self._dataset)
        if self._replace:
            return self._rng.uniform(size)
        if not self._stack:
            self._stack = list(range(size)) * (self._size // size) + self._rng.reservoir(size, self._size % size)
            self._rng.shuffle(self._stack)
        return self._stack.pop()
