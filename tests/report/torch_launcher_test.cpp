#include "../../python/torch_package/normtune_kernels/csrc/launcher.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "support/scratch_folder.h"

#include "../../python/torch_package/normtune_kernels/csrc/driver.cpp"
#include "../../python/torch_package/normtune_kernels/csrc/graph_memory.cpp"
#include "../../python/torch_package/normtune_kernels/csrc/launcher.cpp"

namespace normtune {
namespace {

namespace torch = normtune_torch;

/// A driver of two devices, which writes down what it is asked for.
struct Fake {
    struct Seen {
        torch::LaunchConfig config;
        std::map<int, unsigned> attributes;  // by id; of a cluster its first size
        std::string function;
        std::vector<std::int64_t> first_words;  // of the arguments
    };
    std::mutex mutex;
    std::vector<std::string> images;  // as they were loaded
    std::set<std::string> functions;
    std::vector<std::string> settings;  // of functions
    std::vector<Seen> launches;
    std::vector<int> modes;  // of capture, as they were set
    torch::Context current = nullptr;
    int retained = 0;
    int made_current = 0;
    int capturing = 0;
    std::uint64_t capture = 1;
    struct Object {
        void* object;
        void (*destroy)(void*);
        torch::Graph graph;
    };
    std::vector<Object> objects;
    std::vector<std::pair<torch::DevicePointer, std::size_t>> cleared;
    std::size_t memory = 1 << 20;  // bytes left
    std::uintptr_t next_address = 4096;
    torch::Result retaining = 0;
    int released = 0;
    torch::Result loading = 0;
};
Fake* fake = nullptr;

template <typename Pointer>
Pointer handle(std::uintptr_t number) {
    return reinterpret_cast<Pointer>(number);
}

torch::Result get_error_name(torch::Result, const char** name) {
    *name = "CUDA_ERROR_OF_A_TEST";
    return 0;
}
torch::Result device_get(int* device, int ordinal) {
    *device = ordinal + 100;
    return ordinal < 2 ? 0 : 101;
}
torch::Result device_get_name(char* name, int length, int device) {
    std::snprintf(name, static_cast<std::size_t>(length), "%s", device == 100 ? "Tuned" : "Unknown");
    return 0;
}
torch::Result device_get_attribute(int* value, int attribute, int device) {
    *value = attribute == 16 ? 132 : attribute == 75 ? (device == 100 ? 9 : 8) : 0;
    return 0;
}
torch::Result primary_context_retain(torch::Context* context, int device) {
    const std::lock_guard lock(fake->mutex);
    fake->retained = device;
    *context = handle<torch::Context>(7);
    return 0;
}
torch::Result context_get_current(torch::Context* context) {
    *context = fake->current;
    return 0;
}
torch::Result context_set_current(torch::Context) {
    const std::lock_guard lock(fake->mutex);
    ++fake->made_current;
    return 0;
}
torch::Result module_load_data(torch::Module* module, const void* image) {
    const std::lock_guard lock(fake->mutex);
    if (fake->loading != 0) {
        return fake->loading;
    }
    fake->images.emplace_back(static_cast<const char*>(image));
    *module = handle<torch::Module>(fake->images.size());
    return 0;
}
torch::Result module_get_function(torch::Function* function, torch::Module module, const char* name) {
    const std::lock_guard lock(fake->mutex);
    const std::string& image = fake->images.at(reinterpret_cast<std::uintptr_t>(module) - 1);
    const auto [place, is_new] = fake->functions.insert(image + ":" + name);
    *function = reinterpret_cast<torch::Function>(const_cast<char*>(place->c_str()));
    return is_new ? 0 : 999;  // each is looked up once
}
torch::Result function_set_attribute(torch::Function function, int attribute, int value) {
    const std::lock_guard lock(fake->mutex);
    fake->settings.push_back(std::string(reinterpret_cast<const char*>(function)) + " " + std::to_string(attribute) + "=" +
                             std::to_string(value));
    return 0;
}
torch::Result stream_is_capturing(torch::Stream, int* status) {
    *status = fake->capturing;
    return 0;
}
torch::Result exchange_capture_mode(int* mode) {
    static thread_local int now = 0;
    const std::lock_guard lock(fake->mutex);
    fake->modes.push_back(*mode);
    std::swap(*mode, now);
    return 0;
}
torch::Result stream_get_capture_info(torch::Stream, int* status, std::uint64_t* id, torch::Graph* graph, const void**, std::size_t*) {
    *status = fake->capturing;
    *id = fake->capture;
    *graph = handle<torch::Graph>(fake->capture);
    return 0;
}
torch::Result user_object_create(torch::UserObject* made, void* object, void (*destroy)(void*), unsigned references, unsigned flags) {
    fake->objects.push_back({object, destroy, nullptr});
    *made = handle<torch::UserObject>(fake->objects.size());
    return references == 1 && flags == 1 ? 0 : 1;
}
torch::Result user_object_release(torch::UserObject made, unsigned) {
    const Fake::Object object = fake->objects.at(reinterpret_cast<std::uintptr_t>(made) - 1);
    object.destroy(object.object);
    ++fake->released;
    return 0;
}
torch::Result graph_retain_user_object(torch::Graph graph, torch::UserObject made, unsigned references, unsigned flags) {
    fake->objects.at(reinterpret_cast<std::uintptr_t>(made) - 1).graph = graph;
    return references == 1 && flags == 1 ? fake->retaining : 1;
}
torch::Result memory_allocate(torch::DevicePointer* at, std::size_t bytes) {
    if (bytes > fake->memory) {
        return 2;
    }
    fake->memory -= bytes;
    *at = fake->next_address;
    fake->next_address += 1 << 24;
    return 0;
}
torch::Result memory_set(torch::DevicePointer at, unsigned char value, std::size_t bytes, torch::Stream stream) {
    fake->cleared.emplace_back(at, bytes);
    return value == 0 && (stream == handle<torch::Stream>(99) || fake->capturing == 0)
               ? 0
               : 1;  // a stream that captures would do it at every replay
}
torch::Result stream_create(torch::Stream* stream, unsigned flags) {
    *stream = handle<torch::Stream>(99);
    return flags == 1 ? 0 : 1;
}
torch::Result stream_synchronize(torch::Stream stream) {
    return stream == handle<torch::Stream>(99) ? 0 : 1;
}
torch::Result launch_kernel(const torch::LaunchConfig* config, torch::Function function, void** arguments, void**) {
    const std::lock_guard lock(fake->mutex);
    Fake::Seen seen{*config, {}, reinterpret_cast<const char*>(function), {}};
    for (unsigned i = 0; i < config->attribute_count; ++i) {
        seen.attributes[config->attributes[i].id] = config->attributes[i].value.cluster[0];
    }
    for (int i = 0; i < 4; ++i) {
        std::memcpy(&seen.first_words.emplace_back(), arguments[i], sizeof(std::int64_t));
    }
    fake->launches.push_back(seen);
    return 0;
}

constexpr torch::Driver driver{get_error_name,
                               device_get,
                               device_get_name,
                               device_get_attribute,
                               primary_context_retain,
                               context_get_current,
                               context_set_current,
                               module_load_data,
                               module_get_function,
                               function_set_attribute,
                               stream_is_capturing,
                               exchange_capture_mode,
                               stream_get_capture_info,
                               user_object_create,
                               user_object_release,
                               graph_retain_user_object,
                               memory_allocate,
                               memory_set,
                               stream_create,
                               stream_synchronize,
                               launch_kernel};

constexpr const char* launcher_table = R"(normtune_kernels 2
code a.cubin
code b.cubin
code missing.cubin
device sm_90 132 Tuned
entry rms_norm forward bf16 bf16 llama 1 0 4096 4096
step 90 1000 0 0 256 49152 per_row 1 0 1 0 1 - 0 64 64 4 1 1 0 8 1.5 0.9 plain
step 9000 10000 0 1 512 49153 per_row 1 0 1 0 16 - 0 64 64 4 1 1 1 1024 2.5 0.9 cluster
step 90000 100000 0 2 512 0 per_row 1 0 1 0 1 - 0 64 64 4 1 1 0 10240 2.5 0.9 missing
entry rms_norm backward bf16 bf16 llama 1 0 4096 4096
step 100 1000 0 0 256 0 persistent_strided 1 0 1 0 1 published 0 64 64 4 1 1 0 8 1.5 0.9 published
step 1000 10000 900 0 256 0 persistent_strided 1 0 1 0 1 cooperative 0 64 64 4 1 1 0 900 1.5 0.9 cooperative
)";

class TorchLauncher : public ::testing::Test {
protected:
    TorchLauncher() {
        fake = &fake_;
        for (const char* name : {"a.cubin", "b.cubin"}) {
            std::ofstream(folder_.path(name)) << "code of " << name;
        }
        work_.cols = work_.row_stride = 4096;
    }
    ~TorchLauncher() override { fake = nullptr; }

