/* The macros of reduce_type.h that all integer dtypes share. */
#define FLOATING 0
#define GET(p) (*(p))
#define PUT(p, a) (*(p) = (T)(a))
#define MAXV(a, b) SEL(a > b, a, b)
#define MINV(a, b) SEL(a < b, a, b)
#define UNORD(a, b) ((M){0})
#include "reduce_type.h"
