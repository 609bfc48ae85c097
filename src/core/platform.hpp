// What this build may ask of its system beyond POSIX. With QUINTET_PORTABLE_ONLY a Linux build takes the branch of
// other systems, so that the tests see it.
#pragma once

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "quintet is for little-endian processors: its files and packed numbers are read as they lie in memory"
#endif

#if defined(__linux__) && !defined(QUINTET_PORTABLE_ONLY)
#define QUINTET_LINUX 1
#else
#define QUINTET_LINUX 0
#endif
