/* Status, messages, versions, devices, threads, conversion. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "check.h"

static void test_texts(void) {
  CHECK(strcmp(quintet_status_name(QUINTET_OK), "ok") == 0);
  CHECK(strcmp(quintet_status_name(QUINTET_CANCELLED), "cancelled") == 0);
  CHECK(strcmp(quintet_status_name(QUINTET_INVALID_ARGUMENT), "invalid argument") == 0);
  CHECK(strcmp(quintet_status_name(QUINTET_OUT_OF_MEMORY), "out of memory") == 0);
  CHECK(strcmp(quintet_status_name(QUINTET_DEVICE_ERROR), "device error") == 0);
  CHECK(strcmp(quintet_status_name(QUINTET_FILE_ERROR), "file error") == 0);
  CHECK(strcmp(quintet_status_name(QUINTET_INTERNAL_ERROR), "internal error") == 0);
  CHECK(strcmp(quintet_status_name(99), "unknown status") == 0);
  CHECK(strstr(quintet_build_info(), quintet_version()) != NULL);
  CHECK(strlen(quintet_version()) >= 5);
  CHECK(strlen(quintet_offload_targets()) >= 4);
  CHECK(strcmp(quintet_last_error(), "") == 0);
}

static void test_threads_setting(void) {
  const int32_t before = quintet_threads();
  CHECK(before >= 1);
  CHECK_OK(quintet_set_threads(3));
  CHECK(quintet_threads() == 3);
  CHECK_INVALID(quintet_set_threads(-1), "threads must be >= 0 (threads=-1)");
  CHECK(quintet_threads() == 3);
  CHECK_OK(quintet_set_threads(0));
  CHECK(quintet_threads() == before);
}

static void test_devices(void) {
  quintet_device_info info;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  CHECK(quintet_device_count() >= 1);
  CHECK_OK(quintet_device_at(0, &info));
  CHECK(info.kind == QUINTET_DEVICE_HOST);
  CHECK(info.memory_bytes > 0);
  CHECK(strcmp(info.device, "host") == 0);
  CHECK(strlen(info.name) > 0);
  CHECK(info.size == sizeof info);
  CHECK_INVALID(quintet_device_at(quintet_device_count(), &info), "number must be in [0, ");
  CHECK_INVALID(quintet_device_at(-1, &info), "(number=-1)");
  CHECK_INVALID(quintet_device_at(0, NULL), "info must not be null");
  CHECK_OK(quintet_device_find("emulated", &info));
  CHECK(info.kind == QUINTET_DEVICE_EMULATED);
  CHECK_OK(quintet_device_find("auto", &info));
  CHECK_OK(quintet_device_find(NULL, &info));
  CHECK_INVALID(quintet_device_find("gpu", &info),
                "device must be auto, host, emulated, or an offload device as NUMBER or offload:NUMBER (device=gpu)");
  CHECK_FAILS(quintet_device_find("4711", &info), QUINTET_DEVICE_ERROR, "device 4711 is not available");
  CHECK_INVALID(quintet_device_find("host", NULL), "info must not be null");
  info.size = sizeof info + 1;
  CHECK_INVALID(quintet_device_at(0, &info), "info->size must be the size of the struct");
  info.size = 0;
  CHECK_INVALID(quintet_device_at(0, &info), "info->size");
  /* A program that knows the first members only gets no more. */
  memset(&info, 0x55, sizeof info);
  info.size = offsetof(quintet_device_info, memory_bytes);
  CHECK_OK(quintet_device_at(0, &info));
  CHECK(info.kind == QUINTET_DEVICE_HOST && info.index == 0);
  CHECK(((unsigned char*)&info)[offsetof(quintet_device_info, memory_bytes)] == 0x55);
}

static void test_convert(void) {
  const double values[] = {1.0, -2.5, 65504.0, 1.0 + 0x1p-11 + 0x1p-40, 0x1p-25, INFINITY};
  const uint16_t halves[] = {0x3c00, 0xc100, 0x7bff, 0x3c01, 0x0000, 0x7c00};
  const uint16_t bfloats[] = {0x3f80, 0xc020, 0x4780, 0x3f80, 0x3300, 0x7f80};
  uint16_t half[6], bfloat[6];
  float floats[6];
  double back[6];
  int i;
  CHECK_OK(quintet_convert(values, QUINTET_DOUBLE, half, QUINTET_HALF, 6));
  CHECK_OK(quintet_convert(values, QUINTET_DOUBLE, bfloat, QUINTET_BFLOAT16, 6));
  CHECK_OK(quintet_convert(values, QUINTET_DOUBLE, floats, QUINTET_FLOAT, 6));
  for (i = 0; i < 6; ++i) {
    CHECK(half[i] == halves[i]);
    CHECK(bfloat[i] == bfloats[i]);
    CHECK(floats[i] == (float)values[i]);
  }
  CHECK_OK(quintet_convert(half, QUINTET_HALF, back, QUINTET_DOUBLE, 6));
  CHECK(back[1] == -2.5 && back[2] == 65504.0 && back[3] == 1.0 + 0x1p-10);
  CHECK_INVALID(quintet_convert(half, 7, back, QUINTET_DOUBLE, 6), "(type=7)");
  CHECK_INVALID(quintet_convert(half, QUINTET_HALF, back, 0, 6), "(type=0)");
  CHECK_INVALID(quintet_convert(NULL, QUINTET_HALF, back, QUINTET_DOUBLE, 6), "from must not be null (6 elements)");
  CHECK_INVALID(quintet_convert(half, QUINTET_HALF, NULL, QUINTET_DOUBLE, 6), "to must not be null");
  CHECK_INVALID(quintet_convert(half, QUINTET_HALF, back, QUINTET_DOUBLE, -1), "must be >= 0");
  CHECK_INVALID(quintet_convert(half, QUINTET_HALF, back, QUINTET_DOUBLE, INT64_MAX), "at most 2^63 - 1 bytes");
  CHECK_OK(quintet_convert(NULL, QUINTET_HALF, NULL, QUINTET_DOUBLE, 0));
}

/* Every thread has a message of its own. */
static pthread_barrier_t meeting;
static char messages[2][200];

static void* fail_in_thread(void* argument) {
  const int me = (int)(intptr_t)argument;
  pthread_barrier_wait(&meeting);
  (void)quintet_set_threads(-10 - me);
  pthread_barrier_wait(&meeting);
  strncpy(messages[me], quintet_last_error(), sizeof messages[me] - 1);
  return NULL;
}

static void test_messages_of_threads(void) {
  pthread_t threads[2];
  intptr_t i;
  CHECK_INVALID(quintet_set_threads(-5), "threads=-5");
  pthread_barrier_init(&meeting, NULL, 2);
  for (i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, fail_in_thread, (void*)i) == 0);
  for (i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  pthread_barrier_destroy(&meeting);
  CHECK(strstr(messages[0], "(threads=-10)") != NULL);
  CHECK(strstr(messages[1], "(threads=-11)") != NULL);
  CHECK(strstr(quintet_last_error(), "(threads=-5)") != NULL);
  /* A call that succeeds leaves the message. */
  CHECK_OK(quintet_set_threads(0));
  CHECK(strstr(quintet_last_error(), "(threads=-5)") != NULL);
}

int main(void) {
  test_texts();
  test_threads_setting();
  test_devices();
  test_convert();
  test_messages_of_threads();
  return check_result();
}
