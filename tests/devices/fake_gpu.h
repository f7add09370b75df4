// A GPU that computes nothing behind a driver's table: its memory is the host's, its clock goes on by what a launch is
// said to take, and any of its calls can be told to fail. One at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "devices/gpu/driver.h"

namespace normtune::gpu {

class FakeGpu {
public:
    FakeGpu() { current_ = this; }
    ~FakeGpu() { current_ = nullptr; }
    FakeGpu(const FakeGpu&) = delete;
    FakeGpu& operator=(const FakeGpu&) = delete;

    static constexpr Result error_illegal_address = 700;
    static constexpr Result error_out_of_resources = 701;
    static constexpr Result error_invalid_value = 1;

    // What it is told to do.
    std::function<double(const std::string& kernel)> launch_us = [](const std::string&) { return 10.0; };
    std::function<unsigned(const std::string& kernel)> most_threads = [](const std::string&) { return 1024U; };  // that its registers hold
    std::string failing_call;                                                                                    // a member of Driver
    Result failing_result = error_illegal_address;
    int failing_occasion = 1;
    bool broken = false;  // fails all from then on, as after an illegal address
    std::size_t memory_bytes = std::size_t{64} << 20;
    std::map<Attribute, int> attributes{{Attribute::threads_per_compute_unit, 2048},
                                        {Attribute::can_wait_for_value, 1},
                                        {Attribute::memory_clock_khz, 1'000'000},
                                        {Attribute::memory_bus_bits, 8192}};
    int programs_of_a_unit = 8;
    int clusters_of_the_device = 16;
    bool launches_block = false;  // until the stream's gate is open

    // What was done.
    struct Launched {
        std::string kernel;
        std::uint64_t first_argument = 0;
        unsigned shared_bytes = 0;  // dynamic
        unsigned threads = 0;       // of a program
        unsigned programs = 0;
        bool whole = false;  // a copy of whole pieces alone: its name's "_whole" is taken off
        bool operator==(const Launched&) const = default;
    };
    std::vector<Launched> launches;     // without those that settle the device or clear its L2
    std::set<std::string> overlapping;  // kernels that were launched to begin while the launch ahead runs
    std::vector<std::string> queue;     // "gate", "event", "graph", and kernels outside of graphs: "nt_evict", "nt_settle early"
    std::map<std::string, int> calls;
    bool in_graph = false;  // what is launched now
    std::size_t alive() const {
        return memory_.size() + host_memory_.size() + modules_.size() + events_.size() + graphs_.size() + execs_.size();
    }

    Driver table() const;

private:
    /// The call's result: the planned failure on its occasion, else success.
    Result call(const char* name) {
        const bool fails = failing_call == name && ++calls[name] == failing_occasion;
        broken = broken || (fails && failing_result == error_illegal_address);
        return fails ? failing_result : broken ? error_illegal_address : success;
    }
    void play(const Launched& launch) {
        if (launch.kernel != "nt_settle" && launch.kernel != "nt_evict" && launch.kernel != "nt_demote") {
            launches.push_back(launch);
        }
        now_us_ += launch_us(launch.kernel);
        broken = broken || launch.kernel == "nt_spoil";
    }
    void wait_for_gate() const {
        while (launches_block && !capturing_ && gate_.flag != 0 &&
               std::atomic_ref(*reinterpret_cast<std::uint32_t*>(gate_.flag)).load() != gate_.ticket) {
            std::this_thread::yield();
        }
    }
    void enqueue(const Launched& launch) {
        if (capturing_) {
            capturing_->push_back(launch);
        } else {
            play(launch);
        }
    }
    template <typename Handle, typename Objects>
    static Handle made(Objects& objects, typename Objects::mapped_type object) {
        const std::uintptr_t handle = ++handles_ * 16;
        objects.emplace(handle, std::move(object));
        return reinterpret_cast<Handle>(handle);
    }
    template <typename Objects, typename Handle>
    static Result gone(Objects& objects, Handle handle) {
        return objects.erase(reinterpret_cast<std::uintptr_t>(handle)) == 1 ? success : 400;
    }

