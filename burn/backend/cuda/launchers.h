/* The launchers of all families. */
#pragma once
#include "launch_attention.h"
#include "launch_conv.h"
#include "launch_elementwise.h"
#include "launch_index.h"
#include "launch_interpolate.h"
#include "launch_loss.h"
#include "launch_matmul.h"
#include "launch_movement.h"
#include "launch_norm.h"
#include "launch_pool.h"
#include "launch_random.h"
#include "launch_reduce.h"
#include "launch_rnn.h"
#include "launch_scan.h"
#include "launch_softmax.h"
#include "launch_sort.h"

typedef struct { const char *name; const cuda_launcher *launchers; } cuda_family;

static const cuda_family cuda_families[] = {
    {"elementwise", elementwise_launchers}, {"index", index_launchers},   {"matmul", matmul_launchers},
    {"movement", movement_launchers},       {"random", random_launchers}, {"reduce", reduce_launchers},
    {"scan", scan_launchers},               {"softmax", softmax_launchers},
    {"sort", sort_launchers},               {"norm", norm_launchers},
    {"attention", attention_launchers},     {"pool", pool_launchers},
    {"interpolate", interpolate_launchers}, {"conv", conv_launchers},
    {"loss", loss_launchers},               {"rnn", rnn_launchers},
    {NULL, NULL},
};
