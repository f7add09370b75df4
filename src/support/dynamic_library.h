// Shared libraries opened at run time: vendor libraries that may not be on the machine.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace normtune {

/// A function of a library, and which member of a table of function pointers takes it.
template <typename Table>
struct Symbol {
    const char* name;
    void (*set)(Table&, void*);
    bool needed;  // else its member is null where the library lacks it
};

template <typename Table, typename Function>
Table table_of(Function* Table::*);  // for decltype alone

/// symbol<&Table::member>("name").
template <auto member>
constexpr auto symbol(const char* name, bool needed = true) {
    using Table = decltype(table_of(member));
    using Function = std::remove_reference_t<decltype(std::declval<Table&>().*member)>;
    return Symbol<Table>{name, [](Table& table, void* at) { table.*member = reinterpret_cast<Function>(at); }, needed};
}

/// An opened library; it stays open for the life of the process (vendor libraries do not survive dlclose).
class DynamicLibrary {
public:
    /// Opens the first of `candidates` (sonames or paths) that loads. is_open() tells; why_not() says what was tried.
    explicit DynamicLibrary(std::span<const std::string> candidates);

    bool is_open() const { return handle_ != nullptr; }
    const std::string& path() const { return path_; }
    const std::string& why_not() const { return why_not_; }
    /// Fills a table; a symbol's name is `prefix` and its own. `missing`: the first needed one that the library lacks, unless
    /// it names one already.
    template <typename Table, std::size_t count>
    void load(Table& table, const Symbol<Table> (&symbols)[count], std::string& missing, const std::string& prefix = "") const {
        for (const Symbol<Table>& symbol : symbols) {
            void* const at = find(prefix + symbol.name);
            symbol.set(table, at);
            if (at == nullptr && symbol.needed && missing.empty()) {
                missing = prefix + symbol.name;
            }
        }
    }

private:
    void* find(const std::string& name) const;

    void* handle_ = nullptr;
    std::string path_;
    std::string why_not_;
};

/// Where libraries of these names are looked for, all names in each place before the next place: in `subfolder` of what the
/// environment's variables name, by soname, and in `installed`.
std::vector<std::string> library_candidates(std::span<const std::string> names, std::initializer_list<const char*> variables,
                                            const char* subfolder, const char* installed);

/// Directories of site-packages below which pip puts a library: "<site>/nvidia/*/lib" that exist, for the Python
/// installations found on PATH, in VIRTUAL_ENV and below /usr. `pattern` is a file name with wildcards.
std::vector<std::string> pip_installed_libraries(const std::string& pattern);

}  // namespace normtune
