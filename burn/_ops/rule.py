"""Compiles gradient expressions into programs that the core runs without Python.

An expression is Python syntax over the op's input names, `out`, the incoming gradient `g`, the op's scalar attribute `s`,
numbers, and ops by name: `"g * rhs"`, `"tanh_bwd(out, g)"`. `expand(e)` repeats to the input's shape, `zeros()` is a zero
gradient. What an expression does not name is not saved.

Where the incoming gradient is 0 the one passed on is 0, whatever the other values are: what begins with `g` is multiplied
and divided by the ops `mul_bwd` and `div_bwd`, which give 0 there and not the NaN of 0 * inf, 0 * NaN or 0 / 0.
"""

import ast

from burn._core import core

USES_OUT, USES_SHAPE = 8, 16
_REG_OUT, _REG_G, _FIRST_TEMP = 3, 4, 5
_APPLY, _SCALAR, _EXPAND, _ZEROS = range(4)
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def _begins_with_g(node):
    while isinstance(node, ast.BinOp | ast.UnaryOp):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mult | ast.Div):
            return False
        node = node.left if isinstance(node, ast.BinOp) else node.operand
    return isinstance(node, ast.Name) and node.id == "g"


class _Compiler:
    def __init__(self, inputs, ops):
        self.inputs, self.ops, self.code, self.uses = inputs, ops, [], 0

    def emit(self, kind, op, a=-1, b=-1, c=-1, from_attr=0, value=0.0):
        self.code.append((kind, op, a, b, c, from_attr, value))
        return _FIRST_TEMP + len(self.code) - 1

    def name(self, name):
        if name == "g":
            return _REG_G
        if name == "out":
            self.uses |= USES_OUT
            return _REG_OUT
        i = self.inputs.index(name)
        self.uses |= 1 << i
        return i

    def scalar(self, node):
        if isinstance(node, ast.Constant):
            return (0, float(node.value))
        if isinstance(node, ast.Name) and node.id == "s":
            return (1, 0.0)
        return None

    def chain(self, name, left, right):
        """A gradient times or over something, with its zeros kept."""
        number = self.scalar(right)
        if number is not None:
            return self.emit(_SCALAR, self.ops[name + "_bwd_scalar_left"], self.visit(left), from_attr=number[0])
        return self.emit(_APPLY, self.ops[name + "_bwd"], self.visit(right), self.visit(left))

    def binary(self, name, left, right):
        if name in ("mul", "div") and _begins_with_g(left) and not isinstance(right, ast.Constant):
            return self.chain(name, left, right)
        number = self.scalar(right)
        if number is not None:
            return self.emit(
                _SCALAR, self.ops[name + "_scalar"], self.visit(left), from_attr=number[0], value=number[1]
            )
        number = self.scalar(left)
        if number is not None:
            return self.emit(
                _SCALAR, self.ops[name + "_scalar_left"], self.visit(right), from_attr=number[0], value=number[1]
            )
        return self.emit(_APPLY, self.ops[name], self.visit(left), self.visit(right))

    def visit(self, node):
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.BinOp):
            return self.binary(_OPERATORS[type(node.op)], node.left, node.right)
        if isinstance(node, ast.UnaryOp):
            return self.emit(_APPLY, self.ops["neg"], self.visit(node.operand))
        name = node.func.id
        if name == "expand":
            self.uses |= USES_SHAPE
            return self.emit(_EXPAND, None, self.visit(node.args[0]))
        if name == "zeros":
            return self.emit(_ZEROS, None)
        if len(node.args) == 2 and self.scalar(node.args[1]) is not None:
            return self.binary(name, *node.args)
        return self.emit(_APPLY, self.ops[name], *[self.visit(a) for a in node.args])


def compile_rule(expressions, inputs, ops):
    """The rule of an op from one expression an input; None stands for an input without gradient."""
    programs, uses = [], []
    for text in expressions:
        if text is None:
            programs.append(None)
            uses.append(0)
            continue
        compiler = _Compiler(inputs, ops)
        result = compiler.visit(ast.parse(text, mode="eval").body)
        programs.append(core.Program(compiler.code, result))
        uses.append(compiler.uses)
    return core.Rule(programs, None, uses)


def python_rule(function, uses):
    """The rule of a heavy op: function(node, g) gives a gradient (or None) for each input.

    uses names, for each input, what its gradient needs: "0", "1", "2" for the inputs, "out", "shape".
    """
    bits = {"0": 1, "1": 2, "2": 4, "out": USES_OUT, "shape": USES_SHAPE}
    return core.Rule(None, function, [sum(bits[w] for w in u.split()) for u in uses])
