"""The annotations that a class body states, on every supported Python."""

import inspect
import sys


def own_annotations(cls: type) -> dict:
    """Annotations of ``cls`` itself, without its bases; names not defined yet stay unevaluated.

    >>> class Point:
    ...     x: int
    >>> own_annotations(Point)
    {'x': <class 'int'>}
    """
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(cls)


def allows_none(annotation) -> bool:
    """Whether an annotation, evaluated or as text, is an Optional.

    >>> allows_none(int | None), allows_none("Optional[int]"), allows_none(int)
    (True, True, False)
    """
    import types
    import typing

    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    if text is not None:
        return text.startswith(("Optional[", "typing.Optional[")) or "None" in text.split(" | ")
    return types.NoneType in typing.get_args(annotation)
