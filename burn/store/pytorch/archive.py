"""Zip archives, read only: names and places of their members, and a window of one of them.

Nothing is ever unpacked to disk. Python's zipfile is not used: it reads members from their start only, and believes what a
hostile file says about sizes.
"""

import itertools
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from burn._core import core
from burn.store.source import MemorySource, Source

from .values import Damaged

MAX_DIRECTORY_SIZE = 100 << 20
MAX_MEMBERS = 1_000_000
_END, _END64, _LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_CHUNK = 1 << 20
_crc32 = core.crc32 if core.crc32_is_fast() else zlib.crc32
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive."""

    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    header: int


class Archive:
    """The members of a zip archive by name."""

    def __init__(self, source: Source):
        """Reads the directory at the end of the archive."""
        self.source = source
        self.members: dict[str, Member] = {}
        count, size, start = self._directory()
        if count > MAX_MEMBERS or size > MAX_DIRECTORY_SIZE:
            raise Damaged(
                f"announces {count} members in {size} bytes, the limits are {MAX_MEMBERS} and {MAX_DIRECTORY_SIZE}"
            )
        if start + size > source.size:
            raise Damaged(
                "is damaged: its directory lies past the end of the file; it was cut off: save or copy it again"
            )
        self._directory_start = start
        data, at = bytes(source.read(start, start + size)), 0
        for _ in range(count):
            at = self._entry(data, at)
        self._check_places()

    def read(self, name: str, limit: int) -> bytes:
        """A whole member of at most ``limit`` bytes."""
        member = self.find(name)
        if member.size > limit:
            raise Damaged(f"holds the member {name!r} of {member.size} bytes, the limit is {limit}")
        return bytes(self.window(member, 0, member.size))

    def find(self, name: str) -> Member:
        """The member of that name."""
        try:
            return self.members[name]
        except KeyError:
            raise Damaged(f"is damaged: it lacks the member {name!r}; save or copy it again") from None

    def window(self, member: Member, start: int, end: int) -> memoryview:
        """Some bytes of a member; one that is read whole is checked against its sum."""
        self._check_end(member, end)
        if member.method == 0 and isinstance(self.source, MemorySource):
            data = self._start(member)
            found = self.source.read(data + start, data + end)
            self._check_sum(member, found)
            return found
        buffer = np.empty(end - start, np.uint8).data
        self.read_into(member, start, buffer)
        return buffer

    def read_into(self, member: Member, start: int, buffer: memoryview) -> None:
        """Fills a buffer with the bytes of a member from ``start`` on; one that is read whole is checked against its sum."""
        self._check_end(member, start + len(buffer))
        if member.method == 0:
            self.source.read_into(buffer, self._start(member) + start)
        else:
            self._inflate(member, start, buffer)
        self._check_sum(member, buffer)

    @staticmethod
    def _check_end(member: Member, end: int):
        if end > member.size:
            raise Damaged(
                f"is damaged: its member {member.name!r} has {member.size} bytes, {end} are needed; it was cut off"
            )

    @staticmethod
    def _check_sum(member: Member, data: memoryview):
        """Raises if the bytes of a whole member have another sum than the directory says, where 0 stands for none."""
        if len(data) == member.size and member.crc and _crc32(data) != member.crc:
            raise Damaged(
                f"is damaged: the bytes of its member {member.name!r} do not have the sum that they should have"
            )

    def _directory(self) -> tuple[int, int, int]:
        """How many members there are, and size and position of the directory."""
        source = self.source
        base = max(0, source.size - 65557)
        tail = bytes(source.read(base, source.size))
        at = tail.rfind(_END)
        if at < 0 or len(tail) < at + 22:
            raise Damaged(
                "is damaged: the directory of the zip archive is missing; it was cut off: save or copy it again"
            )
        disk, first, here, count, size, start, _ = struct.unpack_from("<4H2LH", tail, at + 4)
        if disk or first or here != count:
            raise Damaged("is one part of a zip archive in several files, which is not supported")
        locator = base + at - 20
        if locator < 0 or bytes(source.read(locator, locator + 4)) != _LOCATOR64:
            return count, size, start
        (position,) = struct.unpack_from("<Q", bytes(source.read(locator + 8, locator + 16)))
        if position + 56 > locator:
            raise Damaged("is damaged: the directory of the zip archive lies past its end")
        record = bytes(source.read(position, position + 56))
        if record[:4] != _END64:
            raise Damaged("is damaged: the directory of the zip archive is not where it should be")
        return struct.unpack_from("<3Q", record, 32)

    def _entry(self, data: bytes, at: int) -> int:
        """Takes one entry of the directory, and gives the position after it."""
        if at + _ENTRY.size > len(data):
            raise Damaged("is damaged: the directory of the zip archive is cut off")
        (
            magic, _, _, flags, method, _, _, crc, packed, size, name_size, extra_size, comment_size, _, _, _, header
        ) = _ENTRY.unpack_from(data, at)  # fmt: skip
        begin = at + _ENTRY.size
        end = begin + name_size + extra_size + comment_size
        if magic != b"PK\x01\x02" or end > len(data):
            raise Damaged("is damaged: the directory of the zip archive is malformed")
        name = _name(data[begin : begin + name_size])
        extra = data[begin + name_size : begin + name_size + extra_size]
        size, packed, header = _wide(extra, size, packed, header)
        if name in self.members:
            raise Damaged(f"is damaged: it holds two members named {name!r}")
        self.members[name] = Member(name, flags, method, crc, packed, size, header)
        return end

    def _check_places(self):
        ordered = sorted(self.members.values(), key=lambda member: member.header)
        for member, after in itertools.zip_longest(ordered, ordered[1:]):
            limit = self._directory_start if after is None else after.header
            if member.header + _LOCAL.size + member.packed > limit:
                raise Damaged(f"is damaged: its member {member.name!r} overlaps what comes after it")
            if member.method == 0 and member.packed != member.size:
                raise Damaged(
                    f"is damaged: its member {member.name!r} has two sizes, {member.packed} and {member.size}"
                )

    def _start(self, member: Member) -> int:
        """Position of the first byte of a member."""
        if member.flags & 1:
            raise Damaged(f"holds the encrypted member {member.name!r}, which is not supported")
        if member.method not in (0, 8):
            raise Damaged(f"packs its member {member.name!r} by the method {member.method}; only deflate is supported")
        fixed = bytes(self.source.read(member.header, member.header + _LOCAL.size))
        magic, *_, name_size, extra_size = _LOCAL.unpack(fixed)
        start = member.header + _LOCAL.size + name_size + extra_size
        if magic != b"PK\x03\x04" or start + member.packed > self._directory_start:
            raise Damaged(f"is damaged: its member {member.name!r} is not where the directory says")
        return start

    def _inflate(self, member: Member, start: int, out: memoryview) -> None:
        """Fills a buffer with a window of a packed member; what is before it is unpacked and dropped."""
        position, stop = (begin := self._start(member)), begin + member.packed
        end, done = start + len(out), 0
        machine, pending = zlib.decompressobj(-15), b""
        while done < end:
            if not pending and position < stop:
                pending = bytes(self.source.read(position, min(position + _CHUNK, stop)))
                position += len(pending)
            try:
                piece = machine.decompress(pending, _CHUNK)
            except zlib.error as error:
                raise Damaged(f"is damaged: its member {member.name!r} cannot be unpacked: {error}") from error
            pending = machine.unconsumed_tail
            if not piece and not pending and (position >= stop or machine.eof):
                raise Damaged(f"is damaged: its member {member.name!r} unpacks to {done} bytes, {end} are needed")
            low, high = max(start, done), min(end, done + len(piece))
            if low < high:
                out[low - start : high - start] = piece[low - done : high - done]
            done += len(piece)


def _name(raw: bytes) -> str:
    """The name of a member, which must stay within the archive."""
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        name = raw.decode("cp437")
    check_name(name)
    return name


def check_name(name: str) -> None:
    """Refuses names that lead out of an archive: nothing is unpacked, but no sound file has them."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name or parts[0].endswith(":"):
        raise Damaged(f"holds a member named {name[:200]!r}, which leads out of the archive: do not trust the file")


def _wide(extra: bytes, size: int, packed: int, header: int) -> tuple[int, int, int]:
    """Sizes and position, of 64 bits where the short ones are full."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            values = iter(struct.unpack_from(f"<{length // 8}Q", extra[at + 4 : at + 4 + length].ljust(length, b"\0")))
            size, packed, header = (
                next(values, value) if value == _FULL32 else value for value in (size, packed, header)
            )
            break
        at += 4 + length
    return size, packed, header
