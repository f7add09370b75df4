// A folder with a kernel of another provider: launch.json as it stands, and the kernels that it gives for a problem. Where the file
// names one problem that is one kernel; where it claims many, numbers are expressions, and tunables make a space (docs/candidates.md).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "space/plan.h"
#include "space/reserved_rules.h"
#include "trial/candidate.h"
#include "trial/claims.h"
#include "trial/launch_manifest.h"

namespace normtune {

/// What a folder's plan counts beside its rules, as PROVIDER.NAME; no rule of a folder has such a name.
inline constexpr std::string_view claims_tally = "claims";  // another op, mode, type or rounding; of a Python provider, too
inline constexpr std::string_view code_tally = "code";      // no code for the device
inline constexpr std::string_view launch_tally = "launch";  // numbers that no launch has
inline constexpr std::array<std::string_view, 4> own_tallies{claims_tally, code_tally, launch_tally, drawn_rule};
inline std::string tally_name(std::string_view provider, std::string_view tally) {
    return std::string(provider) + "." + std::string(tally);
}

/// What a folder, or a Python provider, gives for a problem.
struct FolderPlan {
    std::string provider;
    std::uint64_t points = 0;
    std::vector<std::shared_ptr<const LaunchManifest>> kept;
    std::vector<RuleTally> tallies;                            // their names begin with the provider; zero counts included
    std::vector<std::pair<Candidate, std::size_t>> pruned_by;  // where asked for: the tally that took it
};

class KernelFolder {
public:
    /// `provider`, where given, stands for the one that the folder names: of two versions of a kernel in one sweep each has its own. Throws
    /// InputError "FOLDER/launch.json: launches/0/grid: …".
    static std::shared_ptr<const KernelFolder> load(const std::string& folder, std::string_view provider = {});

    const std::string& path() const { return path_; }  // canonical
    const std::string& provider() const { return provider_; }
    /// The provider that the folder names.
    const std::string& own_name() const { return own_name_; }
    /// What two folders have alike that give the same kernels for every problem.
    const std::string& digest() const { return digest_; }
    /// The kernel of a file that names its problem; null: it claims problems.
    const std::shared_ptr<const LaunchManifest>& single() const { return single_; }
    /// Op, mode, types and rounding; its rules may take every point yet.
    bool claims(const Problem& problem) const;
    std::string claims_text() const { return claims_.text(); }
    /// Throws InputError: a rule that is not a number there.
    FolderPlan plan(const Problem& problem, const DeviceInfo& device, bool list_pruned = false) const;

private:
    /// One file with code: where it runs, and the point that it is for where it is compiled already.
    struct Code {
        std::string file;
        std::string arch;  // empty: a source's, whatever its backend's device is
        std::string digest;
        std::vector<double> values;  // of names_; empty: of every point
    };
    /// An expression, and where it stands in the file.
    struct Text {
        std::string place;  // "launches/0/grid/0"
        std::string text;
        bool whole = true;
    };
    struct Rule {
        std::string name;
        Text keep;
    };
    struct Macro {
        std::string name;
        Text value;
    };
    class Binding;

    void read(const JsonReader& in);
    void read_tunables(const JsonReader& in);
    void read_code(const JsonReader& in);
    void read_files(const JsonReader& list);
    void check_macros(const JsonReader& code) const;
    void read_rules(const JsonReader& in);
    void find_expressions();
    void check_names(const JsonReader& in) const;
    void check(const JsonReader& in) const;
    std::vector<std::size_t> codes_for(const DeviceInfo& device) const;
    std::uint64_t product() const;
    std::string key_of(const std::vector<double>& values) const;

    std::string path_;
    std::string provider_;
    std::string own_name_;
    std::string digest_;
    std::string stem_;  // of keys
    std::shared_ptr<const LaunchManifest> single_;
    Claims claims_;
    std::vector<std::string> names_;           // of tunables, then of constants
    std::size_t tunables_ = 0;                 // of names_
    std::vector<std::vector<double>> values_;  // of each tunable; empty: each code has its own
    std::vector<Code> codes_;
    std::vector<std::string> options_;
    std::vector<Macro> macros_;
    std::vector<Rule> rules_;
    std::vector<Text> texts_;                     // of base_
    std::shared_ptr<const nlohmann::json> base_;  // what a manifest has, with expressions in it
};

/// The tunables of a candidate's key, "norm.BLOCK=256.VECTOR=4": names and values as text, in the key's order.
std::vector<std::pair<std::string, std::string>> tunables_of(std::string_view key);

}  // namespace normtune
