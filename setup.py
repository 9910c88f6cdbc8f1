"""Builds the compiled modules of burn; everything that is not about compiling stands in pyproject.toml.

`burn/_core/core.pyx` and `burn/backend/cuda/launch.pyx` are plain modules. Each other `burn/_core/<family>.pyx` holds
kernels and is compiled once per instruction-set level, from one C file, as `burn._core._<level>.<family>`; burn picks the
level when it is imported. The CUDA kernels in `cuda/` are installed as text, in `burn/backend/cuda/kernels`: they are compiled
where they run.

Environment:
    BURN_BUILD_LEVELS    "all" (the default), "native" (only what this processor runs best), or a list such as "v2,v3"
    BURN_BUILD_MODULES   a list such as "core,matmul": only these, while the others are being worked on
    BURN_BUILD_SANITIZE  "1" compiles with AddressSanitizer
    BURN_BUILD_JOBS      how many compilers run at once; the default is one for each usable processor
"""

import fcntl
import os
import platform
import re
import subprocess
import sys
import sysconfig
import threading
from contextlib import contextmanager
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

CORE = Path("burn/_core")
CUDA = Path("burn/backend/cuda")
GENERATED = Path("build/gen")

# Cython directives of every kernel module; core.pyx states its own in its first lines.
KERNEL_DIRECTIVES = {
    "binding": False,
    "boundscheck": False,
    "cdivision": True,
    "initializedcheck": False,
    "language_level": "3",
    "wraparound": False,
}

# No -ffast-math anywhere: it would flush subnormals for the whole process and break NaN and infinity.
KERNEL_FLAGS = ["-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-g0"]
# Of -O3 what loops need. The rest takes long to compile, and families whose inner loops are written out run no faster for it.
LOOP_FLAGS = ["-O2", "-fpeel-loops", "-ftree-vectorize", "-funswitch-loops", "-fvect-cost-model=dynamic"]
WRITTEN_OUT = {"attention", "conv", "index", "matmul", "scan"}
CORE_FLAGS = ["-O2", "-fvisibility=hidden", "-g0"]
SANITIZE_FLAGS = ["-fsanitize=address", "-fno-omit-frame-pointer", "-O1", "-g"]

