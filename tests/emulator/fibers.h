// Runs a grid: block after block, and a block's threads in turn on the calling thread. A thread that waits keeps its stack
// (a fiber) and the next one starts on another; while none waits, all use the same.
#pragma once
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <vector>

#include "interface.h"

extern "C" void emulator_switch(void **save, void *to);
asm(".text\n"
    ".globl emulator_switch\n"
    ".hidden emulator_switch\n"
    ".type emulator_switch, @function\n"
    "emulator_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\n"
    "movq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
    "ret\n"
    ".size emulator_switch, .-emulator_switch\n");

namespace {
constexpr size_t STACK = 128 << 10, PAGE = 4096, MOST_THREADS = 1024, MOST_SHARED = 227 << 10, MARGIN = 256;

struct Fiber {
    void *sp;
    char *stack; // the lowest page is a guard
    uint3 thread;
    unsigned index;
};
struct Lane {
    Fiber *fiber;
    int line, op;
    unsigned mask, operand, width;
    uint64_t value, result;
};
struct Warp {
    unsigned arrived; // and not released yet
    Lane lanes[32];
};

Emulation *em;                  // of the kernel that runs
const EmulatedKernel *kernel;
void **kernel_params;
unsigned dynamic_bytes;
bool over;                      // the grid is done
int fault_code;
char fault_text[400];
void *main_sp;
Fiber *current;
std::vector<Fiber *> fibers, idle;
Fiber *ready[2 * MOST_THREADS]; // a ring: each thread is in it at most once
unsigned ready_head, ready_tail;
Fiber *at_barrier[MOST_THREADS];
unsigned n_at_barrier, barrier_value, barrier_result;
int barrier_line, barrier_op;
Warp warps[MOST_THREADS / 32];
sigjmp_buf on_fault;
thread_local bool this_thread_runs;
char *shared_memory;

void fiber_main();

void prepare(Fiber *f) {
    void **top = (void **)(f->stack + STACK);
    *--top = nullptr; // the return address of fiber_main; keeps the stack aligned as after a call
    *--top = (void *)fiber_main;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    f->sp = top;
}

Fiber *take_fiber() {
    if (idle.empty()) {
        Fiber *f = new Fiber();
        f->stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (f->stack == MAP_FAILED) abort();
        mprotect(f->stack, PAGE, PROT_NONE);
        prepare(f);
        fibers.push_back(f);
        return f;
    }
    Fiber *f = idle.back();
    idle.pop_back();
    return f;
}

void switch_to(Fiber *f) {
    Fiber *from = current;
    current = f;
    emulator_switch(&from->sp, f->sp);
    em->thread = current->thread;
    em->index = current->index;
}

// Leaves the kernel for good: what its threads have on their stacks is dropped.
[[noreturn]] void stop(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault_text, sizeof fault_text, format, args);
    va_end(args);
    fault_code = code;
    siglongjmp(on_fault, 1);
}

[[noreturn]] void deadlock() {
    if (n_at_barrier)
        stop(719, "divergent barrier in %s: %u of %u threads wait at line %d, %u are at their end", kernel->name, n_at_barrier,
             em->count, barrier_line, em->done);
    for (unsigned w = 0; w < (em->count + 31) / 32; w++)
        if (warps[w].arrived)
            stop(719, "divergent warp in %s: lanes %#x of warp %u wait at line %d for others", kernel->name, warps[w].arrived, w,
                 warps[w].lanes[__builtin_ctz(warps[w].arrived)].line);
    stop(719, "no thread of %s can go on", kernel->name);
}

void make_ready(Fiber *f) {
    ready[ready_tail++ % (2 * MOST_THREADS)] = f;
}

Fiber *take_ready() {
    return ready[ready_head++ % (2 * MOST_THREADS)];
}

// The running thread waits until someone makes it ready.
void suspend() {
    current->thread = em->thread;
    current->index = em->index;
    if (ready_head != ready_tail) switch_to(take_ready());
    else if (em->next < em->count) switch_to(take_fiber());
    else deadlock();
}

void fiber_main() {
    for (;;) {
        kernel->threads(kernel_params);
        void *to;
        Fiber *from = current;
        idle.push_back(from);
        if (over) {
            to = main_sp;
        } else {
            if (ready_head == ready_tail) deadlock();
            current = take_ready();
            em->thread = current->thread;
            em->index = current->index;
            to = current->sp;
        }
        emulator_switch(&from->sp, to);
    }
}

bool next_block() {
    if (++em->block.x == em->grid_dim.x) {
        em->block.x = 0;
        if (++em->block.y == em->grid_dim.y) {
            em->block.y = 0;
            if (++em->block.z == em->grid_dim.z) {
                over = true;
                return false;
            }
        }
    }
    em->next = em->done = 0;
    if (dynamic_bytes) memset(em->shared, 0xff, dynamic_bytes); // NaN: nothing may rely on what was there
    return true;
}

