/* What the library asks of OpenMP where QUINTET_HOST_THREADS=gcc: C++ is compiled without a runtime, and only
 * host_threads.c has one. Code of the device shape is compiled but never run there: it finds teams of one thread. */
#ifndef QUINTET_DEVICE_GCC_THREADS_OMP_H
#define QUINTET_DEVICE_GCC_THREADS_OMP_H

#ifdef __cplusplus
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
#else
#include_next <omp.h>
#endif

#endif
