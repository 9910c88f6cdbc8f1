// The memory of the emulated devices: host memory with margins that show writes past an end. BURN_EMULATED_GUARD=1 puts
// each allocation before a page that nobody may touch, and takes freed ones away: then reads past an end show too.
// BURN_EMULATED_STRICT=1 puts all into one region that only the driver and kernels may touch: the host faults there.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <iterator>
#include <map>
#include <string>

namespace {
constexpr size_t ALIGN = 256, CANARY = 256;
constexpr unsigned char CANARY_BYTE = 0xa5;

struct Pool {
    int device;
    uint64_t threshold, reserved, used, reserved_high, used_high;
};
struct Allocation {
    size_t bytes, mapped;
    char *base;
    Pool *pool;
    int device;
};
struct Device {
    size_t limit, live, peak; // bytes
    uint64_t n_live;
    int error;                // sticky: all calls in the context return it
    int retained;
    std::string message, last_kernel;
    Pool pool;
    std::map<Pool *, bool> pools;
};

std::map<uintptr_t, Allocation> allocations;
std::map<uintptr_t, size_t> freed; // for the message only
bool guarded, strict;
char *region;                   // of the strict mode
std::map<size_t, size_t> holes; // offset: bytes
int opened;
constexpr size_t REGION = (size_t)8 << 30;
uint64_t writes, checked; // kernels and copies so far, and when the margins were last looked at

size_t rounded(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

size_t reserved_on(const Device &d) {
    size_t all = 0;
    for (auto &p : d.pools) all += p.first->reserved;
    return all;
}

// While one lives, memory can be touched. The caller holds the lock.
struct Open {
    static void change(bool open) {
        if (strict && (open ? opened++ == 0 : --opened == 0))
            mprotect(region, REGION, open ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
    Open() { change(true); }
    ~Open() { change(false); }
};

char *take_from_region(size_t bytes) {
    for (auto it = holes.begin(); it != holes.end(); ++it)
        if (it->second >= bytes) {
            size_t at = it->first, rest = it->second - bytes;
            holes.erase(it);
            if (rest) holes[at + bytes] = rest;
            return region + at;
        }
    return nullptr;
}

void give_to_region(char *p, size_t bytes) {
    size_t at = (size_t)(p - region);
    auto after = holes.lower_bound(at);
    if (after != holes.end() && at + bytes == after->first) bytes += after->second, after = holes.erase(after);
    if (after != holes.begin()) {
        auto before = std::prev(after);
        if (before->first + before->second == at) {
            before->second += bytes;
            return;
        }
    }
    holes[at] = bytes;
}

void make_region() {
    region = (char *)mmap(nullptr, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    strict = region != MAP_FAILED;
    holes[0] = REGION;
}

// NULL where the device has no room. Fresh memory holds NaNs: nothing may rely on zeros.
char *take(Device &d, int number, Pool *pool, size_t bytes) {
    size_t room = rounded(bytes), more = pool->used + room > pool->reserved ? pool->used + room - pool->reserved : 0;
    if (reserved_on(d) + more > d.limit) {
        for (auto &p : d.pools) // a pool that is not in use keeps what it has, as the driver's do
            if (p.first == pool) pool->reserved = pool->used;
        more = room;
        if (reserved_on(d) + more > d.limit) return nullptr;
    }
    Allocation a = {bytes, 0, nullptr, pool, number};
    char *p;
    Open open;
    if (strict) {
        a.mapped = CANARY + room + CANARY;
        a.base = take_from_region(a.mapped);
        if (!a.base) return nullptr;
        p = a.base + CANARY;
        memset(p + room, CANARY_BYTE, CANARY);
    } else if (guarded) {
        a.mapped = (room + CANARY + 4095) / 4096 * 4096 + 4096;
        a.base = (char *)mmap(nullptr, a.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (a.base == MAP_FAILED) return nullptr;
        mprotect(a.base + a.mapped - 4096, 4096, PROT_NONE);
        p = a.base + a.mapped - 4096 - room;
    } else {
        a.base = (char *)aligned_alloc(ALIGN, CANARY + room + CANARY);
        if (!a.base) return nullptr;
        p = a.base + CANARY;
        memset(p + room, CANARY_BYTE, CANARY);
    }
    memset(p - CANARY, CANARY_BYTE, CANARY);
    memset(p, 0xff, bytes);
    memset(p + bytes, CANARY_BYTE, room - bytes);
    pool->reserved += more;
    pool->used += room;
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
    d.live += bytes;
    d.n_live++;
    if (d.live > d.peak) d.peak = d.live;
    allocations[(uintptr_t)p] = a;
    freed.erase((uintptr_t)p);
    return p;
}

// The offset of the first wrong byte around an allocation; 0 is never one.
long overrun(uintptr_t p, const Allocation &a) {
    const unsigned char *bytes = (const unsigned char *)p;
    static unsigned char margin[CANARY];
    if (!margin[0]) memset(margin, CANARY_BYTE, sizeof margin);
    if (memcmp(bytes - CANARY, margin, CANARY))
        for (long i = -1; i >= -(long)CANARY; i--)
            if (bytes[i] != CANARY_BYTE) return i;
    size_t end = rounded(a.bytes) + (guarded ? 0 : CANARY);
    for (size_t i = a.bytes; i < end; i++) {
        if (end - i >= CANARY && !memcmp(bytes + i, margin, CANARY)) i += CANARY - 1;
        else if (bytes[i] != CANARY_BYTE) return i ? (long)i : 1;
    }
    return 0;
}

void release(Device &d, uintptr_t p) {
    Allocation a = allocations[p];
    allocations.erase(p);
    if (freed.size() > 4096) freed.clear();
    freed[p] = a.bytes;
    d.live -= a.bytes;
    d.n_live--;
    a.pool->used -= rounded(a.bytes);
    if (guarded) {
        munmap(a.base, a.mapped);
        return;
    }
    Open open;
    memset((void *)p, 0xdd, a.bytes < 65536 ? a.bytes : 65536); // whoever reads it later finds no sense
    if (strict) give_to_region(a.base, a.mapped);
    else free(a.base);
}

// The live allocation that holds all of [p, p + bytes), or NULL.
const Allocation *holds(uintptr_t p, size_t bytes) {
    auto after = allocations.upper_bound(p);
    if (after == allocations.begin()) return nullptr;
    auto it = --after;
    return p + bytes <= it->first + it->second.bytes ? &it->second : nullptr;
}

bool was_freed(uintptr_t p) {
    auto after = freed.upper_bound(p);
    if (after == freed.begin()) return false;
    auto it = --after;
    return p < it->first + (it->second ? it->second : 1);
}
} // namespace
