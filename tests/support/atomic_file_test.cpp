#include "support/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/error.h"
#include "support/temporary_folder.h"
#include "support/text_sink.h"

namespace normtune {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::string write_error(const std::string& path, std::string_view contents) {
    try {
        write_file_atomically(path, contents);
    } catch (const SystemError& error) {
        return error.what();
    }
    return "no error";
}

std::string read_error(const std::string& path, std::size_t most = 1 << 20) {
    try {
        read_file(path, most);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(AtomicFile, WritesReplacesAndLeavesNothingBeside) {
    const TemporaryFolder folder;
    const std::string path = folder / "results.csv";
    const std::string binary("a\0\r\nb\xff", 6);
    write_file_atomically(path, "old");
    write_file_atomically(path, binary);
    EXPECT_EQ(read_file(path), binary);
    write_file_atomically(path, "");
    EXPECT_EQ(read_file(path), "");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"results.csv"});
}

TEST(AtomicFile, KeepsToTheUmask) {
    const TemporaryFolder folder;
    const mode_t before = ::umask(027);
    write_file_atomically(folder / "a", "x");
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat((folder / "a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

TEST(AtomicFile, FullDiskKeepsTheOldFile) {
    const TemporaryFolder folder;
    const std::string path = folder / "results.json";
    write_file_atomically(path, "old");
    // A limit on file sizes stands for the full disk: write(2) fails half way in the same manner.
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 1000;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string error = write_error(path, std::string(5000, 'x'));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, old_handler);
    EXPECT_EQ(error, path + ": cannot be written: File too large");
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"results.json"});
}

TEST(AtomicFile, WhatIsGivenInPiecesIsThereAsAWholeOrNotAtAll) {
    const TemporaryFolder folder;
    const std::string piece(100'000, 'x');
    const auto pieces = [&](TextSink& out) {
        for (int i = 0; i < 35; ++i) {
            out += piece;
        }
    };
    write_file_atomically(folder / "file", pieces);
    EXPECT_EQ(read_file(folder / "file").size(), 3'500'000U);
    EXPECT_THROW(write_file_atomically(folder / "file",
                                       [&](TextSink& out) {
                                           out += "new";
                                           pieces(out);
                                           throw SystemError("stopped");
                                       }),
                 SystemError);
    EXPECT_EQ(read_file(folder / "file").substr(0, 3), "xxx");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(AtomicFile, SaysWhyItCannotWrite) {
    const TemporaryFolder folder;
    EXPECT_EQ(write_error(folder / "no/such/file", "x"), (folder / "no/such/file") + ": cannot be written: No such file or directory");
    fs::create_directory(folder / "taken");
    EXPECT_EQ(write_error(folder / "taken", "x"), (folder / "taken") + ": cannot be written: Is a directory");
    write_file_atomically(folder / "file", "x");
    EXPECT_EQ(write_error(folder / "file/inside", "x"), (folder / "file/inside") + ": cannot be written: Not a directory");
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"file", "taken"}));
}

TEST(AtomicFile, UnwritableFolder) {
    if (::geteuid() == 0) {
        // Root writes anywhere but into the kernel's own file systems.
        EXPECT_NE(write_error("/proc/normtune-test", "x").find("/proc/normtune-test: cannot be written: "), std::string::npos);
        return;
    }
    const TemporaryFolder folder;
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(write_error(folder / "a", "x"), (folder / "a") + ": cannot be written: Permission denied");
    fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(AtomicFile, FollowsLinksAndKeepsPermissions) {
    const TemporaryFolder folder;
    fs::create_directory(folder / "real");
    write_file_atomically(folder / "real/file", "old");
    fs::permissions(folder / "real/file", fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("real/file", folder / "link");
    fs::create_symlink("link", folder / "second");
    fs::create_symlink("real/new", folder / "to_nothing_yet");
    fs::create_symlink("round", folder / "round");
    write_file_atomically(folder / "second", "new");
    write_file_atomically(folder / "to_nothing_yet", "made");
    EXPECT_TRUE(fs::is_symlink(folder / "second") && fs::is_symlink(folder / "link") && fs::is_symlink(folder / "to_nothing_yet"));
    EXPECT_EQ(read_file(folder / "real/file"), "new");
    EXPECT_EQ(fs::status(folder / "real/file").permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(read_file(folder / "real/new"), "made");
    EXPECT_NE(write_error(folder / "round", "x").find("symbolic links"), std::string::npos);
}

TEST(AtomicFile, WritesThroughWhatIsNoRegularFile) {
    write_file_atomically("/dev/null", "gone");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_NE(write_error("/dev/full", "x").find("No space left on device"), std::string::npos);
    const TemporaryFolder folder;
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(write_error(pipe, "x"), pipe + ": cannot be written: it is a pipe that nobody reads");
    std::string got;
    std::thread reader([&] { got = read_file(pipe); });
    write_file_atomically(pipe, "through");
    reader.join();
    EXPECT_EQ(got, "through");
    EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(ReadFile, WaitsForAPipeOnlyWhileSomebodyMayWrite) {
    const TemporaryFolder folder;
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(read_error(pipe), pipe + ": is a pipe into which nobody writes");
    std::string got;
    std::thread reader([&] { got = read_file(pipe); });
    const int writer = ::open(pipe.c_str(), O_WRONLY);
    std::this_thread::sleep_for(std::chrono::milliseconds(2300));  // longer than a pipe without a writer is waited for
    ASSERT_EQ(::write(writer, "late", 4), 4);
    ::close(writer);
    reader.join();
    EXPECT_EQ(got, "late");
}

TEST(ReadFile, NamesThatNoFileCanHave) {
    const std::string error = read_error(std::string(5000, 'x'));
    EXPECT_LT(error.size(), 150u);
    EXPECT_NE(error.find("is no file's name (5000 characters)"), std::string::npos) << error;
}

TEST(ReadFile, ClearErrors) {
    const TemporaryFolder folder;
    EXPECT_EQ(read_error(folder / "none"), (folder / "none") + ": there is no such file");
    EXPECT_EQ(read_error(folder.path()), folder.path() + ": is a folder where a file is needed");
    write_file_atomically(folder / "file", "12345");
    EXPECT_EQ(read_error(folder / "file/x"), (folder / "file/x") + ": cannot be read: Not a directory");
    EXPECT_EQ(read_error(folder / "file", 4), (folder / "file") + ": is larger than 4 bytes, the most that is read");
    EXPECT_EQ(read_error("/dev/zero", 100000), "/dev/zero: is a device; a file or a pipe is needed");
    EXPECT_EQ(read_file(folder / "file", 5), "12345");
}

}  // namespace
}  // namespace normtune
