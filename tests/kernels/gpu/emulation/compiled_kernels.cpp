#include "kernels/gpu/emulation/compiled_kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "devices/device.h"

namespace normtune::emulation {
namespace {

// A folder for the whole process: the loader takes a library for one it has already if their inodes are the same.
struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("normtune-emulation-{}", getpid());
    int files = 0;
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

std::string new_file_name() {
    static Folder folder;
    return (folder.path / fmt::format("kernel{}", folder.files++)).string();
}

/// One entry a kernel, that takes its arguments by address.
std::string entries(const std::vector<CompiledKernels::Signature>& kernels) {
    std::string text;
    for (const CompiledKernels::Signature& kernel : kernels) {
        std::string arguments;
        for (std::size_t i = 0; i < kernel.parameters; ++i) {
            arguments += fmt::format("{}emulation_argument{{a[{}]}}", i == 0 ? "" : ", ", i);
        }
        text += fmt::format("extern \"C\" __attribute__((no_sanitize(\"thread\"))) void emulate_{0}(void** a) {{ {0}({1}); }}\n",
                            kernel.name, arguments);
    }
    return text;
}

}  // namespace

std::shared_ptr<CompiledKernels> CompiledKernels::compile(const std::string& source, const Features& features,
                                                          const std::vector<Signature>& kernels) {
    static std::map<std::string, std::weak_ptr<CompiledKernels>> known;
    const std::string text = fmt::format(
        "#define NT_EMULATE_ASYNC_COPY {}\n#define NT_GROUP_BARRIERS {}\n#include "
        "\"kernels/gpu/emulation/kernel_prelude.h\"\n{}\n{}",
        features.async_copy ? 1 : 0, features.group_barriers, source, entries(kernels));
    if (auto found = known[text].lock()) {
        return found;
    }
    const std::string base = new_file_name();
    std::ofstream(base + ".cpp") << text;
    // Without the sanitizer's library (-nostdlib): the prelude has the functions that it would have.
    const std::string command = fmt::format(
        "{} -std=c++20 -Og -fno-strict-aliasing -fno-exceptions -w -shared -fPIC -nostdlib -fsanitize=thread "
        "-I{}/tests {}.cpp -o {}.so 2> {}.log",
        NORMTUNE_CXX, NORMTUNE_SOURCE_DIR, base, base, base);
    if (std::system(command.c_str()) != 0) {
        std::ifstream log(base + ".log");
        throw DeviceError(DeviceFault::compile_failed, std::string(std::istreambuf_iterator<char>(log), {}).substr(0, 2000));
    }
    std::shared_ptr<CompiledKernels> compiled(new CompiledKernels(base + ".so"));
    known[text] = compiled;
    return compiled;
}

CompiledKernels::CompiledKernels(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
        throw DeviceError(DeviceFault::compile_failed, dlerror());
    }
    char* begin = nullptr;
    char* end = nullptr;
    reinterpret_cast<void (*)(char**, char**)>(dlsym(library_, "emulation_static_shared"))(&begin, &end);
    static_shared_ = reinterpret_cast<std::byte*>(begin);
    static_shared_bytes_ = end - begin;
}

CompiledKernels::~CompiledKernels() {
    dlclose(library_);
}

void (*CompiledKernels::entry(const std::string& name) const)(void**) {
    return reinterpret_cast<void (*)(void**)>(dlsym(library_, ("emulate_" + name).c_str()));
}

}  // namespace normtune::emulation
