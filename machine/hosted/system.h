// SPDX-License-Identifier: Apache-2.0
// The simulated machine as the hypervisor's board: memory, cores, devices, firmware, and the address spaces
// of EL2 and of each guest. For one run: make it, put a package into memory, run. Code that runs it
// (bindings, tests) includes only this header; the other files of this directory implement cores and devices.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/devices/irq_output.h"
#include "machine/hosted/guest_space.h"
#include "machine/hosted/monitors.h"
#include "machine/hosted/peripherals.h"
#include "machine/hosted/sysregs.h"
#include "machine/machine.h"
#include "machine/program/image.h"
#include "machine/program/ram.h"
#include "machine/program/window.h"

namespace bulkhead::machine::hosted {

// The memory contents that a loader would write, and the owners of frames.
struct contents {
    struct piece {
        std::uint64_t pa;
        std::span<const std::byte> bytes;
    };
    std::vector<piece> pieces;
    std::uint64_t load_address = 0;       // load address of the package
    std::span<const std::uint8_t> owners; // owner of each frame of RAM
    std::uint64_t pool_pa = 0;            // first frame of the hypervisor's memory
    std::uint64_t pool_bytes = 0;         // size of that memory in EL2's address space
    std::shared_ptr<const image> hypervisor;
    // By domain, in the manifest's order.
    struct domain {
        std::shared_ptr<const image> program;
        std::uint64_t memory_end = 0; // one past its highest IPA
        std::uint64_t others_at = 0;  // for a broker: IPA of physical address 0
                                      // (machine/hosted/guest_space.h)
    };
    std::vector<domain> domains;
};

enum class end_of_run : std::uint8_t {
    off,      // the hypervisor turned the machine off
    time,     // the time given to run() is over
    idle,     // all cores wait and nothing is due
    confused, // hosted code did something that no model supports: the reason is in `trouble`
};

class cpu;

class system {
public:
    static result<std::unique_ptr<system>> make(const settings &wanted, board_settings board, contents what);
    ~system();

    end_of_run run(picoseconds until);

    // `what` is called at the moment that started() returns.
    void when_started(std::function<void()> what) { when_started_ = std::move(what); }

    // Bytes arrive at the UART one after the other, from `when` on.
    void type(picoseconds when, std::string_view text);

    [[nodiscard]] const std::string &console() const { return console_; }
    [[nodiscard]] const std::string &trouble() const { return trouble_; }
    // When the hypervisor reported that everything has started; nothing: not yet.
    [[nodiscard]] std::optional<picoseconds> started() const { return started_; }
    [[nodiscard]] simulated_machine &hardware() { return *machine_; }
    [[nodiscard]] const ram &memory() const { return *memory_; }

    // For the files of this directory.
    [[nodiscard]] cpu &running();
    [[nodiscard]] cpu &core_at(std::size_t n) { return *cpus_[n]; }
    [[nodiscard]] std::size_t core_count() const { return cpus_.size(); }
    [[nodiscard]] devices::gic &gic() { return peripherals_->gic(); }
    // The interrupt controller's output to a core.
    [[nodiscard]] const devices::irq_output &irq_output_of(core_id which) const
    {
        return irq_outputs_[which.value];
    }
    [[nodiscard]] bool has_gic_v3() const { return board_.gic == gic_kind::v3; }
    [[nodiscard]] devices::generic_timer &timer() { return peripherals_->timer(); }
    // Performance monitors of a core; null: it has none.
    [[nodiscard]] monitors *monitors_of(core_id which)
    {
        return monitors_.empty() ? nullptr : monitors_[which.value].get();
    }
    [[nodiscard]] sysregs &device_registers() { return *device_registers_; }
    [[nodiscard]] const board_settings &board() const { return board_; }
    [[nodiscard]] window &el2_space() { return *el2_space_; }
    [[nodiscard]] const instance &hypervisor() const { return *hypervisor_; }
    [[nodiscard]] guest_space *space_of(std::uint64_t vmid);
    // null: its instruction fetches are not modelled
    [[nodiscard]] std::shared_ptr<program_text> text_of(std::uint64_t vmid) const;
    // Tells that a VCPU of a domain starts on a core. Accesses of a domain with VCPUs on several cores must
    // be made in order, even when they hit.
    void vcpu_starts(std::uint64_t vmid, core_id where);
    // Tells that a domain shares a page with EL2 on another core, or with the broker: accesses to it must be
    // made in order too.
    void share_page(phys_addr page);
    [[nodiscard]] std::byte *physical(std::uint64_t pa); // host address; as EL2 sees memory with its MMU off
    [[nodiscard]] std::byte *el2_pointer(std::uint64_t va);
    [[nodiscard]] std::uint64_t el2_address(std::uint64_t in_window) const; // the reverse of el2_pointer()
    std::uint64_t read_device(std::uint64_t pa, unsigned bytes);
    void write_device(std::uint64_t pa, unsigned bytes, std::uint64_t value);
    std::int64_t firmware(std::uint64_t function, std::uint64_t x1, std::uint64_t x2, std::uint64_t x3);
    void send_event();
    // An invalidation of translations or instruction caches by the running core reaches all other cores.
    void broadcast_maintenance();
    void translation_on(std::uint64_t ttbr0, std::uint64_t tcr);
    void map_el2_window(std::uint64_t va); // according to the tables' present contents; may remove the
                                           // mapping
    void look_for_start();
    [[noreturn]] void give_up(std::string why);

private:
    system(board_settings board, contents what);
    std::optional<refusal> make_hardware(const settings &wanted);
    void make_core_registers();
    std::optional<refusal> make_cpus();
    std::optional<refusal> make_spaces();
    std::optional<refusal> fill_memory();
    void map_before_translation();
    [[nodiscard]] std::uint64_t physical_va(std::uint64_t pa) const;
    void interrupts_changed(core_id which);
    std::int64_t cpu_on(std::uint64_t mpidr, std::uint64_t entry, std::uint64_t argument);
    [[noreturn]] void stop_for_ever();
    [[noreturn]] void rest_for_ever();

    board_settings board_;
    contents contents_;
    std::unique_ptr<ram> memory_;
    std::unique_ptr<window> el2_space_;
    std::unique_ptr<instance> hypervisor_;
    struct guest {
        std::unique_ptr<guest_space> space;
        std::unique_ptr<instance> program;
        std::uint64_t cores = 0; // bit n: a VCPU of it was started on core n
    };
    std::vector<guest> guests_;
    std::unique_ptr<simulated_machine> machine_;
    std::unique_ptr<peripherals> peripherals_;
    std::vector<devices::irq_output> irq_outputs_;
    std::vector<std::unique_ptr<monitors>> monitors_;
    std::vector<std::unique_ptr<partition_registers>> partitions_;
    std::unique_ptr<sysregs> device_registers_;
    std::vector<std::unique_ptr<cpu>> cpus_;
    std::string console_;
    std::string trouble_;
    std::optional<picoseconds> started_;
    std::function<void()> when_started_;
    bool off_ = false;
    bool translating_ = false;
};

} // namespace bulkhead::machine::hosted
