"""Checkpoints put together by hand: what no PyTorch writes, and what old ones wrote."""

import io
import pickle
import struct
import tarfile
import zipfile

MAGIC = 0x1950A86A20F9469CFC6C


def value(plain):
    """The operations that push a plain value."""
    return pickle.dumps(plain, 2)[2:-1]


def named(path):
    """The operation that pushes a class or function."""
    module, _, name = path.rpartition(".")
    return b"c" + module.encode() + b"\n" + name.encode() + b"\n"


def tuple_of(*parts):
    """The operations that push a tuple of values that are pushed."""
    return b"(" + b"".join(parts) + b"t"


def call(path, *parts):
    """The operations that call a function."""
    return named(path) + tuple_of(*parts) + b"R"


def dict_of(**items):
    """The operations that push a dict."""
    return b"}(" + b"".join(value(key) + part for key, part in items.items()) + b"u"


def done(operations, protocol=2):
    """A whole pickle."""
    return b"\x80" + bytes([protocol]) + operations + b"."


def storage(kind="FloatStorage", key="0", numel=4, view=None):
    """The operations that push a storage."""
    parts = [value("storage"), named(f"torch.{kind}"), value(key), value("cpu"), value(numel)]
    return tuple_of(*parts, *([] if view is None else [view])) + b"Q"


def tensor(where=None, offset=0, shape=(2, 2), strides=(2, 1)):
    """The operations that push a tensor."""
    hooks = call("collections.OrderedDict")
    parts = [where or storage(), value(offset), value(shape), value(strides), value(False), hooks]
    return call("torch._utils._rebuild_tensor_v2", *parts)


def zipped(root, storages=None, method=zipfile.ZIP_STORED, folder="archive/", **texts):
    """A zip checkpoint; `root` is the operations of its pickle, or that pickle."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(folder + "data.pkl", root if root[:1] == b"\x80" else done(root))
        for name, text in texts.items():
            archive.writestr(folder + name, text)
        for key, data in (storages if storages is not None else {"0": struct.pack("<4f", 1, 2, 3, 4)}).items():
            archive.writestr(f"{folder}data/{key}", data)
    return out.getvalue()


def legacy(root, storages=None, keys=None, system=None):
    """A legacy checkpoint."""
    storages = {"0": struct.pack("<q4f", 4, 1, 2, 3, 4)} if storages is None else storages
    system = {"protocol_version": 1001, "little_endian": True} if system is None else system
    heads = [pickle.dumps(part, 2) for part in (MAGIC, 1001, system)]
    return b"".join([*heads, done(root), pickle.dumps(list(storages) if keys is None else keys, 2), *storages.values()])


def tarred(extra=(), numel=4, view=True, rank=2, offset=1):
    """A tar checkpoint with a tensor, its window [2, 2] in a view of a storage of six floats 0 to 5."""
    storages = pickle.dumps(1, 2) + done(tuple_of(value(10), value("cpu"), named("torch.FloatStorage")))
    storages += struct.pack("<q6f", 6, *range(6))
    storages += pickle.dumps([(11, 10, 1, numel + 1)] if view else [], 2)
    tensors = pickle.dumps(1, 2) + done(tuple_of(value(20), value(11 if view else 10), named("torch.FloatTensor")))
    tensors += struct.pack(
        f"<2i{2 * rank + 1}q", rank, 0, *[2] * rank, *[2, 1] * (rank // 2), *[1] * (rank % 2), offset
    )
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        parts = {"storages": storages, "tensors": tensors, "pickle": done(dict_of(w=value("20") + b"Q"))}
        for name, data in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for member in extra:
            archive.addfile(member)
    return out.getvalue()
