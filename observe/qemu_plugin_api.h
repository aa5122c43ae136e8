// SPDX-License-Identifier: Apache-2.0
// The part of the emulator's plugin interface, version 4 (QEMU 9.2 to 10.0), that the plugins here use:
// Debian packages no header of it. Names, types and values are the interface's; the emulator resolves them
// when it loads a plugin. Only the two plugins may include this.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// The interface version that a plugin was written for; the emulator refuses those it can not serve.
__attribute__((visibility("default"))) extern int qemu_plugin_version;

using qemu_plugin_id_t = std::uint64_t;
using qemu_plugin_meminfo_t = std::uint32_t; // one memory access: size, direction, address space
struct qemu_plugin_tb;                       // a block being translated
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr; // valid until the callback returns
struct qemu_plugin_register;

struct qemu_info_t {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    union {
        struct {
            int smp_vcpus;
            int max_vcpus;
        } system;
    };
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
enum qemu_plugin_mem_value_type {
    QEMU_PLUGIN_MEM_VALUE_U8,
    QEMU_PLUGIN_MEM_VALUE_U16,
    QEMU_PLUGIN_MEM_VALUE_U32,
    QEMU_PLUGIN_MEM_VALUE_U64,
    QEMU_PLUGIN_MEM_VALUE_U128
};

struct qemu_plugin_mem_value {
    qemu_plugin_mem_value_type type;
    union {
        std::uint8_t u8;
        std::uint16_t u16;
        std::uint32_t u32;
        std::uint64_t u64;
        struct {
            std::uint64_t low;
            std::uint64_t high;
        } u128;
    } data;
};

struct qemu_plugin_reg_descriptor {
    qemu_plugin_register *handle;
    const char *name;
    const char *feature;
};

// The arrays of GLib in which registers are returned; GLib is in the emulator's process.
struct GArray {
    char *data;
    unsigned len;
};
struct GByteArray {
    std::uint8_t *data;
    unsigned len;
};
GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned length);
std::uint8_t *g_byte_array_free(GByteArray *array, int free_segment);
char *g_array_free(GArray *array, int free_segment);

using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t id, void *userdata);
using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu_index);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu_index, void *userdata);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu_index, qemu_plugin_meminfo_t info,
                                           std::uint64_t vaddr, void *userdata);
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb *tb);

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
                                                               int argc, char **argv);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void *userdata);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t cb,
                                            qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
                                      qemu_plugin_cb_flags flags, qemu_plugin_mem_rw rw, void *userdata);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *tb);
qemu_plugin_insn *qemu_plugin_tb_get_insn(const qemu_plugin_tb *tb, std::size_t idx);
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn *insn, void *dest, std::size_t len);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const qemu_plugin_insn *insn);

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t info);
qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, std::uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const qemu_plugin_hwaddr *haddr);
std::uint64_t qemu_plugin_hwaddr_phys_addr(const qemu_plugin_hwaddr *haddr);

GArray *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(qemu_plugin_register *handle, GByteArray *buf);
bool qemu_plugin_read_memory_vaddr(std::uint64_t addr, GByteArray *data, std::size_t len);

} // extern "C"
