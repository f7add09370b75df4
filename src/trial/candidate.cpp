#include "trial/candidate.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.h"
#include "trial/launch_manifest.h"

namespace normtune {

Candidate Candidate::named(std::string_view provider, std::string_view key) {
    if (provider == own_provider) {
        return Configuration::parse(key);
    }
    if (!is_provider(provider)) {
        throw InputError(fmt::format("{} is no provider; letters, digits and . _ + - make one", quoted_for_message(provider)));
    }
    if (key.empty()) {
        throw InputError(fmt::format("a candidate of {} has an empty key", provider));
    }
    Candidate out;
    out.what_ = Name{std::string(provider), std::string(key)};
    return out;
}

Candidate Candidate::parse(std::string_view identity) {
    const std::size_t colon = identity.find(':');
    return colon == std::string_view::npos ? named(own_provider, identity) : named(identity.substr(0, colon), identity.substr(colon + 1));
}

std::string_view Candidate::provider() const {
    if (const Name* name = std::get_if<Name>(&what_)) {
        return name->provider;
    }
    return manifest() ? std::string_view(manifest()->provider) : own_provider;
}

std::string Candidate::key() const {
    if (const Configuration* own = configuration()) {
        return own->key();
    }
    return manifest() ? manifest()->key : std::get<Name>(what_).key;
}

std::string Candidate::identity() const {
    return configuration() != nullptr ? key() : fmt::format("{}:{}", provider(), key());
}

const std::shared_ptr<const LaunchManifest>& Candidate::manifest() const {
    static const std::shared_ptr<const LaunchManifest> none;
    const auto* manifest = std::get_if<std::shared_ptr<const LaunchManifest>>(&what_);
    return manifest != nullptr ? *manifest : none;
}

bool operator==(const Candidate& a, const Candidate& b) {
    const Configuration* own = a.configuration();
    const Configuration* other = b.configuration();
    return own != nullptr && other != nullptr ? *own == *other : a.identity() == b.identity();
}

bool is_provider(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '+' || c == '-';
    });
}

}  // namespace normtune
