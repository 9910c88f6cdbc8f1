"""Normalisation by the statistics of a batch."""

import math

from burn.config import Config
from burn.errors import ArgumentError
from burn.module import ONE_LINE, Flag, Module, Param, RunningState
from burn.tensor import Tensor
from burn.tensor import module as functional

from .._checks import check_channels, check_positive, check_size
from ..initializer import Initializer


class BatchNormConfig(Config):
    """Configuration of `BatchNorm`. Mirrors `burn::nn::BatchNormConfig`.

    >>> from burn.device import Device
    >>> BatchNormConfig(3).init(Device.flex())
    BatchNorm {num_features: 3, momentum: 0.1, epsilon: 0.00001, params: 12}
    """

    num_features: int
    epsilon: float = 1e-5
    momentum: float = 0.1

    def init(self, device=None) -> "BatchNorm":
        """The layer with gamma 1, beta 0, running mean 0 and variance 1; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer, an epsilon that is not finite and positive, a momentum
                outside [0, 1].
        """
        size = [check_size("BatchNormConfig", "num_features", self.num_features)]
        check_positive("BatchNormConfig", "epsilon", self.epsilon)
        if not (math.isfinite(self.momentum) and 0.0 <= self.momentum <= 1.0):
            raise ArgumentError(f"[BatchNormConfig] 'momentum' must be from 0 to 1, got {self.momentum}")
        mean, variance = Initializer.Zeros.init(size, device).val(), Initializer.Ones.init(size, device).val()
        return BatchNorm(
            Initializer.Ones.init(size, device),
            Initializer.Zeros.init(size, device),
            RunningState(mean.detach()),
            RunningState(variance.detach()),
            self.momentum,
            self.epsilon,
        )


class BatchNorm(Module):
    """``(x - mean) / sqrt(variance + epsilon) * gamma + beta`` by channel, which is axis 1. Mirrors `burn::nn::BatchNorm`.

    While its flag is on and the input is on an autodiff device the layer trains: mean and variance are those of the
    batch over all axes but 1, and the running statistics become ``running * (1 - momentum) + batch * momentum``.
    Otherwise it uses the running statistics. The variance is the biased one in both (PyTorch keeps the unbiased one
    in its running statistics). A channel whose statistics are not finite, and an empty batch, leave the running
    statistics as they are. Fields: `gamma`, `beta`, `running_mean`, `running_var`, each [num_features]; `training`,
    `momentum`, `epsilon`.

    >>> layer = BatchNormConfig(1).with_epsilon(1e-12).init(burn.Device.flex().autodiff())
    >>> x = Tensor([[1.0], [3.0]], layer.devices()[0])
    >>> layer.forward(x).tolist(), layer.running_mean.value_sync().round().tolist()
    ([[-1.0], [1.0]], [0.0])
    """

    gamma: Param
    beta: Param
    training: Flag
    running_mean: RunningState
    running_var: RunningState
    momentum: float
    epsilon: float

    def __init__(
        self,
        gamma: Param,
        beta: Param,
        running_mean: RunningState,
        running_var: RunningState,
        momentum: float = 0.1,
        epsilon: float = 1e-5,
    ):
        self.gamma = gamma
        self.beta = beta
        self.training = Flag(True)
        self.running_mean = running_mean
        self.running_var = running_var
        self.momentum = momentum
        self.epsilon = epsilon

    def forward(self, input: Tensor) -> Tensor:
        """Normalises each channel.

        # Shapes

        - input: [batch, num_features, ...], at least two axes
        - output: the same

        Raises:
            KindError: an input that is not Float.
            ShapeError: an axis 1 of another size.
        """
        gamma, beta = self.gamma.val(), self.beta.val()
        check_channels("BatchNorm", input, gamma._dims[0], "num_features", gamma)
        mean, variance = self.running_mean.value_sync(), self.running_var.value_sync()
        if not self.training.is_enabled() or not input.is_autodiff():
            return functional.batch_norm(input, gamma, beta, mean, variance, self.epsilon)
        output, batch_mean, batch_variance = functional.batch_norm_train(input, gamma, beta, self.epsilon)
        usable = batch_mean.is_finite().bool_and(batch_variance.is_finite())
        for state, old, new in (
            (self.running_mean, mean, batch_mean),
            (self.running_var, variance, batch_variance),
        ):
            state.update(old.mask_where(usable, old * (1.0 - self.momentum) + new * self.momentum))
        return output

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        content.add("num_features", self.gamma.lazy_shape()[0]).add("momentum", self.momentum)
        content.add("epsilon", self.epsilon)
        return content if self.training.is_enabled() else content.add("training", self.training)