    /// A call of so many rows, whose tensors are at 16, 32, … and workspace at 4096.
    void call(std::int64_t rows, torch::Mode mode = torch::Mode::forward, int ordinal = 0) {
        torch::Work work = work_;
        work.mode = mode;
        torch::Launcher::Place& place = launcher_.place(ordinal);
        const torch::Step* const step = place.tuned->choose(work, rows, place.compute_units);
        ASSERT_NE(step, nullptr);
        torch::Tensors t;
        const auto at = [](std::uintptr_t address) { return reinterpret_cast<char*>(address); };
        t.x = at(16);
        t.residual = at(32);
        t.gamma = at(48);
        t.y = at(64);
        t.dy = at(80);
        t.workspace = at(4096);
        t.rows = rows;
        launcher_.launch(place, *step, torch::plan(*step, work, t, place.compute_units), handle<torch::Stream>(77));
    }

    Fake fake_;
    ScratchFolder folder_;
    torch::Work work_;
    torch::Launcher launcher_{folder_.path(), torch::Table::read(launcher_table), driver};
};

TEST_F(TorchLauncher, LoadsCodeOnceAndLaunchesWhatThePlanSays) {
    call(8);
    call(9);
    EXPECT_EQ(fake_.images, std::vector<std::string>{"code of a.cubin"});
    ASSERT_EQ(fake_.launches.size(), 2u);
    const Fake::Seen& seen = fake_.launches[1];
    EXPECT_EQ(seen.function, "code of a.cubin:nt_forward");
    EXPECT_EQ(seen.config.grid_x, 9u);
    EXPECT_EQ(seen.config.block_x, 256u);
    EXPECT_EQ(seen.config.shared_bytes, 49152u);
    EXPECT_EQ(seen.config.stream, handle<torch::Stream>(77));
    EXPECT_EQ(seen.first_words, (std::vector<std::int64_t>{16, 32, 48, 64}));
    EXPECT_TRUE(seen.attributes.empty());
    EXPECT_TRUE(fake_.settings.empty());  // 48 KiB take no leave
}

TEST_F(TorchLauncher, MuchSharedMemoryAndLargeClustersAreAskedForOnce) {
    call(1024);
    call(1024);
    EXPECT_EQ(fake_.settings, (std::vector<std::string>{"code of b.cubin:nt_forward 8=49153", "code of b.cubin:nt_forward 14=1"}));
    const Fake::Seen& seen = fake_.launches.at(0);
    EXPECT_EQ(seen.config.grid_x, 1024u * 16);
    EXPECT_EQ(seen.attributes,
              (std::map<int, unsigned>{{torch::attribute_cluster_dimension, 16}, {torch::attribute_programmatic_stream_serialization, 1}}));
}

TEST_F(TorchLauncher, KernelsOfAPlanFollowEachOtherAlsoWhereThreadsCallAtOnce) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 25; ++n) {
                call(8, torch::Mode::backward);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    ASSERT_EQ(fake_.launches.size(), 200u);
    for (std::size_t i = 0; i < fake_.launches.size(); i += 2) {
        EXPECT_EQ(fake_.launches[i].function, "code of a.cubin:nt_backward");
        EXPECT_EQ(fake_.launches[i + 1].function, "code of a.cubin:nt_reduce");
        EXPECT_EQ(fake_.launches[i + 1].first_words[0], 4096 + 256);
    }
    EXPECT_EQ(fake_.images.size(), 1u);
    EXPECT_EQ(fake_.functions.size(), 2u);
}

