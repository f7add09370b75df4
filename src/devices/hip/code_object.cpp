#include "devices/hip/code_object.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include <nlohmann/json.hpp>

#include "support/error.h"

namespace normtune::hip {
namespace {

using nlohmann::json;

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view elf_magic{
    "\x7f"
    "ELF\x02\x01",
    6};                                      // 64 bits, little-endian
constexpr std::uint32_t metadata_note = 32;  // NT_AMDGPU_METADATA
constexpr std::uint32_t note_segment = 4;    // PT_NOTE

[[noreturn]] void fail(const char* what) {
    throw InputError(std::string("not an AMD code object: ") + what);
}

/// A number at a place, little-endian; throws where the bytes end before.
template <typename T>
T number_at(std::span<const std::byte> bytes, std::uint64_t at) {
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) {
        fail("it ends too early");
    }
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::span<const std::byte> part(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t size) {
    if (at > bytes.size() || size > bytes.size() - at) {
        fail("it ends too early");
    }
    return bytes.subspan(at, size);
}

bool begins_with(std::span<const std::byte> bytes, std::string_view what) {
    return bytes.size() >= what.size() && std::memcmp(bytes.data(), what.data(), what.size()) == 0;
}

std::uint64_t padded(std::uint64_t size) {
    return (size + 3) / 4 * 4;
}

/// The metadata's MessagePack bytes, from the notes of an ELF file.
std::span<const std::byte> metadata(std::span<const std::byte> elf) {
    const auto headers = number_at<std::uint64_t>(elf, 32);
    const auto header_size = number_at<std::uint16_t>(elf, 54);
    const auto count = number_at<std::uint16_t>(elf, 56);
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t header = headers + std::uint64_t{i} * header_size;
        if (number_at<std::uint32_t>(elf, header) != note_segment) {
            continue;
        }
        const std::span<const std::byte> notes =
            part(elf, number_at<std::uint64_t>(elf, header + 8), number_at<std::uint64_t>(elf, header + 32));
        for (std::uint64_t at = 0; at + 12 <= notes.size();) {
            const auto name_size = number_at<std::uint32_t>(notes, at);
            const auto size = number_at<std::uint32_t>(notes, at + 4);
            const auto type = number_at<std::uint32_t>(notes, at + 8);
            const std::uint64_t contents = at + 12 + padded(name_size);
            if (type == metadata_note && begins_with(part(notes, at + 12, name_size), "AMDGPU")) {
                return part(notes, contents, size);
            }
            at = contents + padded(size);
        }
    }
    fail("no metadata");
}

int figure(const json& kernel, const char* name) {
    const auto found = kernel.find(name);
    return found == kernel.end() || !found->is_number_integer() ? 0 : found->get<int>();
}

}  // namespace

std::span<const std::byte> elf_of(std::span<const std::byte> image) {
    if (begins_with(image, elf_magic)) {
        return image;
    }
    if (!begins_with(image, bundle_magic)) {
        fail("neither an ELF file nor a bundle");
    }
    std::uint64_t at = bundle_magic.size();
    const auto count = number_at<std::uint64_t>(image, at);
    at += 8;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto offset = number_at<std::uint64_t>(image, at);
        const auto size = number_at<std::uint64_t>(image, at + 8);
        const auto name_size = number_at<std::uint64_t>(image, at + 16);
        const std::span<const std::byte> entry = part(image, offset, size);
        if (begins_with(entry, elf_magic)) {
            return entry;
        }
        part(image, at + 24, name_size);
        at += 24 + name_size;
    }
    fail("a bundle with nothing for a GPU");
}

std::vector<KernelFigures> kernel_figures(std::span<const std::byte> image) {
    const std::span<const std::byte> bytes = metadata(elf_of(image));
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const json document = json::from_msgpack(begin, begin + bytes.size(), true, false);
    const auto kernels = document.is_object() ? document.find("amdhsa.kernels") : document.end();
    if (!document.is_object() || kernels == document.end() || !kernels->is_array()) {
        fail("metadata without kernels");
    }
    std::vector<KernelFigures> out;
    for (const json& kernel : *kernels) {
        if (!kernel.is_object() || !kernel.contains(".name") || !kernel[".name"].is_string()) {
            fail("a kernel without a name");
        }
        out.push_back({kernel[".name"].get<std::string>(), figure(kernel, ".vgpr_count"), figure(kernel, ".sgpr_count"),
                       figure(kernel, ".vgpr_spill_count"), figure(kernel, ".private_segment_fixed_size"),
                       figure(kernel, ".group_segment_fixed_size"), figure(kernel, ".wavefront_size")});
    }
    return out;
}

}  // namespace normtune::hip
