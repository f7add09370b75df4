#include "launcher.h"

#include <cstdio>
#include <stdexcept>

namespace normtune_torch {
namespace {

constexpr int compute_units = 16;  // CU_DEVICE_ATTRIBUTE_…
constexpr int capability_major = 75;
constexpr int capability_minor = 76;
constexpr int shared_bytes_opt_in = 97;
constexpr int max_dynamic_shared_bytes = 8;  // CU_FUNC_ATTRIBUTE_…
constexpr int non_portable_cluster_size = 14;
constexpr unsigned most_portable = 8;  // programs of a cluster
constexpr unsigned static_limit = 48 * 1024;

}  // namespace

std::string contents(const std::string& path) {
    std::string out;
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    char part[1 << 16];
    for (std::size_t count = 0; file != nullptr && (count = std::fread(part, 1, sizeof part, file)) > 0;) {
        out.append(part, count);
    }
    const bool failed = file == nullptr || std::ferror(file) != 0;
    if (file != nullptr) {
        std::fclose(file);
    }
    if (failed) {
        throw std::runtime_error(path + ": cannot be read; install the package again");
    }
    return out;
}

Launcher::Launcher(std::string folder, Table table, const Driver& driver)
    : folder_(std::move(folder)), table_(std::move(table)), driver_(driver) {}

std::unique_ptr<Launcher::Place> Launcher::describe(int ordinal) const {
    auto out = std::make_unique<Place>();
    out->ordinal = ordinal;
    check(driver_, driver_.device_get(&out->device, ordinal), "device");
    char name[256]{};
    int major = 0;
    int minor = 0;
    check(driver_, driver_.device_get_name(name, sizeof name - 1, out->device), "name of the device");
    check(driver_, driver_.device_get_attribute(&out->compute_units, compute_units, out->device), "compute units");
    check(driver_, driver_.device_get_attribute(&major, capability_major, out->device), "compute capability");
    check(driver_, driver_.device_get_attribute(&minor, capability_minor, out->device), "compute capability");
    out->tuned = table_.find(name, major, minor);
    if (out->tuned != nullptr) {
        driver_.device_get_attribute(&out->limits.shared_bytes, shared_bytes_opt_in, out->device);  // 0: not told
        out->limits.is_other_minor = out->tuned->arch != "sm_" + std::to_string(10 * major + minor);
    }
    out->functions = std::vector<std::atomic<Function>>(table_.codes.size() * kernel_names.size());
    out->modules.resize(table_.codes.size());
    return out;
}

Launcher::Place& Launcher::place(int ordinal) {
    std::atomic<Place*>& known = places_.at(static_cast<std::size_t>(ordinal));
    if (Place* const here = known.load(std::memory_order_acquire)) {
        return *here;
    }
    const std::lock_guard lock(loading_);
    if (Place* const here = known.load(std::memory_order_relaxed)) {
        return *here;
    }
    owned_.push_back(describe(ordinal));
    known.store(owned_.back().get(), std::memory_order_release);
    return *owned_.back();
}

void Launcher::make_current(const Place& place) const {
    thread_local bool has_context = false;
    if (has_context) {
        return;
    }
    // A thread that has made no CUDA call yet has no context, also where its current device is the right one.
    Context context = nullptr;
    check(driver_, driver_.context_get_current(&context), "context");
    if (context == nullptr) {
        check(driver_, driver_.primary_context_retain(&context, place.device), "context");
        check(driver_, driver_.context_set_current(context), "context");
    }
    has_context = true;
}

Function Launcher::function(Place& place, const Step& step, const Launch& launch) {
    const auto code = static_cast<std::size_t>(step.code);
    std::atomic<Function>& known = place.functions[code * kernel_names.size() + static_cast<std::size_t>(launch.kernel)];
    if (const Function here = known.load(std::memory_order_acquire)) {
        return here;
    }
    const std::lock_guard lock(loading_);
    if (const Function here = known.load(std::memory_order_relaxed)) {
        return here;
    }
    const std::string path = folder_ + "/" + table_.codes[code];
    const std::string image = contents(path);
    Module& module = place.modules[code];
    Function function = nullptr;
    Result result = 0;
    {
        const Relaxed outside(driver_);
        result = module != nullptr ? 0 : driver_.module_load_data(&module, image.c_str());
        if (result == 0) {
            result = driver_.module_get_function(&function, module, kernel_names[static_cast<std::size_t>(launch.kernel)]);
        }
        if (result == 0 && launch.shared_bytes > static_limit) {
            result = driver_.function_set_attribute(function, max_dynamic_shared_bytes, static_cast<int>(launch.shared_bytes));
        }
        if (result == 0 && launch.cluster > most_portable) {
            result = driver_.function_set_attribute(function, non_portable_cluster_size, 1);
        }
    }
    check(driver_, result, path.c_str());
    known.store(function, std::memory_order_release);
    return function;
}

void Launcher::launch(Place& place, const Step& step, const Plan& plan, Stream stream) {
    make_current(place);
    std::unique_lock<std::mutex> lock(launching_, std::defer_lock);
    if (plan.count > 1) {
        lock.lock();
    }
    for (int i = 0; i < plan.count; ++i) {
        const Launch& one = plan.launches[static_cast<std::size_t>(i)];
        LaunchAttribute attributes[3]{};
        unsigned count = 0;
        for (const auto& [wanted, id] :
             {std::pair{one.cooperative, attribute_cooperative}, {one.overlaps, attribute_programmatic_stream_serialization}}) {
            if (wanted) {
                attributes[count].id = id;
                attributes[count++].value.flag = 1;
            }
        }
        if (one.cluster > 1) {
            attributes[count].id = attribute_cluster_dimension;
            attributes[count].value.cluster[0] = one.cluster;
            attributes[count].value.cluster[1] = attributes[count].value.cluster[2] = 1;
            ++count;
        }
        const LaunchConfig config{one.grid_x, one.grid_y, 1, one.threads, 1, 1, one.shared_bytes, stream, attributes, count};
        void* arguments[12];
        for (int a = 0; a < one.count; ++a) {
            arguments[a] = const_cast<Argument*>(&one.arguments[static_cast<std::size_t>(a)]);
        }
        check(driver_, driver_.launch_kernel(&config, function(place, step, one), arguments, nullptr), step.key.c_str());
    }
}

bool Launcher::is_capturing(const Place& place, Stream stream) const {
    make_current(place);
    int status = 0;
    check(driver_, driver_.stream_is_capturing(stream, &status), "stream");
    return status != 0;
}

char* Launcher::kept_memory(const Place& place, const Step& step, Stream stream, std::int64_t bytes) {
    make_current(place);
    const std::lock_guard lock(keeping_);
    Kept& kept = kept_[{place.ordinal, stream, &step}];
    if (kept.bytes < bytes) {  // a smaller one before it may still be in use; this one is twice as large at the least
        Kept larger{0, std::max(bytes, 2 * kept.bytes)};
        const Relaxed outside(driver_);
        if (driver_.memory_allocate(&larger.at, static_cast<std::size_t>(larger.bytes)) != 0 ||
            driver_.memory_set(larger.at, 0, static_cast<std::size_t>(larger.bytes), stream) != 0) {
            return nullptr;
        }
        kept = larger;
    }
    return reinterpret_cast<char*>(kept.at);
}

char* Launcher::graph_memory(const Place& place, const Step& step, Stream stream, std::int64_t bytes) {
    make_current(place);
    return graph_memory_.of(place.ordinal, stream, &step, bytes);
}

}  // namespace normtune_torch
