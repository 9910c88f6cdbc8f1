// Elements as plain words, for kernels that move them without looking at them: E has the size of T.
#pragma once

template <int BYTES> struct word_of { typedef u8 type; };
template <> struct word_of<2> { typedef unsigned short type; };
template <> struct word_of<4> { typedef u32 type; };
template <> struct word_of<8> { typedef u64 type; };
template <> struct word_of<16> { typedef vec<u32, 4> type; };
#if DTYPE == DT_F64 || DTYPE == DT_I64 || DTYPE == DT_U64
#define SIZE 8
#elif DTYPE == DT_F32 || DTYPE == DT_FLEX32 || DTYPE == DT_I32 || DTYPE == DT_U32
#define SIZE 4
#elif DTYPE == DT_F16 || DTYPE == DT_BF16 || DTYPE == DT_I16 || DTYPE == DT_U16
#define SIZE 2
#else
#define SIZE 1
#endif
typedef word_of<SIZE>::type E;
