#pragma once

/// Behind the parameters of a lambda that has to be inlined.
#ifndef QUINTET_INLINE
#define QUINTET_INLINE __attribute__((always_inline))
#endif