TEST_F(TorchLauncher, ACooperativeLaunchSaysSo) {
    call(900, torch::Mode::backward);
    ASSERT_EQ(fake_.launches.size(), 1u);
    EXPECT_EQ(fake_.launches[0].attributes, (std::map<int, unsigned>{{torch::attribute_cooperative, 1}}));
    EXPECT_EQ(fake_.launches[0].config.grid_x, 132u);
}

TEST_F(TorchLauncher, LoadingIsNoPartOfACaptureThatGoesOn) {
    call(8);
    EXPECT_EQ(fake_.modes, (std::vector<int>{torch::relaxed, 0}));
    EXPECT_FALSE(launcher_.is_capturing(launcher_.place(0), nullptr));
    fake_.capturing = 1;
    EXPECT_TRUE(launcher_.is_capturing(launcher_.place(0), nullptr));
}

TEST_F(TorchLauncher, WhatIsKeptForAStreamIsClearedOnceAndNoPartOfACapture) {
    const torch::Launcher::Place& place = launcher_.place(0);
    const torch::Step one;
    const torch::Step other;
    const auto stream = handle<torch::Stream>(77);
    char* const first = launcher_.kept_memory(place, one, stream, 4096);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(fake_.modes, (std::vector<int>{torch::relaxed, 0}));
    EXPECT_EQ(launcher_.kept_memory(place, one, stream, 2048), first);
    EXPECT_EQ(fake_.cleared,
              (std::vector<std::pair<torch::DevicePointer, std::size_t>>{{reinterpret_cast<torch::DevicePointer>(first), 4096}}));
    EXPECT_NE(launcher_.kept_memory(place, other, stream, 4096), first);
    EXPECT_NE(launcher_.kept_memory(place, one, handle<torch::Stream>(78), 4096), first);
    char* const larger = launcher_.kept_memory(place, one, stream, 5000);
    EXPECT_NE(larger, first);
    EXPECT_EQ(fake_.cleared.back().second, 8192u) << "so that few are left behind";
    EXPECT_EQ(launcher_.kept_memory(place, one, stream, 8192), larger);
    EXPECT_EQ(launcher_.kept_memory(place, one, stream, 2 << 20), nullptr);
    EXPECT_EQ(launcher_.kept_memory(place, one, stream, 8192), larger);
}