unsigned block_sync(int line, int op, unsigned value) {
    if (!n_at_barrier) {
        barrier_line = line;
        barrier_op = op;
        barrier_value = op == BLOCK_AND;
    } else if (line != barrier_line || op != barrier_op) {
        stop(719, "divergent barrier in %s: threads wait at line %d and at line %d", kernel->name, barrier_line, line);
    }
    if (op == BLOCK_COUNT) barrier_value += value;
    else if (op == BLOCK_AND) barrier_value &= value;
    else barrier_value |= value;
    if (++n_at_barrier == em->count) {
        unsigned me = em->index;
        for (unsigned i = 0; i < em->count; i++)
            if (i != me) make_ready(at_barrier[i]);
        n_at_barrier = 0;
        return barrier_result = barrier_value;
    }
    at_barrier[em->index] = current;
    suspend();
    return barrier_result;
}

unsigned source_lane(int op, unsigned lane, unsigned operand, unsigned width) {
    unsigned first = lane & ~(width - 1), from;
    if (op == WARP_INDEX) return first | (operand & (width - 1));
    if (op == WARP_UP) return lane - first < operand ? lane : lane - operand;
    if (op == WARP_DOWN) return lane - first + operand >= width ? lane : lane + operand;
    from = lane ^ operand;
    return from >= first + width ? lane : from;
}

void finish_warp(Warp &w, int op, unsigned mask) {
    uint64_t ballot = 0;
    if (op >= WARP_BALLOT && op <= WARP_ALL) {
        for (unsigned l = 0; l < 32; l++) ballot |= (mask >> l & 1) && w.lanes[l].value ? 1u << l : 0;
        if (op == WARP_ANY) ballot = ballot != 0;
        if (op == WARP_ALL) ballot = ballot == mask;
    }
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        Lane &lane = w.lanes[l];
        if (op >= WARP_INDEX && op <= WARP_XOR) {
            unsigned from = source_lane(op, l, lane.operand, lane.width);
            if (from > 31 || !(mask >> from & 1))
                stop(719, "lane %u of %s reads lane %u, which is not in mask %#x (line %d)", l, kernel->name, from, mask,
                     lane.line);
            lane.result = w.lanes[from].value;
        } else if (op == WARP_MATCH) {
            lane.result = 0;
            for (unsigned o = 0; o < 32; o++)
                if ((mask >> o & 1) && w.lanes[o].value == lane.value) lane.result |= 1u << o;
        } else {
            lane.result = ballot;
        }
    }
    w.arrived &= ~mask;
}

uint64_t warp_sync(int line, int op, unsigned mask, uint64_t value, unsigned operand, unsigned width) {
    unsigned l = em->index & 31, bit = 1u << l, number = em->index / 32, here = em->count - number * 32;
    Warp &w = warps[number];
    if (!(mask & bit)) stop(719, "lane %u of %s is not in its own mask %#x (line %d)", l, kernel->name, mask, line);
    if (here < 32 && mask >> here)
        stop(719, "mask %#x in %s names lanes that a block of %u threads lacks (line %d)", mask, kernel->name, em->count, line);
    if (width > 32 || (width & (width - 1)))
        stop(719, "width %u in %s is not a power of two (line %d)", width, kernel->name, line);
    for (unsigned others = w.arrived & mask; others; others &= others - 1) {
        const Lane &o = w.lanes[__builtin_ctz(others)];
        if (o.mask != mask || o.line != line || o.op != op)
            stop(719, "divergent warp in %s: masks %#x (line %d) and %#x (line %d)", kernel->name, o.mask, o.line, mask, line);
        break; // the others agree with this one
    }
    w.lanes[l] = {current, line, op, mask, operand, width, value, 0};
    w.arrived |= bit;
    if ((w.arrived & mask) == mask) {
        finish_warp(w, op, mask);
        for (unsigned i = 0; i < 32; i++)
            if (i != l && (mask >> i & 1)) make_ready(w.lanes[i].fiber);
    } else {
        suspend();
    }
    return w.lanes[l].result;
}

void device_fault(int code, const char *text) {
    stop(code, "%s in %s, block (%u, %u, %u), thread (%u, %u, %u)", text, kernel->name, em->block.x, em->block.y, em->block.z,
         em->thread.x, em->thread.y, em->thread.z);
}

// ---- faults of the host's hardware inside a kernel
struct sigaction earlier_action[32];

