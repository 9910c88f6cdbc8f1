"""Compiles kernels ahead of time: `python -m burn.backend.cuda.build`.

No GPU is needed when the architecture is named. Modules go to the cache folder (BURN_CUDA_CACHE or the user's).
"""

import argparse
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from burn.backend.cuda import cache, compile, count, source
from burn.errors import BurnError, DTypeError
from burn.tensor.dtype import DType

COMMON = [DType.F32, DType.I32, DType.I64, DType.Bool]


def arch_of(text):
    """The name of an architecture, checked."""
    if not re.fullmatch(r"sm_\d{2,3}[af]?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no architecture; write it as sm_90")
    return text


def dtype_of(text):
    """The dtype of a name; None for all."""
    try:
        return None if text == "all" else DType.of(text)
    except DTypeError as e:
        raise argparse.ArgumentTypeError(str(e)) from None


def architectures():
    """Those of the GPUs of this machine."""
    from burn.backend.cuda import launch

    found = [launch.describe(index)[1] for index in range(count())]
    return sorted({f"sm_{major}{minor}" for major, minor in found})


def main(arguments=None):
    """Compiles what the command line asks for; the number of modules that failed."""
    parser = argparse.ArgumentParser(prog="python -m burn.backend.cuda.build", description=__doc__)
    parser.add_argument(
        "--arch", nargs="+", type=arch_of, help="architectures such as sm_90; default: those of this machine's GPUs"
    )
    parser.add_argument("--family", nargs="+", default=source.families(), choices=source.families(), metavar="FAMILY")
    parser.add_argument(
        "--dtype",
        nargs="+",
        type=dtype_of,
        default=COMMON,
        help=f"dtypes, or all; default: {' '.join(map(str, COMMON))}",
    )
    parser.add_argument("--jobs", type=int, default=4, help="compilers at a time")
    options = parser.parse_args(arguments)
    arches = options.arch or architectures()
    if not arches:
        parser.error("no GPU here: name an architecture with --arch, such as sm_90")
    wanted = None if None in options.dtype else set(options.dtype)
    units = [
        (family, dtype, arch)
        for family in options.family
        for dtype in source.dtypes_of(family)
        for arch in arches
        if wanted is None or dtype in wanted
    ]
    if not units:
        parser.error("none of these families has kernels for these dtypes")

    def make(unit):
        family, dtype, arch = unit
        begin = time.perf_counter()
        try:
            _, fresh, kept = compile.cached_module(family, dtype.code, arch)
        except BurnError as e:
            return str(e)
        if not kept:
            return f"{family} {dtype} {arch} was compiled and could not be kept"
        sys.stdout.write(f"{family} {dtype} {arch}: {f'{time.perf_counter() - begin:.1f} s' if fresh else 'kept'}\n")
        return None

    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        failed = [reason for reason in pool.map(make, units) if reason]
    for reason in failed:
        print(reason, file=sys.stderr)
    print(f"{len(units) - len(failed)} of {len(units)} modules are in {'the cache' if failed else cache.folder()}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
