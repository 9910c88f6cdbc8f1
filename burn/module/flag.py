"""Flags: switches of a module, such as the training behaviour of a dropout, that are no tensors."""

from burn._arguments import truth

from .param_id import ParamId


class Flag:
    """A switch that `valid()`, `train()`, `freeze()` and their group forms turn.

    It has an id, so a `ParamGroup` can choose it; it is on no device and in no record. Mirrors `Param<Flag>`.

    >>> flag = Flag(True)
    >>> flag.is_enabled(), flag.valid().is_enabled(), flag.valid().train().is_enabled(), flag.with_value(False)
    (True, False, True, disabled)
    >>> flag.valid().is_active(), flag.clone()
    (True, enabled)
    """

    __slots__ = ("_configured", "_enabled", "id")
    kind = "flag"

    def __init__(self, value: bool, id: ParamId | None = None):
        """A flag with this value, now and as its configuration."""
        self.id = ParamId() if id is None else id
        self._enabled = self._configured = truth("Flag", "value", value)

    def is_enabled(self) -> bool:
        """The value in force."""
        return self._enabled

    def is_active(self) -> bool:
        """The configured value: `valid()` keeps it, `train()` restores it."""
        return self._configured

    def with_value(self, value: bool) -> "Flag":
        """A flag with the same id and another value, which is also its configuration."""
        return Flag(value, self.id)

    def clone(self) -> "Flag":
        """An independent copy."""
        return self._with(self._enabled)

    def valid(self) -> "Flag":
        """Off, the configuration remembered."""
        return self._with(False)

    def train(self) -> "Flag":
        """As configured."""
        return self._with(self._configured)

    def _with(self, enabled: bool) -> "Flag":
        flag = Flag(self._configured, self.id)
        flag._enabled = enabled
        return flag

    def _format(self, settings) -> str:
        return str(self)

    def __str__(self):
        return "enabled" if self._enabled else "disabled"

    __repr__ = __str__

    def __bool__(self):
        return self._enabled

    def __reduce__(self):
        return _restore, (self.id, self._enabled, self._configured)


def _restore(id, enabled, configured):
    flag = Flag(configured, id)
    flag._enabled = enabled
    return flag