IS_X86 = platform.machine().lower() in ("x86_64", "amd64")
LEVEL_FLAGS = {
    "v2": ["-O2", "-march=x86-64-v2", "-DBURN_LEVEL=2"],  # for processors of before 2013: not worth a longer build
    "v3": ["-march=x86-64-v3", "-DBURN_LEVEL=3"],
    "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512", "-DBURN_LEVEL=4"],
    "portable": ["-DBURN_LEVEL=0"],
}
# What /proc/cpuinfo must list beyond the level before.
LEVEL_FEATURES = {
    "v2": "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3",
    "v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}


def host_level():
    """The best level of this processor, "portable" where it has none."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return "v2" if IS_X86 else "portable"
    found = set(re.search(r"^flags\s*:(.*)$", text, re.M).group(1).split()) if IS_X86 else set()
    best = "portable"
    for level, features in LEVEL_FEATURES.items():
        if not found.issuperset(features.split()):
            break
        best = level
    return best


def wanted_levels():
    """The levels that BURN_BUILD_LEVELS asks for."""
    text = os.environ.get("BURN_BUILD_LEVELS", "").strip() or "all"
    if text == "native":
        return [host_level()]
    if text == "all":
        return ["v2", "v3", "v4"] if IS_X86 else ["portable"]
    levels = [level.removeprefix("_") for level in re.split(r"[\s,]+", text)]
    usable = set(LEVEL_FLAGS) if IS_X86 else {"portable"}
    wrong = [level for level in levels if level not in usable]
    if wrong:
        sys.exit(f"[build] BURN_BUILD_LEVELS must be all, native or some of {sorted(usable)}, got {text!r}")
    return levels


def extension(name, source, flags, directives=None, openmp=False):
    """An Extension whose only source is the C file that Cython will write for `source`, the same at all levels."""
    generated = GENERATED / f"{source.stem}.c"
    ext = Extension(name, [generated.as_posix()], include_dirs=[CORE.as_posix(), CUDA.as_posix()])
    ext.cython_source = source
    ext.directives = directives or {"language_level": "3"}
    ext.flags = flags
    ext.openmp = openmp
    return ext


def extensions():
    """Every compiled module of the chosen levels; the slowest to compile first, as the length of all their sources says."""
    only = os.environ.get("BURN_BUILD_MODULES", "").replace(",", " ").split()
    found = []
    length = {path: sum(part.stat().st_size for part in sources_of(path)) for path in CORE.glob("*.pyx")}
    for path in sorted(length, key=lambda path: (path.stem != "core", -length[path], path)):
        if only and path.stem not in only:
            continue
        if path.stem == "core":
            found.append(extension("burn._core.core", path, CORE_FLAGS, openmp=True))
            continue
        flags = [*(LOOP_FLAGS if path.stem in WRITTEN_OUT else ["-O3"]), *KERNEL_FLAGS]
        for level in wanted_levels():
            found.append(
                extension(f"burn._core._{level}.{path.stem}", path, flags + LEVEL_FLAGS[level], KERNEL_DIRECTIVES)
            )
    if not only or "launch" in only:
        found.insert(1, extension("burn.backend.cuda.launch", CUDA / "launch.pyx", CORE_FLAGS, KERNEL_DIRECTIVES))
    if not only and not (CORE / "core.pyx").exists():
        print(f"[build] {CORE / 'core.pyx'} is not there: building the kernel modules only", file=sys.stderr)
    return found


REFERENCE = re.compile(
    r"""["<']([\w./]+\.(?:h|pxd|pxi|pyx))[">']   # include and extern statements of C and Cython
    |^\s*(?:from\s+([\w.]+)\s+cimport|cimport\s+([\w.]+))""",
    re.M | re.X,
)


def sources_of(path, seen=None):
    """The file and all files of ours that it includes or cimports, however indirectly."""
    seen = set() if seen is None else seen
    seen.add(path)
    for quoted, *imported in REFERENCE.findall(path.read_text()):
        module = next(filter(None, imported), "").split(".")[-1]
        for other in (folder / name for folder in (CORE, CUDA) for name in (quoted, f"{module}.pxd") if name):
            if other not in seen and other.is_file():
                sources_of(other, seen)
    own_pxd = path.with_suffix(".pxd")
    if path.suffix == ".pyx" and own_pxd not in seen and own_pxd.is_file():
        sources_of(own_pxd, seen)
    return seen


def older(target, sources):
    """Whether `target` is missing or older than one of `sources`."""
    return not target.exists() or any(path.stat().st_mtime > target.stat().st_mtime for path in sources)


def note_of(target):
    """The file beside `target` that says by which command it was made; written when `target` is complete."""
    return target.with_name(f"{target.name}.recipe")


def stale(target, sources, recipe):
    """Whether `target` must be made again: missing, older than a source, or made by another command."""
    note = note_of(target)
    return older(target, sources) or not note.exists() or note.read_text() != recipe


@contextmanager
def locked(path):
    """Lets two builds in one tree wait for each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class BuildExt(build_ext):
    """Translates, compiles and links each module in a thread of its own, and only what changed.

    Objects have one path a level, so levels are built side by side, and an editable install, a plain one and a wheel
    share them.
    """

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
            self.parallel = int(os.environ.get("BURN_BUILD_JOBS") or usable or 1)
        self.sanitize = os.environ.get("BURN_BUILD_SANITIZE", "0") not in ("", "0")
        # One place for objects whatever command builds: an editable install would use a folder that it then deletes.
        self.build_temp = f"build/obj-{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
        if self.sanitize:
            self.build_temp += "-asan"
            self.build_lib += "-asan"
        self.force = True  # of copying in place; what to make again is decided by `stale`

    def get_source_files(self):
        return []  # MANIFEST.in names the sources; the C files are made anew everywhere

    def build_extensions(self):
        if self.compiler.compiler_type != "unix":
            sys.exit(f"[build] the compiler must be gcc or clang, got {self.compiler.compiler_type!r}")
        self.translating = threading.Lock()
        self.openmp = ["-fopenmp"] if self.accepts("-fopenmp") else []
        if not self.openmp:
            print("[build] the compiler has no -fopenmp: burn will use one thread", file=sys.stderr)
        with locked(Path("build/lock")):
            super().build_extensions()
            self.remove_leftovers()

    def copy_extensions_to_source(self):
        for ext in self.extensions:
            Path(self.get_ext_filename(ext.name)).parent.mkdir(parents=True, exist_ok=True)
        super().copy_extensions_to_source()

    def remove_leftovers(self):
        """Drops modules of earlier builds: all others from the folder of wheels, the outdated ones in place."""
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        wanted = {Path(self.get_ext_filename(ext.name)) for ext in self.extensions}
        for path in Path(self.build_lib).glob(f"{CORE}/**/*{suffix}"):
            if path.relative_to(self.build_lib) not in wanted:
                path.unlink()
        for path in CORE.glob(f"_*/*{suffix}"):
            source = CORE / path.name.replace(suffix, ".pyx")
            if path not in wanted and (not source.exists() or older(path, sources_of(source))):
                print(f"[build] removing the outdated {path}", file=sys.stderr)
                path.unlink()

    def accepts(self, flag):
        """Whether a small program compiles and links with `flag`."""
        folder = Path(self.build_temp)
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / "probe.c"
        source.write_text("int main(void) { return 0; }\n")
        command = [*self.compiler.compiler_so, source, flag, "-o", folder / "probe"]
        return subprocess.run(list(map(str, command)), capture_output=True).returncode == 0

    def build_extension(self, ext):
        generated = Path(ext.sources[0])
        sources = sources_of(ext.cython_source)
        self.translate(ext, generated, sources)
        flags = ext.flags + (self.openmp if ext.openmp else []) + (SANITIZE_FLAGS if self.sanitize else [])
        compiled = self.compile(ext, generated, sources, flags)
        self.link(ext, compiled, flags)

    def translate(self, ext, generated, sources):
        from Cython import __version__ as cython_version
        from Cython.Compiler.Main import compile as cython

        recipe = f"{cython_version} {ext.cython_source} {ext.directives}"
        with self.translating:  # in this process, as loading Cython takes longer than most modules; it knows no threads
            if stale(generated, [path for path in sources if path.suffix != ".h"], recipe):
                generated.parent.mkdir(parents=True, exist_ok=True)
                done = cython(
                    str(ext.cython_source),
                    output_file=str(generated),
                    include_path=[str(CORE), "."],
                    compiler_directives=ext.directives,
                )
                if done.num_errors:
                    generated.unlink(missing_ok=True)
                    raise SystemExit(f"[build] Cython could not translate {ext.cython_source}")
                note_of(generated).write_text(recipe)

    def compile(self, ext, generated, sources, flags):
        folder = str(Path(self.build_temp, *ext.name.split(".")[:-1]))
        compiled = Path(self.compiler.object_filenames([str(generated)], output_dir=folder)[0])
        recipe = " ".join([*self.compiler.compiler_so, *flags])
        if stale(compiled, [generated, *sources], recipe):
            compiled.parent.mkdir(parents=True, exist_ok=True)
            includes = [*self.compiler.include_dirs, *ext.include_dirs]
            self.compiler.compile([str(generated)], output_dir=folder, include_dirs=includes, extra_postargs=flags)
            note_of(compiled).write_text(recipe)
        return compiled

    def link(self, ext, compiled, flags):
        target = Path(self.get_ext_fullpath(ext.name))
        if older(target, [compiled]):
            target.parent.mkdir(parents=True, exist_ok=True)
            options = [flag for flag in flags if flag in ("-fopenmp", "-fsanitize=address")]
            self.compiler.link_shared_object([str(compiled)], str(target), extra_postargs=options, target_lang="c")


class BuildPy(build_py):
    """Adds the text of the CUDA kernels to what is installed."""

    def run(self):
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / CUDA / "kernels"
            self.mkpath(str(target))
            for path in sorted(Path("cuda").glob("*.cu*")):
                self.copy_file(str(path), str(target / path.name))


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildExt, "build_py": BuildPy})
