"""A machine for pickles that can do nothing but build plain values.

It knows no class and calls no function: what a pickle names is kept as a name, what it calls is understood if it is one of
a few calls that PyTorch makes for tensors (`rebuild.py`), and an opaque object otherwise. Sizes are bounded.
"""

import struct
from collections.abc import Callable

from burn.store.source import Source

from .rebuild import call
from .values import Budget, Damaged, Global, OddKey, Opaque

MAX_PICKLE_SIZE = 100 << 20
# Values take up to a hundred times the bytes that make them.
MAX_OPERATIONS = 10_000_000
MAX_NAME = 1000
_FIRST_WINDOW = 1 << 20
_MARK = object()


class _Short(Exception):
    """The bytes at hand end before the pickle does."""


def load_at(source: Source, start: int, persistent: Callable) -> tuple[object, int]:
    """Reads the pickle that starts at a position.

    Args:
        source: the bytes.
        start: the position.
        persistent: makes a value of what a pickle says about something that lies outside of it.

    Returns:
        The value, and the position after it.

    Raises:
        Damaged: the pickle is cut off, malformed, or larger than the limits.
    """
    window = _FIRST_WINDOW
    while True:
        end = min(start + window, source.size)
        try:
            value, used = _Machine(bytes(source.read(start, end)), persistent).run()
            return value, start + used
        except _Short as error:
            if end == source.size:
                raise Damaged("is damaged: a pickle in it was cut off; save or copy it again") from error
            if window >= MAX_PICKLE_SIZE:
                raise Damaged(f"holds a pickle of more than {MAX_PICKLE_SIZE} bytes") from error
            window = min(window * 10, MAX_PICKLE_SIZE)


