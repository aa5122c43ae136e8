// SPDX-License-Identifier: Apache-2.0
// The Python module: one machine made from settings, front ends on its cores, a run, its counts. Settings,
// walks and results are passed as JSON texts, so that the same text makes the same run in any process. Python
// is never called while the machine runs.
#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "machine/generator.h"
#include "machine/machine.h"
#include "machine/python/device_load.h"
#include "machine/python/dma_load.h"
#include "machine/python/dram_requests.h"
#include "machine/python/programs.h"
#include "machine/python/regulation_json.h"
#include "machine/python/results.h"
#include "machine/python/space_json.h"
#include "machine/python/walk_json.h"
#include "machine/settings_json.h"

namespace {

namespace nb = nanobind;
using namespace bulkhead::machine;
using nlohmann::json;

// Raises a refusal as a ValueError in Python.
template <class T> T taken(result<T> made)
{
    if (const auto *refused = std::get_if<refusal>(&made)) {
        throw std::invalid_argument(refused->reason);
    }
    return std::get<T>(std::move(made));
}

// The number of frames that the tables of an address space need.
std::uint64_t table_frames(const std::string &space)
{
    return taken(address_space::frames_for(taken(space_from_text(space)).value_or(space_settings{})));
}

// Latency of each read, and the bytes that were read and written.
nb::tuple dram_by_itself(const std::string &settings, const std::vector<dram_request> &requests,
                         std::uint64_t until_ps)
{
    const dram_outcome found = taken(dram_alone(settings, requests, until_ps));
    return nb::make_tuple(found.read_ps, found.read_bytes, found.written_bytes);
}

class python_machine {
public:
    explicit python_machine(const std::string &settings)
        : machine_(taken(simulated_machine::make(taken(settings_from_json(settings)))))
    {
    }

    void own(std::uint32_t owner, const std::vector<std::uint64_t> &pages, std::uint64_t page_bytes)
    {
        if (owner >= machine_->made_from().owners) {
            throw std::invalid_argument("owner " + std::to_string(owner) + ": the settings have " +
                                        std::to_string(machine_->made_from().owners));
        }
        for (const std::uint64_t page : pages) {
            machine_->ram().set_owner(phys_addr{page}, byte_count{page_bytes},
                                      owner_id{static_cast<std::uint8_t>(owner)});
        }
    }

    void walk_on(std::uint32_t number, const std::string &description)
    {
        core &mine = free_core(number);
        walks_.push_back(
            {number, std::make_unique<walk>(taken(walk::make(taken(walk_from_json(description)))))});
        walk *added = walks_.back().what.get();
        if (auto refused = added->prepare(mine)) {
            throw std::invalid_argument(refused->reason);
        }
        const bool endless = description_is_endless(description);
        waited_for_ += endless ? 0 : 1;
        mine.start([this, added, endless](core &on) {
            added->run_on(on);
            if (!endless) {
                one_done();
            }
        });
    }

    // A DMA engine that copies (machine/python/dma_load.h).
    void dma(const std::string &description)
    {
        auto made = taken(dma_load::make(*machine_, description, [this] { one_done(); }));
        waited_for_ += made->endless() ? 0 : 1;
        engines_.push_back(std::move(made));
    }

    // A device that masters memory without end (machine/python/device_load.h).
    void device(const std::string &description)
    {
        devices_.push_back(taken(device_load::make(*machine_, description)));
    }

    // An instrumented program. `memory`: runs of guest address, physical address and bytes; `space`: its
    // tables, or nothing.
    void program_on(std::uint32_t number, const std::string &file,
                    const std::vector<std::array<std::uint64_t, 3>> &memory,
                    const std::vector<std::string> &arguments, bool endless, std::uint64_t start_ps,
                    const std::string &space)
    {
        core &mine = free_core(number);
        if (!ram_) {
            ram_ = std::make_unique<ram>(taken(
                ram::make(std::vector<memory_range>{{machine_->ram().base(), machine_->ram().size()}})));
        }
        bare_program::setup setup{
            .memory = {}, .arguments = arguments, .space = taken(space_from_text(space))};
        for (const auto &[ipa, pa, bytes] : memory) {
            setup.memory.push_back({ipa, phys_addr{pa}, byte_count{bytes}});
        }
        auto image_file = std::make_unique<image>(taken(image::read(file)));
        auto made = taken(bare_program::make(*image_file, *ram_, mine, std::move(setup)));
        made->start(picoseconds{start_ps});
        programs_.emplace_back(number, endless, std::move(image_file), std::move(made));
    }

