/* Simulates a disk whose syncs take SLOW_SYNC_US microseconds. Preload it with LD_PRELOAD, to measure group commits. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_disk(void) {
  const char *text = getenv("SLOW_SYNC_US");
  if (text) usleep((useconds_t)atoi(text));
}

int fsync(int file) {
  wait_for_disk();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  wait_for_disk();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
