"""The container of gradients that backward returns."""

from burn._core import core

__all__ = ["Gradients"]


class Gradients:
    """Gradients of leaves, kept apart from the tensors. Mirrors `burn::tensor::Gradients`.

    Read it with `tensor.grad(gradients)`, `tensor.grad_remove(gradients)`, `tensor.grad_replace(gradients, grad)`.
    """

    __slots__ = ("_by_node",)

    def __init__(self, by_node):
        self._by_node = by_node

    def _get(self, node):
        grad = self._by_node.get(node)
        return None if grad is None else core.clone(grad)

    def _remove(self, node):
        return self._by_node.pop(node, None)

    def _replace(self, node, grad):
        self._by_node[node] = core.clone(grad)

    def __len__(self):
        return len(self._by_node)

    def __repr__(self):
        return f"Gradients({len(self)} leaves)"
