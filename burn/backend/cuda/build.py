"""Compiles kernels ahead of time: `python -m burn.backend.cuda.build`.

No GPU is needed when the architecture is named. Modules go to the cache folder (BURN_CUDA_CACHE or the user's).
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from burn.backend.cuda import cache, compile, count, source
from burn.errors import BurnError
from burn.tensor.dtype import DType

COMMON = ["f32", "i32", "i64", "bool"]


def architectures():
    """Those of the GPUs of this machine."""
    from burn.backend.cuda import launch

    found = [launch.describe(index)[1] for index in range(count())]
    return sorted({f"sm_{major}{minor}" for major, minor in found})


def main(arguments=None):
    """Compiles what the command line asks for; the number of modules that failed."""
    parser = argparse.ArgumentParser(prog="python -m burn.backend.cuda.build", description=__doc__)
    parser.add_argument("--arch", nargs="+", help="architectures such as sm_90; default: those of this machine's GPUs")
    parser.add_argument("--family", nargs="+", default=source.families(), choices=source.families(), metavar="FAMILY")
    parser.add_argument("--dtype", nargs="+", default=COMMON, help=f"dtypes, or all; default: {' '.join(COMMON)}")
    parser.add_argument("--jobs", type=int, default=4, help="compilers at a time")
    options = parser.parse_args(arguments)
    arches = options.arch or architectures()
    if not arches:
        parser.error("no GPU here: name an architecture with --arch, such as sm_90")
    wanted = None if options.dtype == ["all"] else {DType.of(name) for name in options.dtype}
    units = [
        (family, dtype, arch)
        for family in options.family
        for dtype in source.dtypes_of(family)
        for arch in arches
        if wanted is None or dtype in wanted
    ]

    def make(unit):
        family, dtype, arch = unit
        begin = time.perf_counter()
        try:
            fresh = compile.cached_module(family, dtype.code, arch)[1]
        except BurnError as e:
            return str(e)
        print(f"{family} {dtype} {arch}: {f'{time.perf_counter() - begin:.1f} s' if fresh else 'kept'}", flush=True)
        return None

    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        failed = [reason for reason in pool.map(make, units) if reason]
    for reason in failed:
        print(reason, file=sys.stderr)
    print(f"{len(units) - len(failed)} of {len(units)} modules are in {cache.folder()}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
