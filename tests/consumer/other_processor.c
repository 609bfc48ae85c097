/* The same in C: a status with the sentence, and nothing that ends the program. */
#include <quintet/c/core.h>
#include <stdio.h>

int main(void) {
  quintet_device_info info;
  info.size = sizeof info;
  const quintet_status status = quintet_device_find("auto", &info);
  printf("version %s, %d threads, %d devices\n", quintet_version(), (int)quintet_threads(),
         (int)quintet_device_count());
  if (status == QUINTET_OK) return printf("0 refused\n") < 0;
  printf("%s: %s\n", quintet_status_name(status), quintet_last_error());
  return status == QUINTET_DEVICE_ERROR && quintet_set_threads(1) == QUINTET_DEVICE_ERROR ? 0 : 1;
}
