// Kernels compiled for the host, ready for a Machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace normtune::emulation {

class CompiledKernels {
public:
    /// A kernel's name, and how many parameters it has.
    struct Signature {
        std::string name;
        std::size_t parameters;
    };
    /// What the machine has beside what all have.
    struct Features {
        bool async_copy = false;
        int group_barriers = 0;
    };
    /// `source` of the kernels alone, with the macros that it needs. The same text is compiled once a process. Throws
    /// DeviceError: compile_failed.
    static std::shared_ptr<CompiledKernels> compile(const std::string& source, const Features& features,
                                                    const std::vector<Signature>& kernels);

    CompiledKernels(const CompiledKernels&) = delete;
    CompiledKernels& operator=(const CompiledKernels&) = delete;
    ~CompiledKernels();
    /// Calls the kernel with arguments by address.
    void (*entry(const std::string& name) const)(void**);
    std::byte* static_shared() const { return static_shared_; }
    std::int64_t static_shared_bytes() const { return static_shared_bytes_; }

private:
    explicit CompiledKernels(const std::string& path);
    void* library_;
    std::byte* static_shared_ = nullptr;
    std::int64_t static_shared_bytes_ = 0;
};

}  // namespace normtune::emulation
