/* For each_float.h: the part that f32, f16 and bf16 share. */
#define A float
#define IA int32_t
#define V vf
#define M vi
#define MASK vm
#define L VW
#define AT vf_load
#define AT_N vf_load_n
#define PUT vf_store
#define PUT_N vf_store_n
#define IAT vi_load
#define IPUT vi_store
#define FMA vf_fma
#define GT vf_gt
#define UNORD vf_unord
#define SEL vf_sel
#define ISEL vi_sel
#define MAXV vf_max
#define EVENS vf_evens
#define ODDS vf_odds
#define ZIP vf_zip
#define SHUFFLE1 vf_shuffle
#define SHUFFLE2 vf_shuffle2
#define SUM vf_sum
#define LANES NF(LANE_OWN)
#include BODY
#include "each_done.h"
