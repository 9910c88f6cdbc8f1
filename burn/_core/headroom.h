/* How much memory the process may still take: what the system has available, and what the control groups that the process
   belongs to leave of their limits, whichever is least. A request above that is refused: the system would otherwise grant it and
   end the process when the memory is written. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADROOM_UNKNOWN ((size_t)-1)

/* A number in a file, all of it or what follows a word; HEADROOM_UNKNOWN where there is none ("max", no such file). */
static size_t headroom_number(const char *path, const char *word) {
    FILE *f = fopen(path, "re");
    size_t found = HEADROOM_UNKNOWN, n = word ? strlen(word) : 0;
    char line[256], *end;
    if (!f) return found;
    while (fgets(line, sizeof line, f)) {
        if (n && (strncmp(line, word, n) || (line[n] != ' ' && line[n] != ':'))) continue;
        unsigned long long v = strtoull(line + n + (n != 0), &end, 10);
        if (end != line + n + (n != 0)) found = (size_t)v;
        break;
    }
    fclose(f);
    return found;
}

/* What one group leaves; pages of files that it could drop do not count as used. */
static size_t headroom_of_group(const char *folder, int v2) {
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, v2 ? "memory.max" : "memory.limit_in_bytes");
    size_t limit = headroom_number(path, NULL);
    if (limit >= (size_t)1 << 60) return HEADROOM_UNKNOWN;
    snprintf(path, sizeof path, "%s/%s", folder, v2 ? "memory.current" : "memory.usage_in_bytes");
    size_t used = headroom_number(path, NULL);
    if (used == HEADROOM_UNKNOWN) return HEADROOM_UNKNOWN;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    size_t droppable = headroom_number(path, v2 ? "inactive_file" : "total_inactive_file");
    if (droppable != HEADROOM_UNKNOWN) used -= droppable < used ? droppable : used;
    return used < limit ? limit - used : 0;
}

/* The least that a group and those above it leave; `mount` is where the hierarchy lies. */
static size_t headroom_of_groups(const char *mount, const char *group, int v2) {
    char folder[1024];
    size_t least = HEADROOM_UNKNOWN, base = strlen(mount);
    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder) return least;
    for (;;) {
        size_t n = strlen(folder);
        while (n > base && folder[n - 1] == '/') folder[--n] = 0;
        size_t left = headroom_of_group(folder, v2);
        if (left < least) least = left;
        char *slash = strrchr(folder, '/');
        if (n <= base || !slash) return least;
        *slash = 0;
    }
}

/* Bytes that may still be taken, HEADROOM_UNKNOWN where the system does not say; `root` stands before every path (tests). */
static size_t headroom_now(const char *root) {
    char path[512], mount[512], line[768];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    size_t kib = headroom_number(path, "MemAvailable"), swap = headroom_number(path, "SwapFree");
    size_t least = kib == HEADROOM_UNKNOWN ? kib : (kib + (swap == HEADROOM_UNKNOWN ? 0 : swap)) << 10;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    if (!f) return least;
    while (fgets(line, sizeof line, f)) {
        char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        kinds++;
        group[strcspn(group, "\n")] = 0;
        int v2 = !*kinds;
        if (!v2 && strcmp(kinds, "memory")) continue;
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, v2 ? "" : "/memory");
        size_t left = headroom_of_groups(mount, group, v2);
        if (left < least) least = left;
    }
    fclose(f);
    return least;
}