class _Machine:
    """Runs one pickle."""

    def __init__(self, data: bytes, persistent: Callable):
        self.data = data
        self.at = 0
        self.stack: list = []
        self.memo: dict[int, object] = {}
        self.persistent = persistent
        self.budget = Budget(MAX_OPERATIONS)

    def run(self) -> tuple[object, int]:
        """The value of the pickle, and how many bytes it takes."""
        data, operations, size = self.data, _OPERATIONS, len(self.data)
        try:
            for _ in range(MAX_OPERATIONS):
                if self.at >= size:
                    raise _Short
                code = data[self.at]
                self.at += 1
                if code == 0x2E:  # STOP
                    return self.pop(), self.at
                operation = operations[code]
                if operation is None:
                    raise Damaged(f"is damaged: its pickle has the operation {code:#04x}, which is not supported")
                operation(self)
        except (IndexError, KeyError, TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            text = str(error) or type(error).__name__
            raise Damaged(f"is damaged: its pickle is malformed at byte {self.at}: {text[:200]}") from error
        raise Damaged(f"holds a pickle of more than {MAX_OPERATIONS} operations")

    def take(self, count: int) -> bytes:
        """The next bytes."""
        start = self.at
        self.at = end = start + count
        if end > len(self.data):
            raise _Short
        return self.data[start:end]

    def sized(self, width: int) -> bytes:
        """Bytes after their own number."""
        return self.take(int.from_bytes(self.take(width), "little"))

    def line(self) -> bytes:
        """The bytes up to the end of the line."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise _Short
        start, self.at = self.at, end + 1
        return self.data[start:end]

    def pop(self):
        """Takes the last value."""
        value = self.stack.pop()
        if value is _MARK:
            raise ValueError("a mark in place of a value")
        return value

    def top(self):
        """Looks at the last value."""
        value = self.stack[-1]
        if value is _MARK:
            raise ValueError("a mark in place of a value")
        return value

    def to_mark(self) -> list:
        """Takes the values down to the last mark."""
        stack, items = self.stack, []
        while (value := stack.pop()) is not _MARK:
            items.append(value)
        items.reverse()
        return items

    def push(self, value):
        self.stack.append(value)

    # Operations that do more than to push what they read.

    def mark(self):
        self.stack.append(_MARK)

    def pop_one(self):
        self.stack.pop()

    def protocol(self):
        version = self.take(1)[0]
        if version > 5:
            raise Damaged(f"has a pickle of the protocol {version}, this release reads 0 to 5")

    def decimal(self):
        text = self.line()
        self.push({b"00": False, b"01": True}[text] if text in (b"00", b"01") else _number(text))

    def long_line(self):
        self.push(_number(self.line().removesuffix(b"L")))

    def unicode_line(self):
        self.push(self.line().decode("raw-unicode-escape"))

    def globals_line(self):
        module, name = self.line(), self.line()
        self.push(_global(module.decode(), name.decode()))

    def stack_global(self):
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise TypeError("a name that is no text")
        self.push(_global(module, name))

    def put(self, key: int):
        self.memo[key] = self.top()

    def append(self):
        value = self.pop()
        _extend(self.top(), [value])

    def appends(self):
        items = self.to_mark()
        _extend(self.top(), items)

    def set_item(self):
        value, key = self.pop(), self.pop()
        _update(self.top(), [key, value])

    def set_items(self):
        items = self.to_mark()
        _update(self.top(), items)

    def dict_of(self):
        items = self.to_mark()
        self.push(_update({}, items))

    def tuple_of(self, count: int):
        if count > len(self.stack):
            raise IndexError("too few values for a tuple")
        items = tuple(self.pop() for _ in range(count))
        self.push(items[::-1])

    def reduce(self):
        args, function = self.pop(), self.pop()
        self.push(call(function, args, self.budget))

    def new_object(self):
        args, kind = self.pop(), self.pop()
        self.push(call(kind, args, self.budget))

    def new_object_with_names(self):
        named, args, kind = self.pop(), self.pop(), self.pop()
        made = call(kind, args, self.budget)
        self.push(Opaque(made.type_name, args, named) if isinstance(made, Opaque) else made)

    def build(self):
        state = self.pop()
        target = self.top()
        if isinstance(target, Opaque):
            # Slots come as a second dict; modules have none.
            target.state = state[0] if isinstance(state, tuple) and len(state) == 2 else state
            target.held.append(state)

    def persistent_line(self):
        self.push(self.persistent(self.line().decode()))

    def persistent_value(self):
        self.push(self.persistent(self.pop()))


def _number(text: bytes) -> int:
    if len(text) > MAX_NAME:
        raise ValueError("a number of too many digits")
    return int(text)


def _global(module: str, name: str) -> Global:
    if len(module) > MAX_NAME or len(name) > MAX_NAME:
        raise ValueError("a name that is too long")
    return Global(f"{module}.{name}")


def _extend(target, items: list):
    if type(target) is list:
        target.extend(items)
    elif isinstance(target, Opaque):
        target.held += items
    else:
        raise TypeError("items for something that is no list")


def _update(target, items: list):
    if len(items) % 2:
        raise ValueError("a key without a value")
    if type(target) is dict:
        for key, value in zip(items[::2], items[1::2]):
            target[key if type(key) is str or type(key) is int else OddKey(key)] = value
    elif isinstance(target, Opaque):
        target.held += items
    else:
        raise TypeError("keys for something that is no dict")
    return target


def _python2(raw: bytes):
    """A text of Python 2: bytes unless they are UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _text(raw: bytes) -> str:
    return raw.decode()


def _unsigned(raw: bytes) -> int:
    return int.from_bytes(raw, "little")


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


def _pushes(value):
    return lambda m: m.push(value)


_NAMED = {
    b"(": _Machine.mark,
    b"0": _Machine.pop_one,
    b"1": _Machine.to_mark,
    b"2": lambda m: m.push(m.top()),
    b"\x80": _Machine.protocol,
    b"\x95": lambda m: m.take(8),  # a frame: only of use to those who read from a stream
    b"N": _pushes(None),
    b"\x88": _pushes(True),
    b"\x89": _pushes(False),
    b"I": _Machine.decimal,
    b"L": _Machine.long_line,
    b"J": lambda m: m.push(_signed(m.take(4))),
    b"K": lambda m: m.push(m.take(1)[0]),
    b"M": lambda m: m.push(_unsigned(m.take(2))),
    b"\x8a": lambda m: m.push(_signed(m.sized(1))),
    b"\x8b": lambda m: m.push(_signed(m.sized(4))),
    b"F": lambda m: m.push(float(m.line()[:MAX_NAME])),
    b"G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
    b"V": _Machine.unicode_line,
    b"\x8c": lambda m: m.push(_text(m.sized(1))),
    b"X": lambda m: m.push(_text(m.sized(4))),
    b"\x8d": lambda m: m.push(_text(m.sized(8))),
    b"U": lambda m: m.push(_python2(m.sized(1))),
    b"T": lambda m: m.push(_python2(m.sized(4))),
    b"C": lambda m: m.push(m.sized(1)),
    b"B": lambda m: m.push(m.sized(4)),
    b"\x8e": lambda m: m.push(m.sized(8)),
    b"\x96": lambda m: m.push(m.sized(8)),
    b"]": lambda m: m.push([]),
    b"}": lambda m: m.push({}),
    b")": _pushes(()),
    b"\x8f": lambda m: m.push([]),  # sets are lists: what is in them need not be hashable
    b"l": lambda m: m.push(m.to_mark()),
    b"d": _Machine.dict_of,
    b"t": lambda m: m.push(tuple(m.to_mark())),
    b"\x91": lambda m: m.push(m.to_mark()),
    b"\x85": lambda m: m.tuple_of(1),
    b"\x86": lambda m: m.tuple_of(2),
    b"\x87": lambda m: m.tuple_of(3),
    b"a": _Machine.append,
    b"e": _Machine.appends,
    b"\x90": _Machine.appends,
    b"s": _Machine.set_item,
    b"u": _Machine.set_items,
    b"p": lambda m: m.put(_number(m.line())),
    b"q": lambda m: m.put(m.take(1)[0]),
    b"r": lambda m: m.put(_unsigned(m.take(4))),
    b"\x94": lambda m: m.put(len(m.memo)),
    b"g": lambda m: m.push(m.memo[_number(m.line())]),
    b"h": lambda m: m.push(m.memo[m.take(1)[0]]),
    b"j": lambda m: m.push(m.memo[_unsigned(m.take(4))]),
    b"c": _Machine.globals_line,
    b"\x93": _Machine.stack_global,
    b"R": _Machine.reduce,
    b"\x81": _Machine.new_object,
    b"\x92": _Machine.new_object_with_names,
    b"b": _Machine.build,
    b"P": _Machine.persistent_line,
    b"Q": _Machine.persistent_value,
}
_OPERATIONS: list = [_NAMED.get(bytes([code])) for code in range(256)]
