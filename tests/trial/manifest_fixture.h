// A folder with a kernel of another provider, as --candidate takes it.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "problem/problem.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune::testing {

inline nlohmann::json manifest_json(const Problem& problem) {
    return {{"schema_version", 1},
            {"configuration", "norm_v2"},
            {"problem", problem.key()},
            {"eps", problem.operation.eps},
            {"arch", "sm_90"},
            {"workspace_bytes", 512},
            {"launches",
             {{{"kernel", "norm"},
               {"grid", {problem.shape.rows, 1, 1}},
               {"block", {32, 4, 2}},
               {"shared_bytes", 1024},
               {"arguments",
                {{{"name", "x"}, {"type", "pointer"}, {"tensor", "x"}},
                 {{"name", "partials"}, {"type", "pointer"}, {"workspace_offset", 256}},
                 {{"name", "residual"}, {"type", "pointer"}, {"value", nullptr}},
                 {{"name", "rows"}, {"type", "int64"}, {"value", problem.shape.rows}},
                 {{"name", "sign"}, {"type", "int32"}, {"value", -1}},
                 {{"name", "eps"}, {"type", "fp32"}, {"value", 0.5}}}}}}}};
}

/// A new folder `name` with that launch.json and some code.
inline std::string write_candidate(const TemporaryFolder& folder, const std::string& name, const nlohmann::json& launch,
                                   const std::string& code = "machine code") {
    folder.make_folder(name);
    folder.write(name + "/launch.json", launch.dump(2));
    folder.write(name + "/kernel.cubin", code);
    return folder.path(name);
}

/// What reading says against it.
inline std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    return "was taken";
}

}  // namespace normtune::testing
