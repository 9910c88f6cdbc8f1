# cython: language_level=3
"""GPUs from compiled code: contexts, memory, kernel tables and launches, through the driver's library.

Kernels are compiled elsewhere (`compile.py`); the launchers of each family are in launch_<family>.h, what they share in
device.h. Messages are made in `errors.py`.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc
from libc.string cimport strcmp
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from burn._core.abi cimport *

cdef extern from "device.h" nogil:
    enum:
        CUDA_DEVICES, CUDA_FIRST_SLOT, CUDA_LOG, CUDA_NO_DEVICE, ATTRIBUTE_SMS, ATTRIBUTE_MAJOR, ATTRIBUTE_MINOR, POOL_RESERVED
    ctypedef struct cuda_error:
        int64_t ticket, position, value, size
        int32_t code
    ctypedef struct cuda_findings:
        int n
        cuda_error record[1]
    ctypedef void *CUmodule
    ctypedef void *CUcontext
    ctypedef void *CUstream
    ctypedef void *CUmemoryPool
    ctypedef void *CUfunction
    ctypedef struct cuda_device:
        int index, slot, refuse, poisoned
        CUcontext ctx
        CUstream stream
        CUmemoryPool pool
        const char **log
        uint64_t launched, checked
        size_t live, cached, limit, peak, live_blocks, cached_blocks
    ctypedef struct cuda_unit:
        cuda_device *dev
        const char *family
        int dtype
        CUmodule module
    ctypedef struct cuda_row:
        burn_row row
        cuda_device *dev
        cuda_unit *unit
    ctypedef struct cuda_launcher:
        const char *op
        burn_kernel fn
        int32_t flags
    cuda_device devices[1]
    int cuda_forked
    const burn_memory cuda_memory
    const char *driver_load()
    int cuInit(unsigned)
    int cuDriverGetVersion(int *)
    int cuDeviceGetCount(int *)
    int cuDeviceGet(int *, int)
    int cuDeviceGetName(char *, int, int)
    int cuDeviceGetAttribute(int *, int, int)
    int cuModuleLoadData(CUmodule *, const void *)
    int cuModuleGetFunction(CUfunction *, CUmodule, const char *)
    int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,
                       void **)
    int cuStreamSynchronize(CUstream)
    int cuda_memory_kind(const void *, int *)
    int cuMemGetInfo(size_t *, size_t *)
    int cuMemPoolGetAttribute(CUmemoryPool, int, void *)
    int cuGetErrorName(int, const char **)
    int cuGetErrorString(int, const char **)
    int cuda_open(int index, int sync_each)
    void cuda_close(int index)
    int cuda_order(cuda_device *, CUstream, int)
    int cuda_enter(cuda_device *)
    void cuda_leave(int)
    void cuda_after_fork() noexcept
    int (*cuda_raise)(cuda_device *, int, const char *, size_t) noexcept nogil
    int (*cuda_raise_findings)(const cuda_findings *) noexcept nogil
    int (*cuda_load)(cuda_unit *) noexcept nogil

cdef extern from "launchers.h" nogil:
    ctypedef struct cuda_family:
        const char *name
        const cuda_launcher *launchers
    const cuda_family cuda_families[1]

cdef extern from "pthread.h" nogil:
    int pthread_atfork(void *, void *, void (*child)() noexcept)

cdef object set_pending = None     # hands an exception to the core
cdef object ticket_error = None    # the core's: ticket and what was found -> exception
cdef object make_failure = None    # errors.py: what the driver said -> exception
cdef object compile_unit = None    # compile.py: (device index, family, dtype) -> image
cdef bint watching = False
cdef dict tables = {}              # (slot, family) -> capsule
cdef list kept = []                # bytes whose C strings are in use for ever


def set_hooks(pending, ticket, failure, compiler):
    """The core's and the backend's functions that compiled code calls back."""
    global set_pending, ticket_error, make_failure, compile_unit
    set_pending = pending
    ticket_error = ticket
    make_failure = failure
    compile_unit = compiler


cdef str text_of(int code, bint name):
    cdef const char *text = NULL
    if code <= 0 or (cuGetErrorName(code, &text) if name else cuGetErrorString(code, &text)) or text == NULL:
        return ""
    return text.decode()


cdef list launched_since_check(cuda_device *d):
    """Names of the ops whose work is not known to be good, oldest first; the last CUDA_LOG of them."""
    cdef uint64_t at = d.checked, end = d.launched
    if end - at > CUDA_LOG:
        at = end - CUDA_LOG
    names = []
    while at < end:
        names.append(d.log[at % CUDA_LOG].decode())
        at += 1
    return names


cdef int raise_failure(cuda_device *d, int code, const char *what, size_t bytes) noexcept with gil:
    cdef size_t spare = 0, total = 0, reserved = 0
    cdef int pushed
    if code == 2:
        pushed = cuda_enter(d)
        cuMemGetInfo(&spare, &total)
        cuMemPoolGetAttribute(d.pool, POOL_RESERVED, &reserved)
        cuda_leave(pushed)
    try:
        set_pending(make_failure(
            d.index, code, text_of(code, True), text_of(code, False), what.decode(), bytes,
            launched_since_check(d), d.launched - d.checked, cuda_forked, d.poisoned,
            {"live": d.live, "spare": spare, "total": total, "reserved": reserved}))
    except BaseException as e:
        set_pending(e)
    return BURN_ERR_RAISED


cdef int raise_findings(const cuda_findings *found) noexcept with gil:
    """The error of the first call that met a wrong value; later ones are named in notes."""
    cdef int i
    try:
        facts = sorted([(found.record[i].ticket, found.record[i].code, found.record[i].position, found.record[i].value,
                         found.record[i].size) for i in range(found.n)])
        errors = [ticket_error(*fact) for fact in facts]
        for later in errors[1:6]:
            if str(later) != str(errors[0]):
                errors[0].add_note(f"a later call met a wrong value too: {later}")
        set_pending(errors[0])
    except BaseException as e:
        set_pending(e)
    return BURN_ERR_RAISED


cdef int load_unit(cuda_unit *unit) noexcept with gil:
    """Compiles (or takes from the cache) and loads the module of a family and dtype."""
    cdef const unsigned char *image
    cdef int rc, pushed
    try:
        data = compile_unit(unit.dev.index, unit.family.decode(), unit.dtype)
        image = data
        pushed = cuda_enter(unit.dev)
        rc = cuModuleLoadData(&unit.module, image)
        cuda_leave(pushed)
        if rc:
            unit.module = NULL
            return raise_failure(unit.dev, rc, b"load", len(data))
        return BURN_OK
    except BaseException as e:
        set_pending(e)
    return BURN_ERR_RAISED


def load_driver():
    """(None, driver version) when the driver is usable, else (what is missing, 0)."""
    cdef int version = 0, rc
    cdef const char *missing = driver_load()
    watch_forks()
    if missing != NULL:
        return missing.decode(), 0
    rc = cuInit(0)
    if rc and rc != CUDA_NO_DEVICE:
        return f"cuInit: {text_of(rc, True)}", 0
    cuDriverGetVersion(&version)
    return None, version


def count_devices():
    """GPUs that the loaded driver sees."""
    cdef int n = 0
    return 0 if cuDeviceGetCount(&n) else min(n, CUDA_DEVICES)


def forked():
    """Whether this process is a child of one that had used CUDA."""
    return bool(cuda_forked)


def open_device(int index, bint sync_each):
    """Retains the primary context of a GPU and makes its stream and pool; returns its slot."""
    cdef int rc
    if devices[index].ctx == NULL:
        rc = cuda_open(index, sync_each)
        if rc:
            raise make_failure(index, rc, text_of(rc, True), text_of(rc, False), "open", 0, [], 0, cuda_forked, False, {})
    return CUDA_FIRST_SLOT + index


cdef void watch_forks():
    global watching
    if not watching:
        watching = True
        pthread_atfork(NULL, NULL, cuda_after_fork)


def close_devices():
    """Ends all work; called at exit."""
    cdef int i
    with nogil:
        for i in range(CUDA_DEVICES):
            cuda_close(i)


def memory():
    """The memory functions of all GPUs, for the core."""
    return PyCapsule_New(<void *>&cuda_memory, "burn.memory", NULL)


cdef const cuda_launcher *launchers_of(str family) except? NULL:
    cdef const cuda_family *f = cuda_families
    name = family.encode()
    while f.name != NULL:
        if strcmp(f.name, name) == 0:
            return f.launchers
        f += 1
    return NULL


cdef const char *keep(str text):
    kept.append(text.encode())
    return kept[len(kept) - 1]


def make_table(int index, str family, list names):
    """The kernel table of a family on a GPU: names are (op, dtype code) pairs. Nothing is compiled yet."""
    cdef cuda_device *d = &devices[index]
    cdef const cuda_launcher *first = launchers_of(family)
    cdef const cuda_launcher *at
    cdef cuda_unit *units = <cuda_unit *>calloc(DT_COUNT, sizeof(cuda_unit))
    cdef cuda_row *rows = <cuda_row *>calloc(len(names) + 1, sizeof(cuda_row))
    cdef burn_table *table = <burn_table *>calloc(1, sizeof(burn_table))
    cdef int i, n = 0
    if units == NULL or rows == NULL or table == NULL:
        raise MemoryError()
    for i in range(DT_COUNT):
        units[i].dev = d
        units[i].family = keep(family)
        units[i].dtype = i
    for op, dtype in names:
        at = first
        while at != NULL and at.fn != NULL and at.op != NULL and strcmp(at.op, op.encode()) != 0:
            at += 1
        if at == NULL or at.fn == NULL:
            raise RuntimeError(f"no launcher for {op} of {family}")
        rows[n].row.name = keep(op)
        rows[n].row.dtype = dtype
        rows[n].row.flags = at.flags
        if family == "elementwise" and dtype <= DT_BF16:
            rows[n].row.flags &= ~ROW_TICKET   # no float is a wrong operand
        rows[n].row.fn = at.fn
        rows[n].dev = d
        rows[n].unit = &units[dtype]
        n += 1
    table.family = keep(family)
    table.level = "cuda"
    table.n = n
    table.rows = &rows[0].row
    table.stride = sizeof(cuda_row)
    capsule = tables[index, family] = PyCapsule_New(table, "burn.kernels", NULL)
    return capsule


def usage(int index):
    """Bytes and blocks of a GPU's memory that tensors hold, that are kept for reuse, and that the driver's pool has."""
    cdef cuda_device *d = &devices[index]
    cdef size_t reserved = 0, spare = 0, total = 0
    cdef int pushed
    if not d.refuse:
        pushed = cuda_enter(d)
        cuMemPoolGetAttribute(d.pool, POOL_RESERVED, &reserved)
        cuMemGetInfo(&spare, &total)
        cuda_leave(pushed)
    return {
        "live_bytes": d.live, "live_blocks": d.live_blocks, "cached_bytes": d.cached, "cached_blocks": d.cached_blocks,
        "peak_bytes": d.peak, "limit_bytes": d.limit, "reserved_bytes": reserved, "free_bytes": spare, "total_bytes": total,
    }


def stream(int index):
    """The handle of the GPU's stream."""
    return <uintptr_t>devices[index].stream