// The GPU goes on after an integer division by zero (all bits set) and the overflow of the lowest number by -1.
bool skip_division(ucontext_t *context) {
    greg_t *r = context->uc_mcontext.gregs;
    unsigned char *p = (unsigned char *)r[REG_RIP];
    bool word = false;
    unsigned rex = 0;
    if (*p == 0x66) word = true, p++;
    if ((*p & 0xf0) == 0x40) rex = *p++;
    if (*p != 0xf7) return false; // div and idiv of 16, 32 and 64 bits; of 8 bits the compiler has none
    unsigned char modrm = p[1];
    if ((modrm >> 3 & 7) < 6) return false;
    bool with_sign = (modrm >> 3 & 7) == 7;
    p += 2;
    unsigned mod = modrm >> 6, rm = modrm & 7;
    if (mod != 3 && rm == 4) {
        if (mod == 0 && (*p & 7) == 5) p += 4;
        p++;
    } else if (mod == 0 && rm == 5) {
        p += 4;
    }
    if (mod == 1) p += 1;
    if (mod == 2) p += 4;
    uint64_t bits = rex & 8 ? ~0ull : word ? 0xffffull : 0xffffffffull, low = (uint64_t)r[REG_RAX] & bits;
    bool lowest = with_sign && low == (bits >> 1) + 1 && ((uint64_t)r[REG_RDX] & bits) == bits;
    // A division of the lowest number by zero is told from one by -1 only by the operand; both are undefined in C.
    uint64_t quotient = lowest ? low : bits, rest = lowest ? 0 : low;
    r[REG_RAX] = (greg_t)(word ? ((uint64_t)r[REG_RAX] & ~bits) | quotient : quotient);
    r[REG_RDX] = (greg_t)(word ? ((uint64_t)r[REG_RDX] & ~bits) | rest : rest);
    r[REG_RIP] = (greg_t)p;
    return true;
}

void on_signal(int number, siginfo_t *info, void *context) {
    if (!this_thread_runs) { // not ours: as if we were not here
        sigaction(number, &earlier_action[number], nullptr);
        return;
    }
    if (number == SIGFPE && skip_division((ucontext_t *)context)) return;
    char text[80];
    if (number == SIGSEGV || number == SIGBUS) snprintf(text, sizeof text, "illegal access at %p", info->si_addr);
    else snprintf(text, sizeof text, "%s", number == SIGILL ? "misaligned address" : "arithmetic fault");
    device_fault(number == SIGILL ? 716 : number == SIGFPE ? 719 : 700, text);
}

void catch_signals() {
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        struct sigaction now, ours = {};
        sigaction(number, nullptr, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal) continue;
        earlier_action[number] = now;
        ours.sa_sigaction = on_signal;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(number, &ours, nullptr);
    }
}

// A stack of its own for the handler, since a kernel may run out of stack; a thread keeps it for good.
void give_signal_stack() {
    static thread_local bool given;
    if (given) return;
    stack_t now;
    sigaltstack(nullptr, &now);
    if (now.ss_flags & SS_DISABLE) {
        stack_t ours = {};
        ours.ss_size = 64 << 10;
        ours.ss_sp = malloc(ours.ss_size);
        sigaltstack(&ours, nullptr);
    }
    given = true;
}

// Runs a grid; 0 or the error, which fault_text explains. One at a time: the caller holds the lock.
int run_grid(Emulation *library, const EmulatedKernel *k, dim3 grid, dim3 block, unsigned dynamic, void **params, bool reversed) {
    if (!shared_memory) shared_memory = (char *)aligned_alloc(1024, MOST_SHARED + 1024);
    em = library;
    kernel = k;
    kernel_params = params;
    dynamic_bytes = dynamic;
    over = false;
    fault_code = 0;
    n_at_barrier = ready_head = ready_tail = 0;
    for (Warp &w : warps) w.arrived = 0;
    memset(shared_memory, 0xff, dynamic);
    memset(shared_memory + dynamic, 0xa5, MARGIN);
    em->block = {0, 0, 0};
    em->grid_dim = grid;
    em->block_dim = block;
    em->count = block.x * block.y * block.z;
    em->next = em->done = 0;
    em->reversed = reversed;
    em->shared = shared_memory;
    em->next_block = next_block;
    em->block_sync = block_sync;
    em->warp_sync = warp_sync;
    em->fault = device_fault;
    catch_signals();
    give_signal_stack();
    this_thread_runs = true;
    if (!sigsetjmp(on_fault, 0)) {
        current = take_fiber();
        emulator_switch(&main_sp, current->sp);
    } else { // the fibers hold threads that never end
        idle = fibers;
        for (Fiber *f : fibers) prepare(f);
    }
    this_thread_runs = false;
    if (!fault_code)
        for (size_t i = 0; i < MARGIN; i++)
            if (shared_memory[dynamic + i] != (char)0xa5) {
                snprintf(fault_text, sizeof fault_text, "%s writes past its %u bytes of shared memory", k->name, dynamic);
                return 700;
            }
    return fault_code;
}
} // namespace
