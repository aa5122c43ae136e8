// SPDX-License-Identifier: Apache-2.0
// The part of the emulator's plugin interface, version 1, that the recorder uses: that of the user-mode
// emulator in Debian 12 (later ones are linked statically and load no plugins). Names, types and values are
// the interface's. Only record_plugin.cpp may include this; the system emulator's is in qemu_plugin_api.h.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

__attribute__((visibility("default"))) extern int qemu_plugin_version;

using qemu_plugin_id_t = std::uint64_t;
using qemu_plugin_meminfo_t = std::uint32_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t id, void *userdata);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu_index, void *userdata);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu_index, qemu_plugin_meminfo_t info,
                                           std::uint64_t vaddr, void *userdata);
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb *tb);

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
                                                               int argc, char **argv);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb_t cb,
                                          qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t cb,
                                            qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
                                      qemu_plugin_cb_flags flags, qemu_plugin_mem_rw rw, void *userdata);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *tb);
qemu_plugin_insn *qemu_plugin_tb_get_insn(const qemu_plugin_tb *tb, std::size_t idx);
const void *qemu_plugin_insn_data(const qemu_plugin_insn *insn);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

} // extern "C"
