/*
 * A plug-in of QEMU that prints how many instructions the guest executed. Debian's package has no header for plug-ins:
 * these declarations follow https://www.qemu.org/docs/master/devel/tcg-plugins.html, version 1 of the interface.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
enum { INLINE_ADD = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*translated)(uint64_t id, struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *target, uint64_t value);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*ended)(uint64_t id, void *data), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_outs(const char *text);

EXPORT int qemu_plugin_version = 1;
static uint64_t instructions;

static void translated(uint64_t id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD, &instructions, qemu_plugin_tb_n_insns(block));
}

static void ended(uint64_t id, void *data) {
    char line[40];
    (void)id, (void)data;
    snprintf(line, sizeof line, "instructions: %" PRIu64 "\n", instructions);
    qemu_plugin_outs(line);
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int count, char **arguments) {
    (void)info, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
