// Compiled code on disk, under a hash of everything that made it: source, options, architecture, compiler.
// One file an entry, written whole and renamed into place, so concurrent runs share a cache without locks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "support/content_hash.h"

namespace normtune {

/// A kernel's source and its hash, which is made once: thousands of jobs share a source. Copies share the text. `file`: what compilers call
/// it, where it is a user's; it may stand in the code (__FILE__) and is hashed then, too. Normtune's own sources have none.
class SourceText {
public:
    SourceText() : SourceText(std::string()) {}
    explicit SourceText(std::string text, std::string file = "") {
        std::string hash = file.empty() ? content_hash(text.data(), text.size()) : content_hash(file + '\0' + text);
        shared_ = std::make_shared<const Hashed>(Hashed{std::move(text), std::move(file), std::move(hash)});
    }
    const std::string& text() const { return shared_->text; }
    const std::string& file() const { return shared_->file; }
    const std::string& hash() const { return shared_->hash; }

private:
    struct Hashed {
        std::string text;
        std::string file;
        std::string hash;
    };
    std::shared_ptr<const Hashed> shared_;
};

struct CompileJob {
    std::string compiler;  // "NVRTC 13.0"
    std::string arch;      // "sm_90"
    std::vector<std::string> options;
    SourceText source;
};

struct CompiledCode {
    std::vector<std::byte> image;  // cubin or code object
    std::string log;               // the compiler's, warnings included
    int registers = 0;             // the most of any of its kernels, as the two below
    int spill_bytes = 0;
    int shared_bytes = 0;
    double compile_ms = 0;  // when it was compiled, wherever that was
};

/// Of the image: equal hash, equal machine code.
std::string code_hash(const CompiledCode& code);

class CompileCache {
public:
    /// `folder` empty: NORMTUNE_CACHE_DIR, else XDG_CACHE_HOME/normtune, else ~/.cache/normtune, else none. It is made when the
    /// first entry is stored; where that fails the cache stays empty and compiling goes on.
    explicit CompileCache(std::string folder);
    const std::string& folder() const { return folder_; }

    /// Empty where there is no entry, where the entry is damaged or of another job (it is then replaced), and where the entry or one
    /// of its folders is of another user or can be written by others.
    std::optional<CompiledCode> find(const CompileJob& job) const;
    void store(const CompileJob& job, const CompiledCode& code) const;

private:
    std::string path_of(const nlohmann::json& job) const;
    std::string folder_;
};

}  // namespace normtune
