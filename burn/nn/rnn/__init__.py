"""Recurrent layers: plain, with gated units, with long short-term memory; in one direction or both. Mirrors the items of
`burn::nn` for them."""

from burn.tensor._calls import teach_constructors as _teach_constructors

from .basic import BiRnn, BiRnnConfig, Rnn, RnnConfig, RnnState
from .gate_controller import GateController
from .gru import BiGru, BiGruConfig, Gru, GruConfig
from .lstm import BiLstm, BiLstmConfig, Lstm, LstmConfig
from .lstm_state import LstmState, OptionalInitialLstmState

__all__ = [
    "BiGru",
    "BiGruConfig",
    "BiLstm",
    "BiLstmConfig",
    "BiRnn",
    "BiRnnConfig",
    "GateController",
    "Gru",
    "GruConfig",
    "Lstm",
    "LstmConfig",
    "LstmState",
    "OptionalInitialLstmState",
    "Rnn",
    "RnnConfig",
    "RnnState",
]

_teach_constructors(globals())
