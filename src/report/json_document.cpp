#include "report/json_document.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "support/escape.h"
#include "support/version.h"

namespace normtune {
namespace {

std::string dumped(const nlohmann::json& value) {
    constexpr int indent = 2;
    return for_json(value.dump(indent));
}

void write_lines(TextSink& out, std::string_view text, std::string_view margin) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        out += text.substr(at, end - at);
        out += text[end - 1] == '\n' ? margin : "";
        at = end;
    }
}

nlohmann::json whole(int schema, nlohmann::json members) {
    members["schema_version"] = schema;
    members["normtune_version"] = version();
    return members;
}

}  // namespace

std::string json_document(int schema, nlohmann::json members) {
    return dumped(whole(schema, std::move(members))) + "\n";
}

void write_json(TextSink& out, const nlohmann::json& value, std::string_view margin) {
    write_lines(out, dumped(value), margin);
}

void write_json_with(TextSink& out, const nlohmann::json& members, std::string_view list, std::size_t length, const WriteElement& write,
                     std::string_view margin) {
    const std::string around = dumped(members);
    const std::string empty = fmt::format("\n  \"{}\": [", list);  // no text in JSON has a line end
    const std::size_t inside = around.find(empty + ']') + empty.size();
    write_lines(out, std::string_view(around).substr(0, inside), margin);
    const std::string deeper = fmt::format("{}    ", margin);
    for (std::size_t i = 0; i < length; ++i) {
        out += i == 0 ? "\n" : ",\n";
        out += deeper;
        write(i, deeper);
    }
    if (length > 0) {
        out += fmt::format("\n{}  ", margin);
    }
    write_lines(out, std::string_view(around).substr(inside), margin);
}

void write_json_document(TextSink& out, int schema, nlohmann::json members, std::string_view list, std::size_t length,
                         const WriteElement& write) {
    write_json_with(out, whole(schema, std::move(members)), list, length, write, "");
    out += "\n";
}

}  // namespace normtune
