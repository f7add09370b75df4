// Shared libraries opened at run time: vendor libraries that may not be on the machine.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace normtune {

/// An opened library; it stays open for the life of the process (vendor libraries do not survive dlclose).
class DynamicLibrary {
public:
    /// Opens the first of `candidates` (sonames or paths) that loads. is_open() tells; why_not() says what was tried.
    explicit DynamicLibrary(std::span<const std::string> candidates);

    bool is_open() const { return handle_ != nullptr; }
    const std::string& path() const { return path_; }
    const std::string& why_not() const { return why_not_; }
    /// Null where the library has no such symbol.
    void* symbol(const char* name) const;

    /// Sets a function pointer; false (and `missing` names it) where the library has no such symbol.
    template <typename Function>
    bool load(Function*& function, const char* name, std::string& missing) const {
        function = reinterpret_cast<Function*>(symbol(name));
        if (function == nullptr && missing.empty()) {
            missing = name;
        }
        return function != nullptr;
    }

private:
    void* handle_ = nullptr;
    std::string path_;
    std::string why_not_;
};

/// Directories of site-packages below which pip puts a library: "<site>/nvidia/*/lib" that exist, for the Python
/// installations found on PATH, in VIRTUAL_ENV and below /usr. `pattern` is a file name with wildcards.
std::vector<std::string> pip_installed_libraries(const std::string& pattern);

}  // namespace normtune
