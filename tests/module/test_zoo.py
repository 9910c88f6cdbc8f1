"""A module with every kind of field against the file, paths and ids that Burn wrote for it."""

from burn import Bool, Device, Int, Tensor
from burn.module import EnumModule, Module, ModuleVisitor, Param, PathTracking, RunningState, field
from burn.nn import EmbeddingConfig, LayerNormConfig, LinearConfig
from tests.golden import FOLDER, cases

CPU = Device.flex()
(CASE,) = (case for case in cases("records/records") if case["name"] == "zoo")


def zeros(*shape):
    return Param.from_tensor(Tensor.zeros(list(shape), CPU))


class RmsNorm(Module):
    def __init__(self):
        self.gamma = zeros(2)


class Conv2d(Module):
    def __init__(self):
        self.weight = zeros(2, 1, 3, 3)
        self.bias = zeros(2)


class Choice(EnumModule):
    Big: Conv2d
    Small: RmsNorm


class BatchNorm(Module):
    def __init__(self):
        self.gamma, self.beta = zeros(2), zeros(2)
        self.running_mean = RunningState(Tensor.zeros([2], CPU))
        self.running_var = RunningState(Tensor.zeros([2], CPU))


class Gate(Module):
    def __init__(self):
        self.input_transform = LinearConfig(3, 2).init(CPU)
        self.hidden_transform = LinearConfig(2, 2).init(CPU)


class Lstm(Module):
    def __init__(self):
        self.input_gate, self.forget_gate, self.output_gate, self.cell_gate = (Gate() for _ in range(4))


class Zoo(Module):
    array: object = field(array=True)

    def __init__(self):
        self.embed = EmbeddingConfig(5, 3).init(CPU)
        self.layers = [LinearConfig(3, 4).init(CPU), LinearConfig(4, 4, bias=False).init(CPU)]
        self.pair = (LinearConfig(4, 2).init(CPU), LayerNormConfig(2).init(CPU))
        self.array = [RmsNorm(), RmsNorm()]
        self.maybe = LinearConfig(2, 2).init(CPU)
        self.absent = None
        self.choice = Choice.Big(Conv2d())
        self.norm = BatchNorm()
        self.lstm = Lstm()
        self.ints = Param.from_tensor(Tensor.zeros([3], CPU, kind=Int))
        self.mask = Param.from_tensor(Tensor.zeros([2, 2], CPU, kind=Bool))
        self.scale = 1.5


class Listing(PathTracking, ModuleVisitor):
    def __init__(self):
        super().__init__()
        self.found = []

    def visit_float(self, param):
        self.found.append((self.path(), str(param.id), param.kind))

    visit_int = visit_bool = visit_float


def test_paths_ids_and_bytes(tmp_path):
    zoo = Zoo()
    assert zoo.num_params() == CASE["num_params"]
    loaded = zoo.load_file(FOLDER / "records/zoo.bpk")
    listing = Listing()
    loaded.visit(listing)
    assert listing.found == [(entry["path"], entry["id"], entry["kind"]) for entry in CASE["params"]]
    loaded.save_file(tmp_path / "zoo.bpk")
    assert (tmp_path / "zoo.bpk").read_bytes() == (FOLDER / "records/zoo.bpk").read_bytes()


def test_printed_form():
    # The stand-ins print themselves otherwise than the layers, which have tests of their own.
    loaded = Zoo().load_file(FOLDER / "records/zoo.bpk")
    plain = loaded.replace(choice=None, norm=None, lstm=None, array=None)
    lines = CASE["display"].splitlines()
    first, last = lines.index("  array: [0..2] {"), lines.index("  ints: ParamTensor {rank: 1, shape: [3], kind: int}")
    kept = [line for line in lines[first:last] if line.startswith(("  maybe", "  absent"))]
    assert [line for line in str(plain).splitlines() if not line.endswith(": None") or "absent" in line] == [
        *lines[:first],
        *kept,
        *lines[last:-2],
        "  params: 67",
        "}",
    ]
    start = str(loaded).index("  choice")
    assert str(loaded)[start:].splitlines()[0] == "  choice: Big {"
