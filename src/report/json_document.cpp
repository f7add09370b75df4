#include "report/json_document.h"

#include <fmt/format.h>

#include "support/version.h"

namespace normtune {
namespace {

constexpr int indent = 2;

void write_indented(TextSink& out, std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += "\n    ";
        out += text.substr(at, end - at);
        at = end + 1;
    }
}

}  // namespace

std::string json_document(int schema_version, nlohmann::json members) {
    members["schema_version"] = schema_version;
    members["normtune_version"] = version();
    return members.dump(indent) + "\n";
}

void write_json_document(TextSink& out, int schema_version, nlohmann::json members, std::string_view list, std::size_t length,
                         const std::function<nlohmann::json(std::size_t)>& make) {
    const std::string around = json_document(schema_version, std::move(members));
    const std::string empty = fmt::format("\n  \"{}\": [", list);  // no text in JSON has a line end
    const std::size_t inside = around.find(empty + ']') + empty.size();
    out += std::string_view(around).substr(0, inside);
    for (std::size_t i = 0; i < length; ++i) {
        out += i == 0 ? "" : ",";
        write_indented(out, make(i).dump(indent));
    }
    out += length == 0 ? "" : "\n  ";
    out += std::string_view(around).substr(inside);
}

}  // namespace normtune
