"""Normalisation by groups of channels."""

from burn._ops import norm
from burn.config import Config
from burn.errors import ArgumentError
from burn.module import ONE_LINE, Module, Param
from burn.tensor import Tensor

from .._checks import check_channels, check_positive, check_size
from ..initializer import Initializer


def _affine(channels: int, affine: bool, device) -> tuple[Param | None, Param | None]:
    if not affine:
        return None, None
    return Initializer.Ones.init([channels], device), Initializer.Zeros.init([channels], device)


class GroupNormConfig(Config):
    """Configuration of `GroupNorm`. Mirrors `burn::nn::GroupNormConfig`.

    >>> from burn.device import Device
    >>> GroupNormConfig(3, 6).init(Device.flex())
    GroupNorm {num_groups: 3, num_channels: 6, epsilon: 0.00001, affine: true, params: 12}
    """

    num_groups: int
    num_channels: int
    epsilon: float = 1e-5
    affine: bool = True

    def init(self, device=None) -> "GroupNorm":
        """The layer with gamma 1 and beta 0; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, groups that do not divide the channels, an epsilon that
                is not finite and positive.
        """
        groups = check_size("GroupNormConfig", "num_groups", self.num_groups)
        channels = check_size("GroupNormConfig", "num_channels", self.num_channels)
        check_positive("GroupNormConfig", "epsilon", self.epsilon)
        if channels % groups:
            raise ArgumentError(
                f"[GroupNormConfig] 'num_groups' must divide 'num_channels', got {groups} groups of {channels} channels"
            )
        return GroupNorm(groups, channels, *_affine(channels, self.affine, device), self.epsilon)


class GroupNorm(Module):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta``, each sample by groups of channels.

    Mirrors `burn::nn::GroupNorm`. Mean and (biased) variance are those of a group of neighbouring channels of one
    sample; gamma and beta are by channel. Half precision is computed in f32. Fields: `gamma`, `beta` [num_channels] or
    None, `num_groups`, `num_channels`, `epsilon`.

    >>> layer = GroupNormConfig(1, 2).with_epsilon(1e-12).init()
    >>> layer.forward(Tensor([[1.0, 3.0], [10.0, 50.0]])).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    gamma: Param | None
    beta: Param | None
    num_groups: int
    num_channels: int
    epsilon: float

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        gamma: Param | None = None,
        beta: Param | None = None,
        epsilon: float = 1e-5,
    ):
        self.gamma = gamma
        self.beta = beta
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.epsilon = epsilon

    def forward(self, input: Tensor) -> Tensor:
        """Normalises each group.

        # Shapes

        - input: [batch, num_channels, ...], at least two axes
        - output: the same

        Raises:
            KindError: an input that is not Float.
            ShapeError: an axis 1 of another size.
        """
        check_channels(
            "GroupNorm", input, self.num_channels, "num_channels", None if self.gamma is None else self.gamma.val()
        )
        return _by_group(input, self.num_groups, self.gamma, self.beta, self.epsilon)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("num_groups", self.num_groups).add("num_channels", self.num_channels)
        return content.add("epsilon", self.epsilon).add("affine", self.gamma is not None)


class InstanceNormConfig(Config):
    """Configuration of `InstanceNorm`. Mirrors `burn::nn::InstanceNormConfig`.

    >>> from burn.device import Device
    >>> InstanceNormConfig(6).with_affine(False).init(Device.flex())
    InstanceNorm {num_channels: 6, epsilon: 0.00001, affine: false}
    """

    num_channels: int
    epsilon: float = 1e-5
    affine: bool = True

    def init(self, device=None) -> "InstanceNorm":
        """The layer with gamma 1 and beta 0; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, an epsilon that is not finite and positive.
        """
        channels = check_size("InstanceNormConfig", "num_channels", self.num_channels)
        check_positive("InstanceNormConfig", "epsilon", self.epsilon)
        return InstanceNorm(channels, *_affine(channels, self.affine, device), self.epsilon)


class InstanceNorm(Module):
    """`GroupNorm` with one channel a group. Mirrors `burn::nn::InstanceNorm`.

    Fields: `gamma`, `beta` [num_channels] or None, `num_channels`, `epsilon`.

    >>> layer = InstanceNormConfig(2).with_epsilon(1e-12).init()
    >>> layer.forward(Tensor([[[1.0, 3.0], [10.0, 50.0]]])).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """

    gamma: Param | None
    beta: Param | None
    num_channels: int
    epsilon: float

    def __init__(self, num_channels: int, gamma: Param | None = None, beta: Param | None = None, epsilon: float = 1e-5):
        self.gamma = gamma
        self.beta = beta
        self.num_channels = num_channels
        self.epsilon = epsilon

    def forward(self, input: Tensor) -> Tensor:
        """Normalises each channel of each sample.

        # Shapes

        - input: [batch, num_channels, ...], at least two axes
        - output: the same

        Raises:
            KindError: an input that is not Float.
            ShapeError: an axis 1 of another size.
        """
        check_channels(
            "InstanceNorm", input, self.num_channels, "num_channels", None if self.gamma is None else self.gamma.val()
        )
        return _by_group(input, self.num_channels, self.gamma, self.beta, self.epsilon)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("num_channels", self.num_channels).add("epsilon", self.epsilon)
        return content.add("affine", self.gamma is not None)


def _by_group(input, groups, gamma, beta, epsilon):
    vectors = (None if param is None else param.val() for param in (gamma, beta))
    return norm.group_norm(input, groups, *vectors, epsilon)
