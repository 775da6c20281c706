/* A C host of the scalar kernel, as embedded/ translates it: loads a memory image and decodes it so many times.
 * The image holds everything: plan, tensors, room for the detections. That is the whole of the kernel's
 * interface.
 *
 *   host IMAGE RUNS        prints how many detections there are */
#include <stdio.h>
#include <stdlib.h>

#include "kernel_prelude.h"

/* Plans begin behind the 64 bytes that are never handed out. */
enum { PLAN = 64 };

_Noreturn void bxw_trap(int reason) {
  fprintf(stderr, "the kernel stopped: %d\n", reason);
  exit(3);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  FILE* file = fopen(argv[1], "rb");
  if (!file) return 2;
  fseek(file, 0, SEEK_END);
  const size_t bytes = (size_t)ftell(file);
  rewind(file);
  uint8_t* memory = aligned_alloc(16, (bytes + 15) & ~(size_t)15);
  if (!memory || fread(memory, 1, bytes, file) != bytes) return 2;
  fclose(file);
  uint32_t found = 0;
  for (int i = atoi(argv[2]); i > 0; i--) found = bxw_kernel_decode((bxw_linear){memory, (uint32_t)bytes}, PLAN);
  printf("%u\n", (unsigned)found);
  return 0;
}