TEST_F(TorchLauncher, AThreadHasAContextBeforeItsStreamIsAskedAbout) {
    const torch::Launcher::Place& place = launcher_.place(0);
    const int before = fake_.made_current;
    std::thread([&] { launcher_.is_capturing(place, nullptr); }).join();
    EXPECT_EQ(fake_.made_current, before + 1);
}

/// Launches of one step that a capture records on one stream share memory, which the graph owns and a later capture may have.
TEST_F(TorchLauncher, AGraphKeepsItsWorkspaceUntilItIsGone) {
    const torch::Launcher::Place& place = launcher_.place(0);
    const torch::Step one;
    const torch::Step other;
    const auto stream = handle<torch::Stream>(77);
    const auto beside = handle<torch::Stream>(78);
    EXPECT_EQ(launcher_.graph_memory(place, one, stream, 4096), nullptr);  // captures nothing
    fake_.capturing = 1;
    char* const first = launcher_.graph_memory(place, one, stream, 4096);
    ASSERT_NE(first, nullptr);
    const auto address = reinterpret_cast<torch::DevicePointer>(first);
    EXPECT_EQ(fake_.cleared, (std::vector<std::pair<torch::DevicePointer, std::size_t>>{{address, 4096}}));
    EXPECT_EQ(fake_.modes, (std::vector<int>{torch::relaxed, 0}));
    EXPECT_EQ(launcher_.graph_memory(place, one, stream, 2048), first);
    const std::set<char*> distinct{first, launcher_.graph_memory(place, other, stream, 4096),
                                   launcher_.graph_memory(place, one, beside, 4096), launcher_.graph_memory(place, one, stream, 8192)};
    EXPECT_EQ(distinct.size(), 4u);
    EXPECT_EQ(fake_.objects.size(), 4u);
    fake_.capture = 2;  // the first graph may still be replayed
    char* const second = launcher_.graph_memory(place, one, stream, 4096);
    EXPECT_FALSE(distinct.contains(second));
    fake_.objects[0].destroy(fake_.objects[0].object);
    EXPECT_EQ(launcher_.graph_memory(place, one, stream, 4096), second);
    fake_.capture = 3;
    EXPECT_EQ(launcher_.graph_memory(place, one, stream, 4000), first);
    EXPECT_EQ(fake_.cleared.back(), (std::pair<torch::DevicePointer, std::size_t>{address, 4096}));
    EXPECT_EQ(fake_.objects.back().graph, handle<torch::Graph>(3));
}