    using Graphs = std::map<std::uintptr_t, std::vector<Launched>>;
    static inline FakeGpu* current_ = nullptr;
    static inline std::uintptr_t handles_ = 0;
    struct Gate {
        DevicePointer flag = 0;
        std::uint32_t ticket = 0;
    };
    Gate gate_;
    double now_us_ = 0;
    std::map<std::uintptr_t, std::vector<std::byte>> memory_;
    std::map<std::uintptr_t, std::vector<std::byte>> host_memory_;
    std::map<std::uintptr_t, int> modules_;
    std::map<std::uintptr_t, double> events_;
    Graphs graphs_;
    Graphs execs_;
    std::set<std::string> names_;
    std::map<Function, std::int64_t> allowed_shared_;  // by functions that were given more than any may have
    std::optional<std::vector<Launched>> capturing_;
};

// NOLINTBEGIN: one line a call, in the table's order.
inline Driver FakeGpu::table() const {
    Driver d{};
#define GPU (*FakeGpu::current_)
#define CALL(name)                                        \
    if (const Result r = GPU.call(#name); r != success) { \
        return r;                                         \
    }
    d.describe = [](Result result) { return "error " + std::to_string(result); };
    d.device_get = [](DeviceId* id, int ordinal) -> Result {
        CALL(device_get)* id = ordinal;
        return success;
    };
    d.device_get_attribute = [](int* value, Attribute a, DeviceId) -> Result {
        CALL(device_get_attribute)* value = GPU.attributes[a];
        return success;
    };
    d.device_use = [](DeviceId) -> Result { CALL(device_use) return success; };
    d.memory_get_info = [](std::size_t* free, std::size_t* total) -> Result {
        CALL(memory_get_info)* free = *total = GPU.memory_bytes;
        return success;
    };
    d.memory_alloc = [](DevicePointer* p, std::size_t bytes) -> Result {
        CALL(memory_alloc)
        if (bytes > GPU.memory_bytes) {
            return error_out_of_memory;
        }
        std::vector<std::byte> block(bytes);
        *p = reinterpret_cast<DevicePointer>(block.data());
        GPU.memory_.emplace(*p, std::move(block));
        return success;
    };
    d.memory_free = [](DevicePointer p) -> Result { return GPU.memory_.erase(p) == 1 ? success : 400; };
    d.memory_host_alloc = [](void** p, std::size_t bytes, unsigned) -> Result {
        CALL(memory_host_alloc)
        std::vector<std::byte> block(bytes);
        *p = block.data();
        GPU.host_memory_.emplace(reinterpret_cast<std::uintptr_t>(*p), std::move(block));
        return success;
    };
    d.memory_host_get_device_pointer = [](DevicePointer* p, void* host, unsigned) -> Result {
        CALL(memory_host_get_device_pointer)* p = reinterpret_cast<DevicePointer>(host);
        return success;
    };
    d.memory_free_host = [](void* p) -> Result { return gone(GPU.host_memory_, p); };
    d.copy_to_device = [](DevicePointer to, const void* from, std::size_t n) -> Result {
        CALL(copy_to_device) std::memcpy(reinterpret_cast<void*>(to), from, n);
        return success;
    };
    d.copy_to_host = [](void* to, DevicePointer from, std::size_t n) -> Result {
        CALL(copy_to_host) std::memcpy(to, reinterpret_cast<void*>(from), n);
        return success;
    };
    d.copy_on_device_async = [](DevicePointer to, DevicePointer from, std::size_t n, Stream) -> Result {
        CALL(copy_on_device_async)
        if (!GPU.capturing_) {
            std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n);
        }
        GPU.enqueue({"copy", from});
        return success;
    };
    d.set_u32_async = [](DevicePointer to, unsigned value, std::size_t n, Stream) -> Result {
        CALL(set_u32_async)
        for (std::size_t i = 0; i < n; ++i) {
            std::memcpy(reinterpret_cast<char*>(to) + 4 * i, &value, 4);
        }
        return success;
    };
    d.module_load_data = [](Module* m, const void*) -> Result {
        CALL(module_load_data)* m = made<Module>(GPU.modules_, 0);
        return success;
    };
    d.module_unload = [](Module m) -> Result { return gone(GPU.modules_, m); };
    d.module_get_function = [](Function* f, Module, const char* name) -> Result {
        CALL(module_get_function)
        *f = reinterpret_cast<Function>(const_cast<std::string*>(&*GPU.names_.insert(name).first));
        return success;
    };
    d.function_allow_shared = [](Function f, std::int64_t bytes) -> Result {
        CALL(function_allow_shared) GPU.allowed_shared_[f] = bytes;
        return success;
    };
    d.occupancy_blocks = [](int* programs, Function, int, std::size_t) -> Result {
        CALL(occupancy_blocks)* programs = GPU.programs_of_a_unit;
        return success;
    };
    d.occupancy_clusters = [](int* clusters, Function, const LaunchShape&) -> Result {
        CALL(occupancy_clusters)* clusters = GPU.clusters_of_the_device;
        return success;
    };
    d.launch_kernel = [](Function f, const LaunchShape& shape, void** arguments, Stream) -> Result {
        CALL(launch_kernel)
        std::string kernel = *reinterpret_cast<std::string*>(f);
        const bool whole = kernel.ends_with("_whole");
        kernel.resize(kernel.size() - (whole ? std::string_view("_whole").size() : 0));
        if (shape.overlaps && kernel != "nt_settle") {
            GPU.overlapping.insert(kernel);
        }
        if (!GPU.capturing_) {
            GPU.queue.push_back(kernel + (shape.overlaps ? " early" : ""));
        }
        if (shape.block[0] > GPU.most_threads(kernel)) {
            return error_out_of_resources;
        }
        if (constexpr unsigned unasked = 48 << 10; shape.shared_bytes > std::max<std::int64_t>(unasked, GPU.allowed_shared_[f])) {
            return error_invalid_value;
        }
        if (kernel == "nt_gate") {
            GPU.gate_ = {*static_cast<DevicePointer*>(arguments[0]), *static_cast<std::uint32_t*>(arguments[1])};
        }
        GPU.wait_for_gate();
        GPU.enqueue({kernel, arguments == nullptr ? 0 : *static_cast<std::uint64_t*>(arguments[0]), shape.shared_bytes, shape.block[0],
                     shape.grid[0], whole});
        return success;
    };
    d.stream_create = [](Stream*, unsigned) -> Result { CALL(stream_create) return success; };
    d.stream_synchronize = [](Stream) -> Result { CALL(stream_synchronize) return success; };
    d.stream_wait_value32 = [](Stream, DevicePointer flag, std::uint32_t ticket) -> Result {
        CALL(stream_wait_value32) GPU.queue.emplace_back("gate");
        GPU.gate_ = {flag, ticket};
        return success;
    };
    d.stream_begin_capture = [](Stream, int) -> Result {
        CALL(stream_begin_capture) GPU.capturing_.emplace();
        return success;
    };
    d.stream_end_capture = [](Stream, Graph* graph) -> Result {
        std::vector<Launched> captured = std::move(GPU.capturing_.value());
        GPU.capturing_.reset();
        CALL(stream_end_capture)
        *graph = made<Graph>(GPU.graphs_, std::move(captured));
        return success;
    };
    d.event_create = [](Event* e, unsigned) -> Result {
        CALL(event_create)* e = made<Event>(GPU.events_, 0);
        return success;
    };
    d.event_record = [](Event e, Stream) -> Result {
        CALL(event_record) GPU.queue.emplace_back("event");
        GPU.events_.at(reinterpret_cast<std::uintptr_t>(e)) = GPU.now_us_;
        return success;
    };
    d.event_synchronize = [](Event) -> Result { CALL(event_synchronize) return success; };
    d.event_elapsed_ms = [](float* ms, Event start, Event end) -> Result {
        CALL(event_elapsed_ms)
        *ms = static_cast<float>(
            (GPU.events_.at(reinterpret_cast<std::uintptr_t>(end)) - GPU.events_.at(reinterpret_cast<std::uintptr_t>(start))) / 1e3);
        return success;
    };
    d.event_destroy = [](Event e) -> Result { return gone(GPU.events_, e); };
    d.graph_instantiate = [](GraphExec* exec, Graph graph, unsigned long long) -> Result {
        CALL(graph_instantiate)
        *exec = made<GraphExec>(GPU.execs_, GPU.graphs_.at(reinterpret_cast<std::uintptr_t>(graph)));
        return success;
    };
    d.graph_upload = [](GraphExec, Stream) -> Result { CALL(graph_upload) return success; };
    d.graph_launch = [](GraphExec exec, Stream) -> Result {
        CALL(graph_launch) GPU.queue.emplace_back("graph");
        GPU.in_graph = true;
        for (const Launched& launch : GPU.execs_.at(reinterpret_cast<std::uintptr_t>(exec))) {
            GPU.play(launch);
        }
        GPU.in_graph = false;
        return success;
    };
    d.graph_exec_destroy = [](GraphExec exec) -> Result { return gone(GPU.execs_, exec); };
    d.graph_destroy = [](Graph graph) -> Result { return gone(GPU.graphs_, graph); };
#undef CALL
#undef GPU
    return d;
}
// NOLINTEND

}  // namespace normtune::gpu