    // A recorded program in frames of 4 KiB. `replays`: 0 repeats without end.
    void trace_on(std::uint32_t number, const std::string &file, const std::vector<std::uint64_t> &frames,
                  std::uint64_t replays, bool endless, std::uint64_t start_ps, const std::string &space)
    {
        core &mine = free_core(number);
        std::vector<phys_addr> own;
        for (const std::uint64_t frame : frames) {
            own.push_back({frame});
        }
        auto made =
            taken(trace::recorded::make(file, std::move(own), mine, replays, taken(space_from_text(space))));
        made->start(picoseconds{start_ps});
        programs_.emplace_back(number, endless, std::move(made));
    }

    // Starts budgets and regulators now.
    void regulate(const std::string &description)
    {
        if (regulation_) {
            throw std::invalid_argument("the machine is regulated already");
        }
        regulation_ =
            taken(regulation::driver::make(*machine_, taken(regulation_from_json(description)), reached_));
    }

    // Sets the MPAM label of all further memory requests of the core.
    void label(std::uint32_t number, std::uint32_t partid, std::uint32_t group)
    {
        if (number >= machine_->core_count()) {
            throw std::invalid_argument("there is no core " + std::to_string(number));
        }
        if (partid > UINT16_MAX || group > UINT8_MAX) {
            throw std::invalid_argument("PARTID " + std::to_string(partid) + ", group " +
                                        std::to_string(group) + ": 16 and 8 bits are possible");
        }
        machine_->core_at(core_id{number})
            .set_label({static_cast<std::uint16_t>(partid), static_cast<std::uint8_t>(group)});
    }

    // Registers of an MPAM component, as software accesses them, but without taking time.
    std::uint64_t component_read(std::size_t number, std::uint64_t offset, unsigned bytes)
    {
        return component(number).read(offset, bytes, now());
    }
    void component_write(std::size_t number, std::uint64_t offset, std::uint64_t value)
    {
        component(number).write(offset, 4, value, now());
    }

    // Programs do not report their end: they are polled after each slice.
    std::string run(std::uint64_t until_ps)
    {
        std::uint64_t until = programs_.empty() ? until_ps : 0;
        for (;;) {
            until = std::min(until_ps, until + slice_ps);
            const engine::ending how = machine_->timeline().run(picoseconds{until});
            reached_ = picoseconds{until};
            if (how == engine::ending::idle) {
                return "idle";
            }
            if (how == engine::ending::stopped || (!programs_.empty() && all_done())) {
                return "stopped";
            }
            if (until == until_ps) {
                return "reached";
            }
        }
    }

    [[nodiscard]] std::string results() const
    {
        const picoseconds at = now();
        json found = results_of(*machine_, at);
        found["held"] = lines_held(*machine_);
        json walks = json::array();
        for (const on_core &one : walks_) {
            std::vector<std::uint64_t> times;
            for (const picoseconds time : one.what->times()) {
                times.push_back(time.value);
            }
            walks.push_back({{"core", one.core}, {"places", one.what->places()}, {"walk_ps", times}});
        }
        found["walks"] = std::move(walks);
        json engines = json::array();
        for (const std::unique_ptr<dma_load> &one : engines_) {
            engines.push_back(one->report());
        }
        found["engines"] = std::move(engines);
        json devices = json::array();
        for (const std::unique_ptr<device_load> &one : devices_) {
            devices.push_back(one->report());
        }
        found["devices"] = std::move(devices);
        if (regulation_) {
            found["regulation"] = regulation_results(*regulation_, at);
        }
        json programs = json::array();
        for (const program_on_core &one : programs_) {
            programs.push_back(one.report());
        }
        found["programs"] = std::move(programs);
        return found.dump();
    }

private:
    struct on_core {
        std::uint32_t core;
        std::unique_ptr<walk> what;
    };

