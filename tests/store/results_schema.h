// schemas/results.schema.json as the field tables have it: one more of their visitors.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/results_fields.h"

namespace normtune::testing {

class SchemaWriter {
public:
    using json = nlohmann::ordered_json;

    json required = json::array();
    json members = json::object();

    template <typename T>
    static json object(std::string_view text = {}) {
        SchemaWriter inner;
        T value{};
        describe(inner, value);
        json out{{"type", "object"}};
        if (!text.empty()) {
            out["description"] = text;
        }
        if constexpr (std::same_as<T, Record>) {
            out["oneOf"] = json::parse(R"([{"required": ["configuration"]}, {"required": ["provider", "candidate"]}])");
        }
        out["required"] = inner.required;
        out["properties"] = inner.members;
        return out;
    }

    template <typename T>
    void operator()(std::string_view name, const T&, std::string_view text, const FieldTraits& traits = {}) {
        add(name, value_of<T>(traits), text, traits, is_optional<T>);
    }
    template <typename E, std::size_t N>
    void operator()(std::string_view name, const NameTable<E, N>& names, const E&, std::string_view text, const FieldTraits& traits = {}) {
        add(name, {{"enum", names.names}}, text, traits, false);
    }
    template <typename Made>
    void repeated(std::string_view name, std::string_view text, const Made&, bool added = false) {
        add(name, {{"type", "string"}}, text, {.added = added}, false);
    }
    template <typename Made>
    void column(std::string_view, int, const Made&) {}
    template <typename T>
    void otherwise(const T&, const T&) {}
    template <typename Why>
    void flaw(const Why&) {}
    void version() {
        add("schema_version", {{"const", schema_version}}, "Raised by a change that an older reader would misread", {}, false);
    }
    void axis(const AxisRow& axis, const Configuration&) {
        const FieldTraits traits{
            .least = static_cast<double>(axis.domain.least), .most = static_cast<double>(axis.domain.most), .added = true};
        const json number = value_of<int>(traits);
        add(axis.name,
            !axis.domain.names.empty() ? json{{"enum", axis.domain.names}}
            : axis.domain.zero.empty() ? number
                                       : json{{"anyOf", json::array({json{{"const", axis.domain.zero}}, number})}},
            axis.help, traits, false);
    }
    void candidate(const Candidate&) {
        const FieldTraits added{.added = true};
        add("provider", {{"type", "string"}},
            "Whose kernel it is: normtune, or that of a launch manifest. Absent in files from before there were others: normtune", added,
            false);
        add("configuration", {{"$ref", "#/$defs/configuration"}}, "Of normtune's own", added, false);
        add("candidate", {{"type", "string"}}, "Key of another provider's kernel", added, false);
    }

private:
    void add(std::string_view name, json member, std::string_view text, const FieldTraits& traits, bool optional) {
        if (!text.empty()) {
            member["description"] =
                fmt::format("{}{}{}{}", text, traits.unit.empty() ? "" : "; ", traits.unit, text.ends_with('.') ? "" : ".");
        }
        members[std::string(name)] = member;
        if (!optional && !traits.added) {
            required.push_back(name);
        }
    }

    template <typename T>
    static json value_of(const FieldTraits& traits) {
        json out;
        if constexpr (is_optional<T>) {
            FieldTraits known = traits;
            known.null = NullNumber::refused;  // it is absent instead
            return value_of<typename T::value_type>(known);
        } else if constexpr (is_list<T>) {
            return {{"type", "array"}, {"items", value_of<typename T::value_type>(traits)}};
        } else if constexpr (Described<T>) {
            const std::string_view name = definition<T>();
            return name.empty() ? object<T>() : json{{"$ref", fmt::format("#/$defs/{}", name)}};
        } else if constexpr (std::same_as<T, std::string>) {
            out["type"] = "string";
            if (traits.form == TextForm::timestamp) {
                out["pattern"] = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$";
            }
        } else if constexpr (std::same_as<T, bool>) {
            out["type"] = "boolean";
        } else {
            constexpr bool whole = Whole<T>;
            out["type"] = whole ? "integer" : "number";
            if (traits.null != NullNumber::refused) {
                out["type"] = {"number", "null"};
            }
            for (const auto& [name, limit] : {std::pair("minimum", traits.least), std::pair("maximum", traits.most)}) {
                if (std::isfinite(limit)) {
                    out[name] = std::floor(limit) == limit ? json(static_cast<std::int64_t>(limit)) : json(limit);
                }
            }
        }
        return out;
    }

