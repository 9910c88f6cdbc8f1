"""The recurrent layers that are compared: one of each kind, for the inputs that it gets."""

from functools import cache

HIDDEN = 256


def burn_recurrent():
    """recurrent(kind, x): the outputs of a layer for x [batch, steps, d_input]; its parameters are tracked where x is."""
    from burn import nn

    @cache
    def layer(kind, d_input, device):
        return getattr(nn, kind + "Config")(d_input, HIDDEN, True).init(device)

    def recurrent(kind, x):
        output = layer(kind, x.shape[2], x.device)(x)
        return output[0] if isinstance(output, tuple) else output

    return {"recurrent": recurrent}


def torch_recurrent(torch):
    """The same, and recurrent_gradients(kind, x): the gradients of x and of all parameters."""

    @cache
    def layer(kind, d_input, tracked):
        both = kind.startswith("Bi")
        made = getattr(torch.nn, kind.removeprefix("Bi").upper())(d_input, HIDDEN, batch_first=True, bidirectional=both)
        return made.requires_grad_(tracked)

    def recurrent(kind, x):
        return layer(kind, x.shape[2], x.requires_grad)(x)[0]

    def recurrent_gradients(kind, x):
        return torch.autograd.grad(recurrent(kind, x).sum(), (x, *layer(kind, x.shape[2], True).parameters()))

    return {"recurrent": recurrent, "recurrent_gradients": recurrent_gradients}