    static constexpr std::uint64_t slice_ps = 100'000'000;

    // A walk or an engine that ends.
    void one_done()
    {
        if (--waited_for_ == 0 && programs_.empty()) {
            machine_->timeline().stop();
        }
    }

    [[nodiscard]] bool all_done() const
    {
        return waited_for_ == 0 && std::ranges::all_of(programs_, &program_on_core::done);
    }

    static bool description_is_endless(const std::string &description)
    {
        return taken(walk_from_json(description)).walks == 0;
    }

    // The time that all cores have reached.
    [[nodiscard]] picoseconds now() const
    {
        picoseconds at{};
        for (std::size_t i = 0; i < machine_->core_count(); ++i) {
            at = std::max(at, machine_->core_at(core_id{static_cast<std::uint32_t>(i)}).clock());
        }
        return at;
    }

    mpam::component &component(std::size_t number)
    {
        if (machine_->mpam() == nullptr || number >= machine_->mpam()->count()) {
            throw std::invalid_argument("there is no MPAM component " + std::to_string(number));
        }
        return machine_->mpam()->at(number);
    }

    core &free_core(std::uint32_t number)
    {
        if (number >= machine_->core_count()) {
            throw std::invalid_argument("there is no core " + std::to_string(number));
        }
        if (std::ranges::any_of(walks_, [=](const on_core &one) { return one.core == number; }) ||
            std::ranges::any_of(programs_,
                                [=](const program_on_core &one) { return one.core() == number; })) {
            throw std::invalid_argument("core " + std::to_string(number) + " has something to do already");
        }
        return machine_->core_at(core_id{number});
    }

    std::unique_ptr<simulated_machine> machine_;
    std::unique_ptr<ram> ram_;
    std::vector<on_core> walks_;
    std::vector<program_on_core> programs_;
    std::vector<std::unique_ptr<dma_load>> engines_;
    std::vector<std::unique_ptr<device_load>> devices_;
    std::size_t waited_for_ = 0;
    std::unique_ptr<regulation::driver> regulation_;
    picoseconds reached_{}; // the time up to which it ran
};

} // namespace

NB_MODULE(_machine, module) // NOLINT(performance-unnecessary-value-param): the macro declares it
{
    module.doc() = "The simulated machine.";
    module.def("table_frames", &table_frames, nb::arg("space"));
    module.def("dram_alone", &dram_by_itself, nb::arg("settings"), nb::arg("requests"), nb::arg("until_ps"));
    nb::class_<python_machine>(module, "Machine")
        .def(nb::init<const std::string &>(), nb::arg("settings"))
        .def("own", &python_machine::own, nb::arg("owner"), nb::arg("pages"), nb::arg("page_bytes") = 4096)
        .def("walk", &python_machine::walk_on, nb::arg("core"), nb::arg("description"))
        .def("dma", &python_machine::dma, nb::arg("description"))
        .def("device", &python_machine::device, nb::arg("description"))
        .def("program", &python_machine::program_on, nb::arg("core"), nb::arg("file"), nb::arg("memory"),
             nb::arg("arguments"), nb::arg("endless") = false, nb::arg("start_ps") = 0, nb::arg("space") = "")
        .def("trace", &python_machine::trace_on, nb::arg("core"), nb::arg("file"), nb::arg("frames"),
             nb::arg("replays") = 1, nb::arg("endless") = false, nb::arg("start_ps") = 0,
             nb::arg("space") = "")
        .def("regulate", &python_machine::regulate, nb::arg("description"))
        .def("label", &python_machine::label, nb::arg("core"), nb::arg("partid"), nb::arg("group") = 0)
        .def("component_read", &python_machine::component_read, nb::arg("component"), nb::arg("offset"),
             nb::arg("nbytes") = 4)
        .def("component_write", &python_machine::component_write, nb::arg("component"), nb::arg("offset"),
             nb::arg("value"))
        .def("run", &python_machine::run, nb::arg("until_ps"), nb::call_guard<nb::gil_scoped_release>())
        .def("results", &python_machine::results);
}
