#include "report/json_document.h"

#include "support/version.h"

namespace normtune {

std::string json_document(int schema_version, nlohmann::json members) {
    members["schema_version"] = schema_version;
    members["normtune_version"] = version();
    return members.dump(2) + "\n";
}

}  // namespace normtune
