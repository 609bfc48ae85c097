#include "device/host_threads.h"

#include <omp.h>
#include <pthread.h>

static int forked = 0;

static void note_fork(void) { forked = 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(0, 0, note_fork); }

void quintet_parallel(int threads, void (*body)(void*), void* job) {
#pragma omp parallel num_threads(threads)
  body(job);
}

int quintet_max_threads(void) { return forked ? 1 : omp_get_max_threads(); }

int quintet_is_forked(void) { return forked; }
