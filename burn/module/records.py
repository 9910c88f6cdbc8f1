"""Records, as methods of modules."""

import functools
import typing

from burn._arguments import file_path, instance, shown
from burn.errors import ArgumentTypeError

from .group import ParamGroup

_Method = typing.TypeVar("_Method", bound=typing.Callable)


def _without_recorder(method: _Method) -> _Method:
    """Tells who passes a recorder or a device, as in Burn 0.21, that there is none to pass."""

    @functools.wraps(method)
    def checked(self, *args, **kwargs):
        foreign = [value for value in args[1:] if not isinstance(value, bool)]
        foreign += [kwargs[name] for name in ("recorder", "device") if name in kwargs]
        if foreign:
            raise ArgumentTypeError(
                f"[{method.__name__}] takes a path alone, got {shown(foreign[0])} with it: there are no recorders, "
                "files are burnpack, and parameters stay on the devices of the module"
            )
        return method(self, *args, **kwargs)

    return typing.cast(_Method, checked)


class ModuleRecords:
    """What every module can do with records; `Module` inherits it.

    >>> from burn.nn import LinearConfig
    >>> model = LinearConfig(2, 1).init()
    >>> LinearConfig(2, 1).init().load_record(model.into_record()).weight.id == model.weight.id
    True
    """

    __slots__ = ()

    def into_record(self):
        """The parameters and running statistics of the module as a record."""
        return self.into_record_group(ParamGroup.all())

    def into_record_group(self, group: ParamGroup):
        """The parameters of a group as a record.

        Args:
            group: which parameters.

        >>> from burn.nn import LinearConfig
        >>> LinearConfig(2, 1).init().into_record_group(ParamGroup.from_path("bias")).paths()
        ['bias']
        """
        from burn.store import ModuleRecord

        return ModuleRecord.from_module(self, group)

    def load_record(self, record) -> typing.Self:
        """The module with the values of a record.

        Args:
            record: a `ModuleRecord`.

        Raises:
            RecordValidationError: record and module do not fit each other.
        """
        from burn.store import ModuleRecord

        remedy = "read one with ModuleRecord.load(path), or take module.load_file(path)"
        return instance("load_record", "record", record, ModuleRecord, remedy).apply(self)

    try_load_record = load_record

    @_without_recorder
    def save_file(self, path, sync: bool = False) -> None:
        """Writes the parameters to a burnpack file, which is always the old one or the new one, never a part.

        Args:
            path: destination; ``.bpk`` is appended where it has no extension.
            sync: whether to wait until the file is on the disk, so that it survives a loss of power too.

        Raises:
            RecordIoError: the file cannot be written.

        >>> from burn.nn import LinearConfig
        >>> LinearConfig(2, 1).init().save_file("model")
        >>> LinearConfig(2, 1).init().load_file("model.bpk").num_params()
        3
        """
        self.into_record().save(file_path("save_file", path), sync)

    @_without_recorder
    def load_file(self, path) -> typing.Self:
        """The module with the values of a burnpack file, on the devices where its parameters are.

        Args:
            path: the file.

        Raises:
            RecordIoError: the file is missing, damaged, or of an older format.
            RecordValidationError: file and module do not fit each other.

        >>> from burn.nn import LinearConfig
        >>> LinearConfig(2, 1).init().save_file("model")
        >>> LinearConfig(2, 1).init().load_file("model").num_params()
        3
        """
        from burn.store import ModuleRecord

        return ModuleRecord.load(file_path("load_file", path)).apply(self)

    try_load_file = load_file
