// What a trial tries: a configuration of normtune's own kernels, or a kernel of another provider.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "space/configuration.h"

namespace normtune {

struct LaunchManifest;  // trial/launch_manifest.h

/// The provider of normtune's own configurations.
inline constexpr std::string_view own_provider = "normtune";

class Candidate {
public:
    Candidate() = default;
    Candidate(const Configuration& configuration) : what_(configuration) {}
    explicit Candidate(std::shared_ptr<const LaunchManifest> manifest) : what_(std::move(manifest)) {}
    /// One that a file tells of; it cannot be run. Throws InputError: a provider or a key that cannot be one, a key of
    /// the own provider that is no configuration's.
    static Candidate named(std::string_view provider, std::string_view key);
    /// Of an identity.
    static Candidate parse(std::string_view identity);

    std::string_view provider() const;
    std::string key() const;
    /// Stable, parses back: the bare key of an own configuration, "provider:key" of every other candidate.
    std::string identity() const;

    /// Null where it is of another provider: it has no axes, no rule and no heuristic speaks of it.
    const Configuration* configuration() const { return std::get_if<Configuration>(&what_); }
    Configuration* configuration() { return std::get_if<Configuration>(&what_); }
    /// How it is launched; null where it is an own configuration, or known by its name alone.
    const std::shared_ptr<const LaunchManifest>& manifest() const;

    friend bool operator==(const Candidate& a, const Candidate& b);

private:
    struct Name {
        std::string provider;
        std::string key;
    };
    std::variant<Configuration, std::shared_ptr<const LaunchManifest>, Name> what_;
};

/// Letters, digits, '.', '_', '+' and '-', at least one.
bool is_provider(std::string_view text);

}  // namespace normtune
