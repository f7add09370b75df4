// An owned POSIX file descriptor, and the few calls on one that several files of the store need.
#pragma once

#include <string>
#include <string_view>

namespace normtune {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    bool valid() const { return descriptor_ >= 0; }
    int get() const { return descriptor_; }
    /// 0, or -1 with errno set; afterwards there is nothing left to close either way.
    int close();

private:
    int descriptor_ = -1;
};

/// Writes everything, going on after short writes and signals. Returns 0 or the errno value.
int write_all(int descriptor, std::string_view bytes);

/// Opens whichever of descriptors 0, 1 and 2 is closed on /dev/null, so that no file of ours takes their place and is printed into:
/// first thing in main. Reading gives an end; writing fails, so that results that went nowhere are told.
void open_standard_streams();

/// Makes names created in or renamed into a folder durable. Returns 0 or the errno value; a file system that cannot
/// sync a folder counts as done.
int sync_folder(const std::string& folder);

/// "No space left on device": the system's words for an errno value; safe to call from any thread.
std::string system_reason(int error);

}  // namespace normtune