TEST_F(TorchLauncher, AGraphForWhichNoMemoryIsLeftGetsNone) {
    const torch::Launcher::Place& place = launcher_.place(0);
    const torch::Step step;
    const auto stream = handle<torch::Stream>(77);
    fake_.capturing = 1;
    EXPECT_EQ(launcher_.graph_memory(place, step, stream, 2 << 20), nullptr);
    EXPECT_EQ(fake_.modes.back(), 0);
    fake_.retaining = 1;
    EXPECT_EQ(launcher_.graph_memory(place, step, stream, 1 << 20), nullptr);
    EXPECT_EQ(fake_.released, 1);
    fake_.retaining = 0;
    EXPECT_NE(launcher_.graph_memory(place, step, stream, 1 << 20), nullptr);  // what the graph did not take
}

TEST_F(TorchLauncher, AThreadWithoutAContextGetsTheDevicesOwnOnce) {
    std::thread([&] {
        call(8);
        call(8);
    }).join();
    EXPECT_EQ(fake_.retained, 100);
    EXPECT_EQ(fake_.made_current, 1);
    fake_.current = handle<torch::Context>(5);
    std::thread([&] { call(8); }).join();
    EXPECT_EQ(fake_.made_current, 1);
}

TEST_F(TorchLauncher, WhatFailsIsNamedAndTriedAgain) {
    fake_.loading = 209;
    const auto message = [&](std::int64_t rows) -> std::string {
        try {
            call(rows);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message(8), folder_.path("a.cubin") + ": CUDA_ERROR_OF_A_TEST");
    EXPECT_EQ(fake_.modes.back(), 0);
    fake_.loading = 0;
    EXPECT_EQ(message(8), "");
    EXPECT_EQ(message(10240), folder_.path("missing.cubin") + ": cannot be read; install the package again");
}

TEST_F(TorchLauncher, ADeviceNobodyTunedForHasNothing) {
    EXPECT_EQ(launcher_.place(1).tuned, nullptr);
    EXPECT_EQ(launcher_.place(0).tuned->name, "Tuned");
    EXPECT_EQ(&launcher_.place(0), &launcher_.place(0));
    EXPECT_THROW(launcher_.place(2), std::runtime_error);
}

}  // namespace
}  // namespace normtune
