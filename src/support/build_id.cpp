#include "support/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace normtune {

namespace {

/// The build's digest among the notes of a segment; each is a header, a name and its content, padded to four bytes.
std::string among_notes(const char* notes, std::size_t size) {
    constexpr std::size_t alignment = 4;
    const auto padded = [](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header{};
        std::memcpy(&header, notes, sizeof header);
        const std::size_t content = sizeof header + padded(header.n_namesz);
        const std::size_t end = content + padded(header.n_descsz);
        if (end > size) {
            break;
        }
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof ELF_NOTE_GNU &&
            std::memcmp(notes + sizeof header, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            std::string digits;
            for (std::size_t i = 0; i < header.n_descsz; ++i) {
                digits += fmt::format("{:02x}", static_cast<unsigned char>(notes[content + i]));
            }
            return digits;
        }
        notes += end;
        size -= end;
    }
    return {};
}

/// Sees the executable first, and ends there.
int look_at(dl_phdr_info* object, std::size_t, void* found) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        auto& id = *static_cast<std::string*>(found);
        if (segment.p_type == PT_NOTE && id.empty()) {
            const ElfW(Addr) address = object->dlpi_addr + segment.p_vaddr;
            const auto* notes = reinterpret_cast<const char*>(address);  // NOLINT(performance-no-int-to-ptr)
            id = among_notes(notes, segment.p_memsz);
        }
    }
    return 1;
}

}  // namespace

std::string build_id() {
    std::string id;
    dl_iterate_phdr(look_at, &id);
    return id;
}

}  // namespace normtune
