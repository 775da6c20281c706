/* Counts the guest's instructions: a plugin for qemu-user. Its interface is declared here, so that no header of the
 * emulator is needed; the few functions used are of its first version.
 *
 *   gcc -shared -fPIC -O2 -o count.so count.c
 *   qemu-aarch64 -plugin ./count.so PROGRAM       writes "instructions N" to standard error at the end */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, void (*call)(unsigned, void*), int flags,
                                          void* data);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t, void*), void* data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t instructions;

static void executed(unsigned cpu, void* data) {
  (void)cpu;
  /* Threads of the guest are threads here. */
  __atomic_fetch_add(&instructions, (uint64_t)(uintptr_t)data, __ATOMIC_RELAXED);
}

static void translated(uint64_t id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void*)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void ended(uint64_t id, void* data) {
  (void)id;
  (void)data;
  fprintf(stderr, "instructions %llu\n", (unsigned long long)instructions);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void* info, int argc, char** argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
