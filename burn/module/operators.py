"""Operators of a parameter: it has none, its tensor has them; the error says so."""

from burn.errors import ArgumentTypeError

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
}  # fmt: skip
_OTHERS = {"neg": "-param.val()", "getitem": "param.val()[...]", "array": "param.val().numpy()"}


def refuse_operators(cls: type) -> None:
    """Lets the operators of a class raise an error that names its `val()`."""
    for name, sign in _BINARY.items():
        setattr(cls, f"__{name}__", _refusal(f"param.val() {sign} ..."))
        setattr(cls, f"__r{name}__", _refusal(f"... {sign} param.val()"))
    for name, form in _OTHERS.items():
        setattr(cls, f"__{name}__", _refusal(form))


def _refusal(form: str):
    def refuse(self, *_):
        raise ArgumentTypeError(f"[{type(self).__name__}] a parameter has no operators, its tensor has: use {form}")

    return refuse
