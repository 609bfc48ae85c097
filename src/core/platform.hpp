// What this build may ask of its system beyond POSIX. With QUINTET_PORTABLE_ONLY a Linux build takes the branch of
// other systems, so that the tests see it.
#pragma once

#if defined(__linux__) && !defined(QUINTET_PORTABLE_ONLY)
#define QUINTET_LINUX 1
#else
#define QUINTET_LINUX 0
#endif
