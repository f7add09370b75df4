#include "devices/compile/compile_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "support/temporary_folder.h"

namespace normtune {
namespace {

CompileJob job(const std::string& source) {
    return {"compiler 1.0", "sm_90", {"-DNT_COLS=128", "-std=c++17"}, SourceText(source)};
}

CompiledCode code(std::size_t bytes) {
    CompiledCode out;
    out.image.assign(bytes, std::byte{0x5a});
    out.log = "a warning\n";
    out.registers = 40;
    out.spill_bytes = 8;
    out.shared_bytes = 1024;
    out.compile_ms = 12.5;
    return out;
}

class CompileCacheTest : public ::testing::Test {
protected:
    std::filesystem::path only_entry() const {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(cache_.folder())) {
            if (entry.is_regular_file()) {
                return entry.path();
            }
        }
        return {};
    }

    testing::TemporaryFolder folder_;
    CompileCache cache_{folder_ / "cache"};
};

TEST_F(CompileCacheTest, GivesBackWhatWasStored) {
    EXPECT_FALSE(cache_.find(job("a")));
    cache_.store(job("a"), code(1000));
    const auto found = cache_.find(job("a"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->image, code(1000).image);
    EXPECT_EQ(found->log, "a warning\n");
    EXPECT_EQ(found->registers, 40);
    EXPECT_EQ(found->spill_bytes, 8);
    EXPECT_EQ(found->shared_bytes, 1024);
    EXPECT_EQ(found->compile_ms, 12.5);
}

TEST_F(CompileCacheTest, EveryPartOfAJobCounts) {
    cache_.store(job("a"), code(1000));
    EXPECT_FALSE(cache_.find(job("b"))) << "the source";
    CompileJob other = job("a");
    other.compiler = "compiler 1.1";
    EXPECT_FALSE(cache_.find(other));
    other = job("a");
    other.arch = "sm_80";
    EXPECT_FALSE(cache_.find(other));
    other = job("a");
    other.options.pop_back();
    EXPECT_FALSE(cache_.find(other));
}

TEST_F(CompileCacheTest, ADamagedEntryIsNone) {
    cache_.store(job("a"), code(1000));
    const std::filesystem::path entry = only_entry();
    ASSERT_FALSE(entry.empty());
    {
        std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(-1, std::ios::end);
        file.put('x');
    }
    EXPECT_FALSE(cache_.find(job("a")));
    std::filesystem::resize_file(entry, 5);
    EXPECT_FALSE(cache_.find(job("a")));
    cache_.store(job("a"), code(1000));
    EXPECT_TRUE(cache_.find(job("a")));
}

TEST_F(CompileCacheTest, WhatOthersMayHavePutThereIsNotLoaded) {
    namespace fs = std::filesystem;
    const mode_t before = ::umask(0);  // even so the folders are private
    cache_.store(job("a"), code(1000));
    ::umask(before);
    const fs::path entry = only_entry();
    EXPECT_EQ(fs::status(entry).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_TRUE(cache_.find(job("a")));
    for (const fs::path& one : {entry, entry.parent_path(), entry.parent_path().parent_path()}) {
        const fs::perms usual = fs::status(one).permissions();
        for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
            fs::permissions(one, more, fs::perm_options::add);
            EXPECT_FALSE(cache_.find(job("a"))) << one;
            fs::permissions(one, usual);
        }
        if (::geteuid() == 0) {
            ASSERT_EQ(::chown(one.c_str(), 65534, 65534), 0);
            EXPECT_FALSE(cache_.find(job("a"))) << one << " is of another user";
            ASSERT_EQ(::chown(one.c_str(), 0, 0), 0);
        }
    }
    EXPECT_TRUE(cache_.find(job("a")));
}

TEST_F(CompileCacheTest, AForgedImageIsTold) {
    cache_.store(job("a"), code(1000));
    std::fstream file(only_entry(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-500, std::ios::end);
    file << "another kernel";
    file.close();
    EXPECT_FALSE(cache_.find(job("a")));
}

TEST(CompileCache, WithoutAHomeThereIsNone) {
    std::map<std::string, std::string> before;
    for (const char* name : {"NORMTUNE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) {
        if (const char* value = std::getenv(name)) {
            before[name] = value;
        }
        ::unsetenv(name);
    }
    const CompileCache cache{""};
    cache.store(job("a"), code(10));
    EXPECT_EQ(cache.folder(), "");
    EXPECT_FALSE(cache.find(job("a")));
    ::setenv("HOME", "/somewhere", 1);
    EXPECT_EQ(CompileCache{""}.folder(), "/somewhere/.cache/normtune");
    ::unsetenv("HOME");
    for (const auto& [name, value] : before) {
        ::setenv(name.c_str(), value.c_str(), 1);
    }
}

// The digest of FNV-1a with 128 bits that its authors publish for the empty text and for "a".
TEST(SourceText, HashIsFnv1a) {
    EXPECT_EQ(SourceText().hash(), "6c62272e07bb014262b821756295c58d");
    EXPECT_EQ(SourceText("a").hash(), "d228cb696f1a8caf78912b704e4a8964");
    const SourceText copy = SourceText("some source");
    EXPECT_EQ(copy.text(), "some source");
    EXPECT_EQ(copy.hash(), SourceText("some source").hash());
    EXPECT_EQ(copy.file(), "");
    // A user's file may have its name in its code.
    const SourceText named("some source", "norm.cu");
    EXPECT_EQ(named.file(), "norm.cu");
    EXPECT_NE(named.hash(), copy.hash());
    EXPECT_NE(named.hash(), SourceText("some source", "other.cu").hash());
}

}  // namespace
}  // namespace normtune
