#include "code_object.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

#include <nlohmann/json.hpp>

namespace hip_over_cuda {
namespace {

constexpr Elf64_Half machine = 224;       // EM_AMDGPU
constexpr Elf64_Word metadata_note = 32;  // NT_AMDGPU_METADATA
constexpr char owner[] = "AMDGPU";        // 7 bytes with its end
constexpr std::uint64_t notes_at = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);

std::string padded(std::string bytes, std::size_t to) {
    bytes.resize((bytes.size() + to - 1) / to * to);
    return bytes;
}

template <typename T>
std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

std::string wrap(const std::vector<KernelNote>& kernels, std::span<const std::byte> cubin) {
    nlohmann::json list = nlohmann::json::array();
    for (const KernelNote& kernel : kernels) {
        list.push_back({{".name", kernel.name},
                        {".vgpr_count", kernel.registers},
                        {".private_segment_fixed_size", kernel.scratch_bytes},
                        {".group_segment_fixed_size", kernel.shared_bytes},
                        {".wavefront_size", 32}});
    }
    const std::vector<std::uint8_t> metadata = nlohmann::json::to_msgpack({{"amdhsa.kernels", list}});
    const Elf64_Nhdr note{sizeof owner, static_cast<Elf64_Word>(metadata.size()), metadata_note};
    const std::string notes =
        padded(bytes_of(note) + padded(std::string(owner, sizeof owner), 4) + padded(std::string(metadata.begin(), metadata.end()), 4), 16);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    Elf64_Phdr noted{};
    noted.p_type = PT_NOTE;
    noted.p_offset = notes_at;
    noted.p_filesz = notes.size();
    Elf64_Phdr code{};
    code.p_type = PT_LOAD;
    code.p_offset = (notes_at + 15) / 16 * 16 + notes.size();
    code.p_filesz = cubin.size();
    noted.p_offset = code.p_offset - notes.size();
    std::string out = padded(bytes_of(header) + bytes_of(noted) + bytes_of(code), 16) + notes;
    out.append(reinterpret_cast<const char*>(cubin.data()), cubin.size());
    return out;
}

const void* cubin_of(const void* image) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != machine || header.e_phnum != 2) {
        return nullptr;
    }
    Elf64_Phdr code;
    std::memcpy(&code, static_cast<const char*>(image) + header.e_phoff + sizeof code, sizeof code);
    return static_cast<const char*>(image) + code.p_offset;
}

}  // namespace hip_over_cuda
