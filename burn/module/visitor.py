"""Walking over the parameters of a module, to look at them or to replace them."""


class ModuleVisitor:
    """Looks at every parameter: override the hooks that matter. Mirrors `burn::module::ModuleVisitor`.

    `enter_module` and `exit_module` bracket each field and element; the path of a parameter is the names entered and
    not left, joined with dots. ``container_type`` is ``Struct:<type>`` for a field, ``Enum:<type>`` for a variant,
    ``Vec``, ``Array`` or ``Tuple`` for an element.

    >>> class Shapes(ModuleVisitor):
    ...     def enter_module(self, name, container_type):
    ...         print(container_type, name)
    ...     def visit_float(self, param):
    ...         print("float", param.lazy_shape())
    ...     def visit_int(self, param):
    ...         print("int", param.lazy_shape())
    ...     visit_bool = visit_int
    ...     def visit_flag(self, flag):
    ...         print("flag", flag)
    ...     def exit_module(self, name, container_type):
    ...         pass
    ...     def visit_float_with_path(self, path, id, tensor):
    ...         print(".".join(path), tensor.shape)
    ...     visit_int_with_path = visit_bool_with_path = visit_float_with_path
    >>> burn.nn.LinearConfig(3, 2).with_bias(False).init().visit(Shapes())
    Struct:Linear weight
    float (3, 2)
    """

    def visit_float(self, param):
        """A Float parameter, or a running state as one.

        Args:
            param: the parameter.
        """

    def visit_int(self, param):
        """An Int parameter.

        Args:
            param: the parameter.
        """

    def visit_bool(self, param):
        """A Bool parameter.

        Args:
            param: the parameter.
        """

    def visit_flag(self, flag):
        """A flag.

        Args:
            flag: the flag.
        """

    def visit_float_with_path(self, path: list[str], id, tensor):
        """A Float tensor at a path; modules do not call it, programs that have tensors and paths may.

        Args:
            path: the names that lead to it.
            id: the id of its parameter.
            tensor: the tensor.
        """

    def visit_int_with_path(self, path: list[str], id, tensor):
        """An Int tensor at a path; see `visit_float_with_path`.

        Args:
            path: the names that lead to it.
            id: the id of its parameter.
            tensor: the tensor.
        """

    def visit_bool_with_path(self, path: list[str], id, tensor):
        """A Bool tensor at a path; see `visit_float_with_path`.

        Args:
            path: the names that lead to it.
            id: the id of its parameter.
            tensor: the tensor.
        """

    def enter_module(self, name: str, container_type: str):
        """Before a field or element.

        Args:
            name: the field, or the position of the element.
            container_type: what it is in.
        """

    def exit_module(self, name: str, container_type: str):
        """After a field or element.

        Args:
            name: the field, or the position of the element.
            container_type: what it is in.
        """


class ModuleMapper:
    """Replaces every parameter: each hook returns what stands in the new module. Mirrors `burn::module::ModuleMapper`.

    The hooks leave everything as it is unless they are overridden.

    >>> class Double(ModuleMapper):
    ...     def map_float(self, param):
    ...         return param.map(lambda tensor: tensor * 2.0)
    ...     def map_int(self, param):
    ...         return param
    ...     map_bool = map_int
    ...     def map_flag(self, flag):
    ...         return flag.with_value(False)
    ...     def enter_module(self, name, container_type):
    ...         print(container_type, name)
    ...     def exit_module(self, name, container_type):
    ...         pass
    >>> model = burn.nn.LinearConfig(1, 1).with_initializer(burn.nn.Initializer.Ones).with_bias(False).init()
    >>> model.map(Double()).weight.val().tolist()
    Struct:Linear weight
    [[2.0]]
    """

    def map_float(self, param):
        """The Float parameter to put in place of ``param``.

        Args:
            param: the parameter.
        """
        return param

    def map_int(self, param):
        """The Int parameter to put in place of ``param``.

        Args:
            param: the parameter.
        """
        return param

    def map_bool(self, param):
        """The Bool parameter to put in place of ``param``.

        Args:
            param: the parameter.
        """
        return param

    def map_flag(self, flag):
        """The flag to put in place of ``flag``.

        Args:
            flag: the flag.
        """
        return flag

    def enter_module(self, name: str, container_type: str):
        """Before a field or element.

        Args:
            name: the field, or the position of the element.
            container_type: what it is in.
        """

    def exit_module(self, name: str, container_type: str):
        """After a field or element.

        Args:
            name: the field, or the position of the element.
            container_type: what it is in.
        """


class PathTracking:
    """Mixin for visitors and mappers that need the path: `path()` gives the place that is being visited.

    >>> class Paths(PathTracking, ModuleVisitor):
    ...     def visit_float(self, param):
    ...         print(self.path())
    >>> burn.nn.LinearConfig(3, 2).init().visit(Paths())
    weight
    bias
    """

    def __init__(self):
        self._names: list[str] = []

    def enter_module(self, name: str, container_type: str):
        """Adds a name to the path.

        Args:
            name: the field, or the position of the element.
            container_type: what it is in.

        >>> tracking = PathTracking()
        >>> tracking.enter_module("weight", "Struct:Linear")
        >>> tracking.path()
        'weight'
        """
        self._names.append(name)

    def exit_module(self, name: str, container_type: str):
        """Takes the last name off the path.

        Args:
            name: the field, or the position of the element.
            container_type: what it is in.

        >>> tracking = PathTracking()
        >>> tracking.enter_module("weight", "Struct:Linear")
        >>> tracking.exit_module("weight", "Struct:Linear")
        >>> tracking.path()
        ''
        """
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

    Args:
        module: a Module.

    Returns:
        List of ParamId.

    >>> model = burn.nn.LinearConfig(3, 2).init()
    >>> list_param_ids(model) == [model.weight.id, model.bias.id]
    True
    """
    collect = ParamIds()
    module.visit(collect)
    return collect.ids
