// The visitors of trial/field.h that write and read JSON. For .cpp files that make to_json and from_json of their structs.
#pragma once

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/json_reader.h"
#include "support/utf8.h"
#include "trial/record_fields.h"
#include "trial/record_json.h"

namespace normtune {

class JsonWriter {
public:
    explicit JsonWriter(nlohmann::json& out) : out_(out) {}

    template <typename T>
    void operator()(std::string_view name, const T& value, std::string_view, const FieldTraits& traits = {}) {
        if constexpr (is_optional<T>) {
            if (value) {
                if (nlohmann::json written = json_of(*value); !written.is_null()) {
                    out_[std::string(name)] = std::move(written);
                }
            }
        } else {
            nlohmann::json written = json_of(value);
            if (!(traits.omit_empty && (written.empty() || written == "" || written == false))) {
                out_[std::string(name)] = std::move(written);
            }
        }
    }
    template <typename E, std::size_t N>
    void operator()(std::string_view name, const NameTable<E, N>& names, const E& value, std::string_view, const FieldTraits& = {}) {
        out_[std::string(name)] = names.name(value);
    }
    template <typename Made>
    void repeated(std::string_view name, std::string_view, const Made& made, bool = false) {
        out_[std::string(name)] = made();
    }
    template <typename Made>
    void column(std::string_view, int, const Made&) {}
    template <typename T>
    void otherwise(const T&, const T&) {}
    template <typename Why>
    void flaw(const Why&) {}
    void version() { out_["schema_version"] = schema_version; }
    void axis(const AxisRow& axis, const Configuration& configuration) {
        const int value = axis_value(configuration, axis.axis);
        out_[std::string(axis.name)] = axis.domain.is_number(value) ? nlohmann::json(value) : nlohmann::json(axis_text(axis.axis, value));
    }
    void candidate(const Candidate& candidate) { add_candidate(out_, candidate); }

private:
    template <typename T>
    static nlohmann::json json_of(const T& value) {
        if constexpr (std::same_as<T, std::string>) {
            return to_utf8(value);
        } else if constexpr (std::same_as<T, double>) {
            return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();  // JSON has no other way to say so
        } else if constexpr (is_list<T>) {
            nlohmann::json out = nlohmann::json::array();
            for (const auto& element : value) {
                out.push_back(json_of(element));
            }
            return out;
        } else if constexpr (Described<T>) {
            return to_json(value);
        } else {
            return value;
        }
    }

    nlohmann::json& out_;
};

template <typename T, typename In>
T fields_of(const In& in);

// Beside the access that both readers below have.
inline bool is_null(const JsonReader& in) {
    return in.json().is_null();
}
inline std::string text_of(const JsonReader& in) {
    return in.json().dump();
}
template <typename Take>
void each_element(const JsonReader& in, const Take& take) {
    for (std::size_t i = 0; i < in.size(); ++i) {
        take(in.element(i));
    }
}

/// From a JsonReader, or from a QuickJson (support/quick_json.h), which declines where the other tells what is wrong.
/// Members that no table names are ignored: a change that would be misread raises schema_version.
template <typename In>
class FieldReader {
public:
    explicit FieldReader(const In& in) : in_(in) {}

    template <typename T>
    void operator()(std::string_view name, T& value, std::string_view, const FieldTraits& traits = {}) {
        if (!is_optional<T> && !traits.added) {
            read(in_.at(name), value, traits);
        } else if (const auto member = in_.find(name)) {
            read(*member, value, traits);
        }
    }
    template <typename E, std::size_t N>
    void operator()(std::string_view name, const NameTable<E, N>& names, E& value, std::string_view, const FieldTraits& = {}) {
        value = in_.at(name).name_of(names);
    }
    template <typename Made>
    void repeated(std::string_view name, std::string_view, const Made& made, bool added = false) {
        const std::optional<In> member = added ? in_.find(name) : std::optional<In>(in_.at(name));
        if (const std::string text = made(); member && member->text() != text) {
            member->fail(fmt::format("{} does not fit the members beside it, which make '{}'", quoted_for_message(member->text()), text));
        }
    }
    template <typename Made>
    void column(std::string_view, int, const Made&) {}
    template <typename T>
    void otherwise(const T&, const T&) {}
    template <typename Why>
    void flaw(const Why& why) {
        if (const std::string text = why(); !text.empty()) {
            in_.fail(text);
        }
    }
    void version();
    void axis(const AxisRow& axis, Configuration& configuration);
    void candidate(Candidate& candidate);

private:
    static void read(const In& in, std::string& value, const FieldTraits& traits);
    static void read(const In& in, bool& value, const FieldTraits&) { value = in.flag(); }
    static void read(const In& in, double& value, const FieldTraits& traits);
    template <Whole T>
    static void read(const In& in, T& value, const FieldTraits& traits) {
        if constexpr (std::is_unsigned_v<T>) {
            value = in.natural();
        } else {
            value = static_cast<T>(in.whole(least_of<T>(traits), most_of<T>(traits)));
        }
    }
    template <Described T>
    static void read(const In& in, T& value, const FieldTraits&) {
        value = fields_of<T>(in);
    }
    template <typename T>
    static void read(const In& in, std::optional<T>& value, const FieldTraits& traits) {
        read(in, value.emplace(), traits);
    }
    template <typename T>
    static void read(const In& in, std::vector<T>& values, const FieldTraits& traits) {
        values.resize(in.size());
        auto to = values.begin();
        each_element(in, [&](const In& element) { read(element, *to++, traits); });
    }

    const In& in_;
};

template <typename T>
nlohmann::json to_json(const T& value) {
    nlohmann::json out;
    JsonWriter writer(out);
    describe(writer, value);
    return out;
}

template <typename T, typename In>
T fields_of(const In& in) {
    T value{};
    FieldReader<In> reader(in);
    describe(reader, value);
    return value;
}

template <typename T>
T from_json(const JsonReader& in) {
    return fields_of<T>(in);
}

}  // namespace normtune