def order(int index, uintptr_t other, bint ours_waits):
    """Makes our stream wait for what another one has now, or that one for ours; returns what failed or nothing."""
    return cuda_order(&devices[index], <CUstream>other, ours_waits)


def owner_of(uintptr_t address):
    """The GPU whose memory an address is in, or -1."""
    cdef int index
    return index if cuda_memory_kind(<const void *>address, &index) == 2 else -1


def describe(int index):
    """(name, compute capability as (major, minor), multiprocessors) of a GPU."""
    cdef int handle = 0, major = 0, minor = 0, sms = 0
    cdef char name[128]
    if cuDeviceGet(&handle, index) or cuDeviceGetName(name, 128, handle):
        return "unknown", (0, 0), 0
    cuDeviceGetAttribute(&major, ATTRIBUTE_MAJOR, handle)
    cuDeviceGetAttribute(&minor, ATTRIBUTE_MINOR, handle)
    cuDeviceGetAttribute(&sms, ATTRIBUTE_SMS, handle)
    return (<const char *>name).decode(), (major, minor), sms


def launch_cost(int index, const unsigned char[::1] module, str name, int n):
    """Nanoseconds of host time of one bare launch of a kernel without parameters: the floor for benchmarks."""
    cdef CUmodule loaded = NULL
    cdef CUfunction f = NULL
    cdef cuda_device *d = &devices[index]
    cdef int rc, pushed = cuda_enter(d)
    cdef timespec begin, end
    kernel = name.encode()
    rc = cuModuleLoadData(&loaded, &module[0])
    if rc == 0:
        rc = cuModuleGetFunction(&f, loaded, kernel)
    clock_gettime(CLOCK_MONOTONIC, &begin)
    for _ in range(n):
        if rc == 0:
            rc = cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, d.stream, NULL, NULL)
    clock_gettime(CLOCK_MONOTONIC, &end)
    cuStreamSynchronize(d.stream)
    cuda_leave(pushed)
    if rc:
        raise RuntimeError(f"launch: {text_of(rc, True)}")
    return (1e9 * (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec)) / n


cuda_raise = raise_failure
cuda_raise_findings = raise_findings
cuda_load = load_unit
