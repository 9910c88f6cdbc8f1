/* All that an element type needs, included with T and its companions defined (see conv.h). */
#include "gemm_kernel.h"
#define S T
#define PACK(name) FN(pack_##name)
#define READ(p) LOAD(p)
#define READ1(x) (x)
#define NARROW NULL
#include "gemm_pack.h"
#include "conv_tile.h"
#include "conv_direct.h"
#include "conv_few.h"
#include "conv_weight.h"
#include "conv_columns.h"
#if TBYTES == 4
#include "conv_winograd.h"
#include "conv_winograd_weight.h"
#endif

/* Returns bytes of scratch that could not be had. */
static size_t FN(forward)(const conv_call *call)
{
    const conv_way way = conv_choose(call, TBYTES == 4);
#if TBYTES == 4
    if (way == CONV_WINOGRAD) return wino_run(call);
#endif
    return FN(direct)(call, way, NULL);
}

/* The same for the gradient of the weight. */
static size_t FN(gradient)(const conv_call *call, const T *grad, T *out)
{
#if TBYTES == 4
    if (conv_choose(call, 1) == CONV_WINOGRAD && call->stride[1] == 1 && call->in[2] > 1 && call->out[2] > 1) {
        int again = 0;
        const size_t wanted = wino_weight_gradient(call, grad, out, &again);
        if (!again) return wanted;
    }
#endif
    return FN(weight_gradient)(call, grad, out);
}
#include "gemm_end.h"
