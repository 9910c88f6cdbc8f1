"""Options of random data sets: where randomness comes from, and how many items there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, SupportsIndex

from burn._arguments import finite, integer
from burn.data._rng import StdRng
from burn.errors import ArgumentError, ArgumentTypeError


class RngSource:
    """Where a shuffle takes its randomness (Burn: `RngSource`).

    Variants: `RngSource.Default` (the operating system), `RngSource.Seed(seed)`, `RngSource.Rng(generator)`. An int
    stands for a seed, a generator for itself: it advances by the draw of the seed of a new one.

    >>> RngSource.Default, RngSource.Seed(42)
    (RngSource.Default, RngSource.Seed(42))
    >>> RngSource.resolve(42).uniform(10) == RngSource.resolve(RngSource.Seed(42)).uniform(10)
    True
    """

    Default: ClassVar[RngSource]
    Seed: ClassVar[type[_Seed]]
    Rng: ClassVar[type[_Rng]]

    @staticmethod
    def resolve(source: RngSource | StdRng | int) -> StdRng:
        """The generator that a source stands for.

        Args:
            source: a RngSource, a generator or a seed.
        """
        if isinstance(source, StdRng):
            return source.fork()
        if isinstance(source, int) and not isinstance(source, bool):
            return StdRng.seed_from_u64(source)
        if isinstance(source, RngSource):
            return source._generator()
        raise ArgumentTypeError(
            f"[RngSource] 'source' must be a RngSource, a seed or a generator, got {type(source).__name__}"
        )

    def _generator(self) -> StdRng:
        return StdRng.from_system()

    def __repr__(self) -> str:
        return "RngSource.Default"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple:
        return "RngSource.Default" if type(self) is RngSource else super().__reduce_ex__(protocol)


@dataclass(frozen=True, repr=False)
class _Seed(RngSource):
    seed: int

    def __post_init__(self) -> None:
        StdRng.seed_from_u64(self.seed)  # refuses what is no seed

    def _generator(self) -> StdRng:
        return StdRng.seed_from_u64(self.seed)

    def __repr__(self) -> str:
        return f"RngSource.Seed({self.seed})"


@dataclass(frozen=True, repr=False)
class _Rng(RngSource):
    rng: StdRng

    def _generator(self) -> StdRng:
        return self.rng

    def __repr__(self) -> str:
        return "RngSource.Rng(...)"


RngSource.Default = RngSource()
RngSource.Seed = _Seed
RngSource.Rng = _Rng


class SizeConfig:
    """Number of items of a sampled data set (Burn: `SizeConfig`).

    Variants: `SizeConfig.Default` (as many as the source), `SizeConfig.Ratio(ratio)` of the source, and
    `SizeConfig.Fixed(size)`. A float stands for a ratio, an int for a fixed size.

    >>> SizeConfig.of(5), SizeConfig.of(0.5).resolve(9), SizeConfig.Default.resolve(9)
    (SizeConfig.Fixed(5), 4, 9)
    """

    Default: ClassVar[SizeConfig]
    Ratio: ClassVar[type[_Ratio]]
    Fixed: ClassVar[type[_Fixed]]

    @staticmethod
    def of(size: SizeConfig | int | float) -> SizeConfig:
        """The variant that a value stands for.

        Args:
            size: a SizeConfig, an int or a float.
        """
        if isinstance(size, SizeConfig):
            return size
        return _Ratio(size) if isinstance(size, float) else _Fixed(size)

    def resolve(self, source_size: int) -> int:
        """Number of items for a source of `source_size` items.

        Args:
            source_size: number of items of the source.
        """
        return source_size

    def __repr__(self) -> str:
        return "SizeConfig.Default"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple:
        return "SizeConfig.Default" if type(self) is SizeConfig else super().__reduce_ex__(protocol)


@dataclass(frozen=True, repr=False)
class _Ratio(SizeConfig):
    ratio: float

    def __post_init__(self) -> None:
        if finite("SizeConfig", "ratio", self.ratio) < 0:
            raise ArgumentError(f"[SizeConfig] 'ratio' must be a finite number of at least 0, got {self.ratio}")

    def resolve(self, source_size: int) -> int:
        return int(source_size * self.ratio)

    def __repr__(self) -> str:
        return f"SizeConfig.Ratio({self.ratio})"


@dataclass(frozen=True, repr=False)
class _Fixed(SizeConfig):
    size: int

    def __post_init__(self) -> None:
        integer("SizeConfig", "size", self.size, 0)

    def resolve(self, source_size: int) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"SizeConfig.Fixed({self.size})"


SizeConfig.Default = SizeConfig()
SizeConfig.Ratio = _Ratio
SizeConfig.Fixed = _Fixed