    /// The structs that stand in $defs, by name.
    template <typename T>
    static std::string_view definition() {
        return std::same_as<T, DeviceInfo>     ? "device"
               : std::same_as<T, Environment>  ? "environment"
               : std::same_as<T, PlanSummary>  ? "plan"
               : std::same_as<T, Problem>      ? "problem"
               : std::same_as<T, CompileInfo>  ? "compile"
               : std::same_as<T, Verification> ? "verification"
               : std::same_as<T, Measurement>  ? "measurement"
               : std::same_as<T, Record>       ? "record"
                                               : "";
    }
};

inline nlohmann::ordered_json results_schema() {
    using json = nlohmann::ordered_json;
    using S = SchemaWriter;
    const auto with = [](const char* name, const json& member, const char* text) {
        return json{{"type", "object"}, {"description", text}, {"required", json::array({name})}, {"properties", {{name, member}}}};
    };
    json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
             {"$id", "https://normtune.invalid/schemas/results.schema.json"},
             {"title", "normtune results"}};
    out.update(S::object<Results>(
        "results.json of a run. Readers ignore members that they do not know. null stands for a number that is not finite."));
    json& definitions = out["$defs"];
    definitions["device"] = S::object<DeviceInfo>("The device that a run measured; the first of several, which are alike.");
    definitions["environment"] = S::object<Environment>("Where and by what the run was made.");
    definitions["plan"] = S::object<PlanSummary>("How many points a problem's space had, and what took the others.");
    definitions["problem"] = S::object<Problem>("A shape and the operation on it.");
    definitions["configuration"] = S::object<Configuration>(
        "One point of the search space. An axis that a later version adds is absent in older files: it has its default.");
    definitions["compile"] =
        S::object<CompileInfo>("What the compiler says of the kernel. A figure that a backend does not have is absent.");
    definitions["verification"] = S::object<Verification>("Comparison with float64 oracles before timing.");
    definitions["measurement"] = S::object<Measurement>("Timing of one launch on the device.");
    definitions["record"] = S::object<Record>("What one trial left.");
    definitions["journal_line"] = {
        {"description",
         "A line of journal.jsonl: the header first, then records, what further processes measured, finals and what is void."},
        {"oneOf",
         json::array(
             {S::object<JournalHeader>("The first line."),
              with("record", {{"$ref", "#/$defs/record"}}, "A trial that ended. Of two for one trial the later one holds."),
              with("void", S::object<VoidEntry>(), "What earlier lines say of a problem is void: it is measured anew, on another device."),
              with("repetition", S::object<RepetitionEntry>(), "What a further process of --repeat measured of a trial."),
              with("final", S::object<FinalEntry>(), "What the fresh rounds of a problem's finalists gave.")})}};
    return out;
}

/// What fits into a line stands on one; `used`: what stands before it.
inline std::string pretty(const nlohmann::ordered_json& value, std::size_t indent = 0, std::size_t used = 0) {
    if (!value.is_structured()) {
        return value.dump();
    }
    const bool list = value.is_array();
    const auto joined = [&](const std::string& separator, const auto& text_of) {
        std::string out;
        for (const auto& [key, member] : value.items()) {
            const std::string before = list ? "" : fmt::format("\"{}\": ", key);
            out += (out.empty() ? "" : "," + separator) + before + text_of(member, before.size());
        }
        return out;
    };
    const char* const brackets = list ? "[]" : "{}";
    const std::string line = brackets[0] + joined(" ", [](const auto& member, std::size_t) { return pretty(member, 0, 0); }) + brackets[1];
    constexpr std::size_t width = 139;  // and a comma
    if (used + line.size() <= width && line.find('\n') == std::string::npos) {
        return line;
    }
    const std::string margin = '\n' + std::string(indent + 2, ' ');
    return brackets[0] + margin +
           joined(margin, [&](const auto& member, std::size_t before) { return pretty(member, indent + 2, indent + 2 + before); }) + '\n' +
           std::string(indent, ' ') + brackets[1];
}

}  // namespace normtune::testing
