/* The only parallel region of the host where QUINTET_HOST_THREADS=gcc: libgomp's threads, whatever compiles the code.
 *
 * A Python process may hold the OpenMP runtimes of several compilers. Two of LLVM's family end it, libgomp lives with
 * all of them; but a runtime that was loaded before answers some names of libgomp and not others. So no more is asked
 * of it than GOMP_parallel and omp_get_max_threads: who a thread is, the library finds out itself. */
#ifndef QUINTET_DEVICE_HOST_THREADS_H
#define QUINTET_DEVICE_HOST_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/* body(job) on at most `threads` threads at the same time, the calling one among them; returns when all have ended.
 * body must not throw. */
void quintet_parallel(int threads, void (*body)(void*), void* job);

/* Threads that the runtime would use. 1 in a forked child: libgomp's threads do not live on there, and a region of
 * several threads would wait for them for ever. */
int quintet_max_threads(void);

/* Whether this process was forked from one that had loaded the library. */
int quintet_is_forked(void);

#ifdef __cplusplus
}
#endif

#endif
