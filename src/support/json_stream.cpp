#include "support/json_stream.h"

#include <algorithm>
#include <istream>
#include <streambuf>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/utf8.h"

namespace normtune {

using nlohmann::json;

namespace {

/// Makes the document as the library's own parser does, which takes the last of two members of one name.
class DocumentBuilder : public nlohmann::json_sax<json> {
public:
    explicit DocumentBuilder(const StreamedList& list) : list_(list) {}

    json document;
    std::string error;

    std::size_t given() const { return given_; }
    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        Level& level = levels_.back();
        const auto [place, added] = level.value->get_ref<json::object_t&>().emplace(std::move(name), nullptr);
        level.member = &*place;
        if (!added) {
            error = fmt::format("{}the member {} is there twice", path(), json(place->first).dump());
        }
        return added;
    }
    bool parse_error(std::size_t, const std::string&, const json::exception& problem) override {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: …": the library's tag says nothing to a user.
        error = problem.what();
        if (const std::size_t tag = error.find("] "); error.starts_with('[') && tag != std::string::npos) {
            error.erase(0, tag + 2);
        }
        constexpr std::size_t longest = 200;  // the library quotes all of a token, however long it is
        error = "is not JSON: " + to_utf8(error.size() > longest ? error.substr(0, longest) + "…" : error);
        return false;
    }

private:
    struct Level {
        json* value;
        json::object_t::value_type* member = nullptr;  // of an object: the present one
    };

    template <typename T>
    json* put(T&& value) {
        if (levels_.empty()) {
            document = std::forward<T>(value);
            return &document;
        }
        Level& level = levels_.back();
        if (level.member != nullptr) {
            level.member->second = std::forward<T>(value);
            return &level.member->second;
        }
        return &level.value->get_ref<json::array_t&>().emplace_back(std::forward<T>(value));
    }
    template <typename T>
    bool add(T&& value) {
        put(std::forward<T>(value));
        return give_away();
    }
    bool open(json value) {
        constexpr std::size_t deepest = 200;
        if (levels_.size() == deepest) {
            error = fmt::format("lists and objects in each other, over {} deep", deepest);
            return false;
        }
        levels_.push_back({put(std::move(value))});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return give_away();
    }
    /// What was put last, where it is an element of that list.
    bool give_away() {
        if (list_.take && levels_.size() == 2 && levels_[1].value->is_array() && levels_[0].member->first == list_.member) {
            json::array_t& elements = levels_[1].value->get_ref<json::array_t&>();
            list_.take(elements.back(), given_++);
            elements.clear();
        }
        return true;
    }
    /// Of the innermost object: "records/3/measurement: ".
    std::string path() const {
        std::string out;
        for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
            const Level& level = levels_[i];
            out += out.empty() ? "" : "/";
            out += level.member != nullptr ? level.member->first : std::to_string(level.value->size() - 1 + (i == 1 ? given_ : 0));
        }
        return out.empty() ? out : to_utf8(out) + ": ";
    }

    const StreamedList& list_;
    std::size_t given_ = 0;
    std::vector<Level> levels_;
};

/// Bytes for the library's parser.
class SourceBuffer : public std::streambuf {
public:
    SourceBuffer(ByteSource& source, std::string_view where, const DocumentBuilder& builder, const StreamedList& list)
        : source_(source), where_(where), builder_(builder), list_(list) {}

protected:
    int_type underflow() override {
        constexpr std::size_t least = std::size_t{1} << 12, most = std::size_t{1} << 18;  // most documents are short
        block_.resize(std::clamp(2 * block_.size(), least, most));
        const std::size_t got = source_.read(block_.data(), block_.size());
        setg(block_.data(), block_.data(), block_.data() + got);
        held_ = builder_.given() == given_ ? held_ + got : got;
        given_ = builder_.given();
        if (list_.take && held_ > list_.most_bytes) {
            throw InputError(fmt::format("{}: over {} bytes without an element of '{}'", where_, list_.most_bytes, list_.member));
        }
        return got == 0 ? traits_type::eof() : traits_type::to_int_type(block_[0]);
    }

private:
    ByteSource& source_;
    std::string_view where_;
    const DocumentBuilder& builder_;
    const StreamedList& list_;
    std::string block_;
    std::size_t given_ = 0;  // elements before the present ones
    std::size_t held_ = 0;   // bytes since then
};

}  // namespace

json parse_json(ByteSource& source, std::string_view where, const StreamedList& list) {
    DocumentBuilder builder(list);
    SourceBuffer buffer(source, where, builder, list);
    std::istream in(&buffer);
    in.exceptions(std::ios::badbit);  // what the source throws comes through
    if (!json::sax_parse(in, &builder)) {
        throw InputError(fmt::format("{}: {}", where, builder.error));
    }
    return std::move(builder.document);
}

}  // namespace normtune
