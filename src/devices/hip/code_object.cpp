#include "devices/hip/code_object.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include <nlohmann/json.hpp>

#include "support/error.h"

namespace normtune::hip {
namespace {

using nlohmann::json;

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view elf_magic{ELFMAG "\x02\x01", 6};  // 64 bits, little-endian
constexpr std::uint32_t metadata_note = 32;                  // NT_AMDGPU_METADATA

[[noreturn]] void fail(const char* what) {
    throw InputError(std::string("not an AMD code object: ") + what);
}

std::span<const std::byte> part(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t size) {
    if (at > bytes.size() || size > bytes.size() - at) {
        fail("it ends too early");
    }
    return bytes.subspan(at, size);
}

/// A number or a structure at a place, little-endian; throws where the bytes end before.
template <typename T>
T at(std::span<const std::byte> bytes, std::uint64_t place) {
    T value;
    std::memcpy(&value, part(bytes, place, sizeof value).data(), sizeof value);
    return value;
}

bool begins_with(std::span<const std::byte> bytes, std::string_view what) {
    return bytes.size() >= what.size() && std::memcmp(bytes.data(), what.data(), what.size()) == 0;
}

std::uint64_t padded(std::uint64_t size) {
    return (size + 3) / 4 * 4;
}

/// The metadata's MessagePack bytes, from the notes of an ELF file.
std::span<const std::byte> metadata(std::span<const std::byte> elf) {
    const auto header = at<Elf64_Ehdr>(elf, 0);
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        const auto segment = at<Elf64_Phdr>(elf, header.e_phoff + i * header.e_phentsize);
        if (segment.p_type != PT_NOTE) {
            continue;
        }
        const std::span<const std::byte> notes = part(elf, segment.p_offset, segment.p_filesz);
        for (std::uint64_t place = 0; place + sizeof(Elf64_Nhdr) <= notes.size();) {
            const auto note = at<Elf64_Nhdr>(notes, place);
            const std::uint64_t name = place + sizeof note;
            const std::uint64_t contents = name + padded(note.n_namesz);
            if (note.n_type == metadata_note && begins_with(part(notes, name, note.n_namesz), "AMDGPU")) {
                return part(notes, contents, note.n_descsz);
            }
            place = contents + padded(note.n_descsz);
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
    struct Entry {
        std::uint64_t offset;
        std::uint64_t size;
        std::uint64_t name_size;
    };
    const auto count = at<std::uint64_t>(image, bundle_magic.size());
    std::uint64_t place = bundle_magic.size() + sizeof count;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto entry = at<Entry>(image, place);
        const std::span<const std::byte> code = part(image, entry.offset, entry.size);
        if (begins_with(code, elf_magic)) {
            return code;
        }
        part(image, place + sizeof entry, entry.name_size);
        place += sizeof entry + entry.name_size;
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
