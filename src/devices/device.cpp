#include "devices/device.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace normtune {

std::span<std::byte> Device::staging(std::size_t bytes) {
    staging_.resize(std::max(staging_.size(), bytes));
    return std::span(staging_).first(bytes);
}

const Configuration& own_configuration(const Candidate& candidate) {
    if (candidate.configuration() == nullptr) {
        throw DeviceError(DeviceFault::unsupported, fmt::format("{} runs on GPUs alone", candidate.identity()));
    }
    return *candidate.configuration();
}

void repeat_word(std::uint32_t word, std::span<std::byte> bytes) {
    std::size_t at = 0;
    for (; at + sizeof(word) <= bytes.size(); at += sizeof(word)) {
        std::memcpy(bytes.data() + at, &word, sizeof(word));
    }
    std::memcpy(bytes.data() + at, &word, bytes.size() - at);
}

void Buffers::fill(TensorRole role, int set, std::uint32_t word, std::int64_t bytes) {
    std::vector<std::byte> contents(static_cast<std::size_t>(bytes));
    repeat_word(word, contents);
    upload(role, set, contents);
}

}  // namespace normtune
