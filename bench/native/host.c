/* A C host of the scalar kernel (through wasm2c): loads a memory image and decodes it so many times.
 * The image holds everything: plan, tensors, room for the detections. That is the whole of the kernel's
 * interface.
 *
 *   host IMAGE RUNS        prints how many detections there are */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"

/* Plans begin behind the 64 bytes that are never handed out. */
enum { PLAN = 64, PAGE = 65536 };

struct Z_env_instance_t {
  wasm_rt_memory_t memory;
};

wasm_rt_memory_t* Z_envZ_memory(struct Z_env_instance_t* env) { return &env->memory; }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  FILE* file = fopen(argv[1], "rb");
  if (!file) return 2;
  fseek(file, 0, SEEK_END);
  const long bytes = ftell(file);
  rewind(file);
  wasm_rt_init();
  struct Z_env_instance_t env;
  const uint32_t pages = (uint32_t)((bytes + PAGE - 1) / PAGE);
  wasm_rt_allocate_memory(&env.memory, pages, pages);
  if (fread(env.memory.data, 1, (size_t)bytes, file) != (size_t)bytes) return 2;
  fclose(file);
  Z_boxwright_init_module();
  Z_boxwright_instance_t kernel;
  Z_boxwright_instantiate(&kernel, &env);
  unsigned found = 0;
  for (int i = atoi(argv[2]); i > 0; i--) found = Z_boxwrightZ_decode(&kernel, PLAN);
  printf("%u\n", found);
  return 0;
}
