// A kernel as a folder holds it: its code, and launch.json, which says how it is launched (docs/candidates.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "problem/problem.h"
#include "support/json_reader.h"
#include "trial/code_source.h"
#include "trial/launch_plan.h"

namespace normtune {

struct LaunchManifest {
    std::string normtune_version;  // that wrote it; empty: none
    std::string provider;          // where a file does not say it, the folder's name
    std::string key;               // of the candidate; of what emit writes the configuration's
    Problem problem;               // the one that it is for, without uses
    std::string arch;
    int compute_units = 0;  // of the device that persistent grids were sized for
    std::string compiler;
    std::string code_file = "kernel.cubin";  // in the folder; *.cu and *.hip are compiled where they run
    std::vector<std::string> options;        // of a source's compiler, see trial/code_source.h
    struct Code {                            // what the compiler said of it
        std::string hash;                    // as in a record's code_hash; empty: not told, nor what follows
        int registers = 0;
        int spill_bytes = 0;
        int shared_bytes = 0;
        double occupancy = 0;
    } code;
    std::optional<RoundingContract> rounding;  // that it keeps; none: its problem's casting's
    gpu::LaunchPlan plan;

    // Of a Python provider's callable, which has neither code nor launches: what --provider names, and the Python of it.
    std::string python_provider;
    std::string python_name;  // what the kernel calls its provider, whatever a side of ab is called
    std::string python;
    bool python_dependent = false;  // it launches its kernels while the launch ahead ends

    // Of one that was loaded.
    std::string folder;       // canonical
    std::string code_digest;  // of the code as read_code gives it

    bool is_source() const { return is_source_name(code_file); }
    bool is_python() const { return !python_provider.empty(); }
};

/// launch.json; its schema is schemas/launch.schema.json.
nlohmann::ordered_json to_json(LaunchManifest manifest);
/// Throws InputError with the path of what is wrong; a member that it does not know is wrong, too.
LaunchManifest read_launch_manifest(const JsonReader& in);
/// {"forward": ["normal"], "backward": []}.
nlohmann::ordered_json to_json(const RoundingContract& contract);
/// Throws InputError: a point that there is not, or not in that pass.
RoundingContract read_rounding(const JsonReader& in);
/// Throws InputError: the version is newer than this normtune.
void check_schema_version(const JsonReader& in);

/// The code file as it was when the manifest was loaded, a source with what it includes. Throws InputError: it cannot be read, or has
/// changed.
std::string read_code(const LaunchManifest& manifest);
std::string read_code(const std::string& folder, const std::string& file, const std::vector<std::string>& options);
/// What two loaded manifests have alike where they run the same code in the same way.
std::string digest(const LaunchManifest& manifest);

}  // namespace normtune
