// A JSON value with its place in the file: typed access whose errors name that place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "support/names.h"

namespace normtune {

/// Every access throws InputError "PATH: what is wrong; what would be right", PATH as in
/// "records/3/measurement/p50_us". A child refers to its parent, which has to live as long.
class JsonReader {
public:
    /// `root` stands before the path in messages ("" for none; a file's name ends in ": ").
    JsonReader(const nlohmann::json& value, std::string_view root) : value_(&value), name_(root) {}

    /// A member of an object: required, or empty where it is absent. Members that nobody asks for are ignored.
    JsonReader at(std::string_view name) const;
    std::optional<JsonReader> find(std::string_view name) const;
    /// The elements of an array.
    std::size_t size() const;
    JsonReader element(std::size_t index) const;

    std::string text() const;
    bool flag() const;
    std::int64_t whole(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
    int integer(int least, int most = std::numeric_limits<int>::max()) const;
    std::uint64_t natural() const;
    /// null, which stands for a value that is not finite, reads as `for_null`.
    double number(double for_null = std::numeric_limits<double>::quiet_NaN()) const;
    std::vector<double> numbers() const;
    std::vector<std::string> texts() const;

    /// Which of the names the text is.
    std::size_t one_of(std::span<const std::string_view> names) const;
    template <typename E, std::size_t N>
    E name_of(const NameTable<E, N>& table) const {
        return static_cast<E>(one_of(table.names));
    }

    bool is_text() const;
    const nlohmann::json& json() const { return *value_; }
    /// Where it stands, as messages say it.
    std::string path() const;
    [[noreturn]] void fail(std::string_view message) const;
    /// Throws where an object has a member of another name: one that is misspelt would otherwise be as good as absent.
    void only(const std::vector<std::string_view>& known) const;

private:
    JsonReader(const nlohmann::json& value, const JsonReader& parent, std::string_view name)
        : value_(&value), parent_(&parent), name_(name) {}
    JsonReader(const nlohmann::json& value, const JsonReader& parent, std::size_t index)
        : value_(&value), parent_(&parent), index_(index) {}

    void expect_object() const;
    [[noreturn]] void fail_type(std::string_view wanted) const;

    static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();
    const nlohmann::json* value_;
    const JsonReader* parent_ = nullptr;
    std::string_view name_;
    std::size_t index_ = no_index;
};

/// Parses a whole document. Throws InputError "WHERE: is not JSON: what and where (line, column)", or that an object has two
/// members of one name.
nlohmann::json parse_json(std::string_view text, std::string_view where);

}  // namespace normtune
