"""Walking over the parameters of a module, to look at them or to replace them."""


class ModuleVisitor:
    """Looks at every parameter: override the hooks that matter. Mirrors `burn::module::ModuleVisitor`.

    `enter_module` and `exit_module` bracket each field and element; the path of a parameter is the names entered and
    not left, joined with dots. ``container_type`` is ``Struct:<type>`` for a field, ``Enum:<type>`` for a variant,
    ``Vec``, ``Array`` or ``Tuple`` for an element.

    >>> class Shapes(ModuleVisitor):
    ...     def visit_float(self, param):
    ...         print(param.shape)
    """

    def visit_float(self, param):
        """A Float parameter, or a running state as one."""

    def visit_int(self, param):
        """An Int parameter."""

    def visit_bool(self, param):
        """A Bool parameter."""

    def visit_flag(self, flag):
        """A flag."""

    def enter_module(self, name: str, container_type: str):
        """Before a field or element."""

    def exit_module(self, name: str, container_type: str):
        """After a field or element."""


class ModuleMapper:
    """Replaces every parameter: each hook returns what stands in the new module. Mirrors `burn::module::ModuleMapper`.

    The hooks leave everything as it is unless they are overridden.

    >>> class Double(ModuleMapper):
    ...     def map_float(self, param):
    ...         return param.map(lambda tensor: tensor * 2.0)
    """

    def map_float(self, param):
        """The Float parameter to put in place of ``param``."""
        return param

    def map_int(self, param):
        """The Int parameter to put in place of ``param``."""
        return param

    def map_bool(self, param):
        """The Bool parameter to put in place of ``param``."""
        return param

    def map_flag(self, flag):
        """The flag to put in place of ``flag``."""
        return flag

    def enter_module(self, name: str, container_type: str):
        """Before a field or element."""

    def exit_module(self, name: str, container_type: str):
        """After a field or element."""


class PathTracking:
    """Mixin for visitors and mappers that need the path: `path()` gives the place that is being visited."""

    def __init__(self):
        self._names: list[str] = []

    def enter_module(self, name: str, container_type: str):
        self._names.append(name)

    def exit_module(self, name: str, container_type: str):
        self._names.pop()

    def path(self) -> str:
        """The path of the parameter at hand, such as ``layers.0.weight``."""
        return ".".join(self._names)


class ParamIds(ModuleVisitor):
    """Collects the ids of all parameters in visit order."""

    def __init__(self):
        self.ids = []

    def visit_float(self, param):
        self.ids.append(param.id)

    visit_int = visit_bool = visit_float


def list_param_ids(module) -> list:
    """Ids of the Float, Int and Bool parameters of a module in visit order; flags are left out.

    Mirrors `burn::module::list_param_ids`.
    """
    collect = ParamIds()
    module.visit(collect)
    return collect.ids
