"""Names that are asked for and not there: those of Burn that wait for later work, and those that it has no longer.

A change that brings a name takes it out of these lists; `tests/tensor/test_coverage.py` fails where one is in both places.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NoReturn

from burn.errors import NotYetError

__all__ = ["GONE", "WAITING", "LackingNames", "check_waiting", "lacks", "shown"]

_QUANTIZED_TENSORS = "quantized tensors"
_QUANTIZED, _DISTRIBUTED, _ASYNC = "quantized operations", "distributed operations", "asynchronous reads"
_VISION = "the vision library"
_CAPTURE, _EXTENSION = "capture of graphs", "the extension names"
_SHARE = "numpy(), from_numpy() and DLPack share the memory of a tensor"
_BACKEND, _REMOTE, _TRAINING = "a backend of its own", "remote devices", "the training library"
_DEVICES = "Device.flex() computes on the processor, Device.cuda() on a GPU of NVIDIA"
_LOOP = "a loop over the batches, with optimizer.step(lr, model, grads)"
_SKILL = "compute it from the outputs in the loop"
_RECORDS = "model.save_file(path) and model.load_file(path) need none; docs/migrating.md has the way for old files"
_TRANSFORMED = "map the items with MapperDataset"

_OF_TRAINING = """
    EvaluationResult Evaluator Interrupter Learner LearningResult MultiDeviceStepError RLResult SupervisedTraining
    TrainingError"""
_METRICS = "AccuracyMetric AurocMetric ClassReduction LossMetric Metric Numeric"

# The owner and the name: what it waits for, and what to do instead.
WAITING = {
    "Tensor.quantize": (_QUANTIZED, 'cast("f16") halves the memory'),
    "Tensor.quantize_dynamic": (_QUANTIZED, 'cast("f16") halves the memory'),
    "Tensor.dequantize": (_QUANTIZED, "no tensor is quantized, so each can be used as it is"),
    "TensorData.quantized": (_QUANTIZED, 'from_bytes(codes, shape, "i8") holds the integers'),
    "DType.QFloat": (_QUANTIZED, "DType.I8 holds the integers"),
    "Module.quantize_weights": (_QUANTIZED_TENSORS, "a module of f16 or bf16 tensors takes half the memory"),
    "Module.quantize_weights_group": (_QUANTIZED_TENSORS, "a module of f16 or bf16 tensors takes half the memory"),
    "Module.apply_qlora": (_QUANTIZED_TENSORS, "apply_lora() keeps the base as it is"),
    "burn.module.QLora": (_QUANTIZED_TENSORS, "Lora keeps the base as it is"),
    "burn.module.Quantizer": (_QUANTIZED_TENSORS, "a module of f16 or bf16 tensors takes half the memory"),
    "Tensor.is_distributed": (_DISTRIBUTED, "no tensor is distributed"),
    "Tensor.set_distributed": (_DISTRIBUTED, "grad_replace() puts a gradient in that was averaged elsewhere"),
    "Tensor.to_data_async": (_ASYNC, "to_data() waits for the values"),
    "Tensor.into_data_async": (_ASYNC, "into_data() waits for the values"),
    "Tensor.into_scalar_async": (_ASYNC, "into_scalar() waits for the value"),
    "Tensor.try_into_scalar_async": (_ASYNC, "try_into_scalar() waits for the value"),
    "burn.tensor.capture": (_CAPTURE, "call the function each time"),
    "burn.tensor.Graph": (_CAPTURE, "call the function each time"),
    "burn.nn.loss.GramMatrixLoss": (_VISION, "MseLoss() of a @ a.transpose(), with a as [channels, height * width]"),
    "burn.nn.loss.GramMatrixLossConfig": (
        _VISION,
        "MseLoss() of a @ a.transpose(), with a as [channels, height * width]",
    ),
    "Tensor.into_bridge": (_EXTENSION, _SHARE),
    "Tensor.from_bridge": (_EXTENSION, _SHARE),
    "Tensor.into_dispatch": (_EXTENSION, _SHARE),
    "Tensor.from_dispatch": (_EXTENSION, _SHARE),
    "Tensor.into_primitive": (_EXTENSION, _SHARE),
    "Tensor.try_into_primitive": (_EXTENSION, _SHARE),
    "Tensor.from_primitive": (_EXTENSION, _SHARE),
    "burn.tensor.PrimitiveConversionError": (_EXTENSION, _SHARE),
    "burn.backend.extension": (_EXTENSION, _SHARE),
    "burn.tensor.quantization": (_QUANTIZED_TENSORS, 'cast("f16") halves the memory'),
    "burn.tensor.distributed": (_DISTRIBUTED, "grad_replace() puts a gradient in that was averaged elsewhere"),
    **{f"Device.{name}": (_BACKEND, _DEVICES) for name in ("cpu", "metal", "rocm", "vulkan", "webgpu", "wgpu")},
    "Device.wgpu_options": (_BACKEND, _DEVICES),
    "Device.remote_options": (_REMOTE, _DEVICES),
    "Device.capture": (_CAPTURE, "call the function each time"),
    "burn.remote": (_REMOTE, _DEVICES),
    "burn.rl": ("the library of reinforcement learning", _LOOP),
    "burn.vision": (_VISION, "NumPy and Pillow prepare images; Tensor.from_numpy() takes them"),
    **{f"burn.train.{name}": (_TRAINING, _LOOP) for name in _OF_TRAINING.split()},
    **{f"burn.train.metric.{name}": (_TRAINING, _SKILL) for name in _METRICS.split()},
    "burn.lr_scheduler.CosineAnnealingLrSchedulerConfig": (
        "the other schedulers",
        "a class of your own with step(), derived from LrScheduler",
    ),
    "burn.data.dataset.SqliteDataset": ("data sets in files", "sqlite3 of Python, in the get() of a Dataset"),
    "burn.data.dataset.ImageDatasetItem": (_VISION, _TRANSFORMED),
    "burn.data.dataset.PixelData": (_VISION, _TRANSFORMED),
}

# Names of Burn 0.21 that 0.22 has no longer, or advises against: what to write instead.
GONE = {
    "burn.record": f"there are no recorders: {_RECORDS}",
    "burn.collective": "collective operations will be burn.tensor.distributed",
    "burn.module.AutodiffModule": "it is part of Module: model.train(), model.valid()",
    "burn.module.ModuleDisplay": "each Module has custom_settings() and custom_content() to override",
    "burn.module.Ignored": "mark the field: name = field(skip=True)",
    "burn.module.Reinitializer": "Initializer in burn.nn makes new parameters, a ModuleMapper changes those that are there",
    "Module.from_inner": "call model.train()",
    "ParamId.serialize": "call str(id)",
    "ParamId.deserialize": "call ParamId.parse(text)",
    "burn.train.LearnerBuilder": "SupervisedTraining takes its place and waits for the training library; until then: "
    + _LOOP,
    "burn.optim.SimpleOptimizer": "derive from Optimizer; ModuleOptimizer runs it over a module",
    "burn.optim.OptimizerAdaptor": "ModuleOptimizer(optimizer) runs one over a module",
    "burn.store.Recorder": f"there are no recorders: {_RECORDS}",
    "burn.store.TensorSnapshot": "it is PackTensor in burn.store.pack",
    "ModuleStore.get_snapshot": "call get_tensor(name)",
    "ModuleStore.get_all_snapshots": "call get_all_tensors()",
    "burn.tensor.ops.PaddedConvOptions": "ConvOptions takes pairs: ConvOptions.new_with_padding(...)",
    "burn.tensor.backend": "no type has a backend: a Device has, and its constructor chooses",
    **{
        f"burn.backend.{name}": f"no type has a backend: a Device has, and its constructor chooses. {_DEVICES}"
        for name in ("Candle", "Cuda", "Flex", "LibTorch", "NdArray", "Wgpu")
    },
    "burn.backend.Autodiff": "it is a state of a device: device.autodiff()",
    **{
        f"Device.{name}": f"Burn gives that backend up. {_DEVICES}"
        for name in ("candle", "libtorch", "libtorch_cuda", "libtorch_mps", "libtorch_vulkan")
    },
}


def check_waiting(owner: str, name: str) -> None:
    """Raises where a name of a class or a module is one that waits (NotYetError), or is gone (AttributeError)."""
    path = f"{owner}.{name}"
    if path in WAITING:
        raise _waiting(owner, name)
    if path in GONE:
        raise _gone(owner, name)


def _waiting(owner: str, name: str) -> NotYetError:
    what, instead = WAITING[f"{owner}.{name}"]
    error = NotYetError(f"[{owner}.{name}] is a name of Burn that waits for {what}; until then: {instead}")
    error.name = name
    return error


def _gone(owner: str, name: str) -> AttributeError:
    return AttributeError(f"[{owner}.{name}] is not there: {GONE[f'{owner}.{name}']}", name=name)


class _Lack:
    """A name that a class lacks: asked for it, the class or one of its objects raises what `refuse(owner, name)` makes.

    `__getattr__` would do the same, but makes every use of every other name slower.
    """

    __slots__ = ("name", "refuse")

    def __init__(self, name, refuse):
        self.name, self.refuse = name, refuse

    def __get__(self, of, owner) -> NoReturn:
        raise self.refuse(owner, self.name)


def lacks(cls: type, name: str, refuse: Callable[[type, str], Exception]) -> None:
    """Lets a class that is of the type LackingNames say, by an AttributeError, why it lacks a name."""
    setattr(cls, name, _Lack(name, refuse))


def _refused(refuse: Callable[[str, str], Exception], owner: str, _: type, name: str) -> Exception:
    return refuse(owner, name)


def lack_waiting(cls: type) -> None:
    """Lets a class say of its names in the lists what they wait for, or what to write instead."""
    for table, refuse in ((WAITING, _waiting), (GONE, _gone)):
        for path in table:
            owner, _, word = path.rpartition(".")
            if owner == cls.__name__:
                lacks(cls, word, partial(_refused, refuse, owner))


class LackingNames(type):
    """The type of classes that have names in the list: asked for one, they say what it waits for. `dir` does not show these."""

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        super().__init__(name, bases, space)
        lack_waiting(cls)

    def __dir__(cls) -> list[str]:
        return shown(cls, super().__dir__())


def shown(cls: type, names: Iterable[str]) -> list[str]:
    """The names without those that a class lacks."""
    hidden = {name for each in cls.__mro__ for name, value in vars(each).items() if isinstance(value, _Lack)}
    return [name for name in names if name not in hidden]
