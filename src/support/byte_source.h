// Bytes in order, from a file or from memory: what the streaming readers read.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "support/descriptor.h"

namespace normtune {

class ByteSource {
public:
    virtual ~ByteSource() = default;
    /// At most `most` bytes; 0 at the end. Throws InputError.
    virtual std::size_t read(char* into, std::size_t most) = 0;
};

class MemorySource : public ByteSource {
public:
    explicit MemorySource(std::string_view text) : text_(text) {}
    std::size_t read(char* into, std::size_t most) override {
        const std::size_t got = text_.copy(into, most);
        text_.remove_prefix(got);
        return got;
    }

private:
    std::string_view text_;
};

/// The one way to open a file that a user named: regular files, pipes (`<(command)`, /dev/stdin) and terminals. Throws
/// InputError: missing, a folder, a socket, a device, unreadable, no possible name, or a named pipe into which nobody writes for two
/// seconds.
Descriptor open_for_reading(const std::string& path);

/// Throws what open_for_reading throws.
std::unique_ptr<ByteSource> open_source(const std::string& path);

}  // namespace normtune
