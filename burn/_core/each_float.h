/* Includes the file that BODY names once for each float dtype, with these macros set:
     T, A, IA       type in memory, type that it is computed in, signed integer as wide as A
     V, M, MASK, L  vector of A, vector of IA, mask of its lanes, and how many they are
     LOAD, STORE    L elements at p as V; LOAD_N, STORE_N only the first k of them (others read as 0)
     AT, PUT        the same for A in memory; AT_N, PUT_N
     STREAM(p, v)   STORE past the cache where NATIVE, that is where T is A
     FMA, GT, UNORD, SEL, ISEL    functions of V: a * b + c, comparisons, and selections of V and of M
     EVENS, ODDS, ZIP, SHUFFLE1, SHUFFLE2    orders of lanes (lanes.h); SUM of all lanes; LANES are 0, 1, .. L - 1
     UP, DOWN       one element from memory, one to it
     FN(name)       name_dtype */
#include "lanes.h"

#define FN(name) name##_f32
#define T float
#define LOAD vf_load
#define LOAD_N vf_load_n
#define STORE vf_store
#define STORE_N vf_store_n
#define STREAM vf_stream
#define UP(v) (v)
#define DOWN(v) (v)
#define NATIVE 1
#include "each_single.h"

#define FN(name) name##_f16
#define T uint16_t
#define LOAD vf_load_f16
#define LOAD_N vf_load_f16_n
#define STORE vf_store_f16
#define STORE_N vf_store_f16_n
#define STREAM vf_store_f16
#define UP(v) f16_up(v)
#define DOWN(v) f16_down(v)
#define NATIVE 0
#include "each_single.h"

#define FN(name) name##_bf16
#define T uint16_t
#define LOAD vf_load_bf16
#define LOAD_N vf_load_bf16_n
#define STORE vf_store_bf16
#define STORE_N vf_store_bf16_n
#define STREAM vf_store_bf16
#define UP(v) bf16_up(v)
#define DOWN(v) bf16_down(v)
#define NATIVE 0
#include "each_single.h"

#define FN(name) name##_f64
#define T double
#define A double
#define IA int64_t
#define V vd
#define M vl
#define MASK vl
#define L VD
#define LOAD vd_load
#define LOAD_N vd_load_n
#define STORE vd_store
#define STORE_N vd_store_n
#define STREAM vd_stream
#define AT vd_load
#define AT_N vd_load_n
#define PUT vd_store
#define PUT_N vd_store_n
#define IAT vl_load
#define IPUT vl_store
#define FMA vd_fma
#define GT vd_gt
#define UNORD vd_unord
#define SEL vd_sel
#define ISEL vl_sel
#define MAXV vd_max
#define EVENS vd_evens
#define ODDS vd_odds
#define ZIP vd_zip
#define SHUFFLE1 vd_shuffle
#define SHUFFLE2 vd_shuffle2
#define SUM vd_sum
#define LANES ND(LANE_OWN)
#define UP(v) (v)
#define DOWN(v) (v)
#define NATIVE 1
#include BODY
#include "each_done.h"
#undef BODY
