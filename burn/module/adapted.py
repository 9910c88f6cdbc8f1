"""The methods of a module that change how its parameters are computed."""

import typing


class ModuleReparameterization:
    """Methods of `Module` for parameters that are computed from what is stored; `Module` inherits them.

    >>> from burn.module import Lora
    >>> model = burn.nn.LinearConfig(2, 3).init()
    >>> adapted = model.apply_lora(Lora(1, 2.0))
    >>> adapted.num_params(), adapted.materialize().num_params()
    (14, 9)
    """

    __slots__ = ()

    def apply_reparameterization(self, reparameterizer) -> typing.Self:
        """The module with what a reparameterizer attaches to its Float parameters.

        Args:
            reparameterizer: a `Reparameterizer`, which is asked about each parameter.

        Raises:
            ModuleError: a parameter is reparameterized already; the message names it.

        >>> from burn.module import WeightNorm
        >>> burn.nn.LinearConfig(2, 3).init().apply_reparameterization(WeightNorm()).into_record().paths()
        ['weight', 'weight.weight_norm.g', 'bias']
        """
        from .reparameterization import reparameterized

        return reparameterized(self, reparameterizer)

    def apply_lora(self, lora) -> typing.Self:
        """The module frozen, with low-rank adapters to train.

        Args:
            lora: a `Lora`: rank, scale, and which parameters.

        Raises:
            ModuleError: a parameter is reparameterized already; the message names it.

        >>> from burn.module import Lora, ParamGroup
        >>> model = burn.nn.LinearConfig(2, 3).init().apply_lora(Lora(1, 2.0))
        >>> model.into_record_group(ParamGroup.from_regex(r"(^|\\.)lora\\.(a|b)$")).paths()
        ['weight.lora.a', 'weight.lora.b']
        """
        from burn._arguments import instance

        from .lora import Lora

        return self.apply_reparameterization(instance("apply_lora", "lora", lora, Lora, "use Lora(rank, alpha)"))

    def materialize(self) -> typing.Self:
        """The module with all reparameterizations folded into the parameters, which keep their ids.

        What is not reparameterized stays as it is, initialised or not. It cannot be undone: keep the module itself if
        its adapters are still needed.

        >>> from burn.module import Lora
        >>> model = burn.nn.LinearConfig(2, 3).init().apply_lora(Lora(1, 2.0)).materialize()
        >>> model.weight.adapter() is None, model.into_record().paths()
        (True, ['weight', 'bias'])
        """
        return self._transform("materialize")
