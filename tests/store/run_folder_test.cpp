#include "store/run_folder.h"

#include <fnmatch.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "store/sample_results.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace normtune {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::string folder_error(const std::string& out) {
    try {
        create_run_folder(out);
    } catch (const InputError& error) {
        return error.what();
    } catch (const SystemError& error) {
        return std::string("system: ") + error.what();
    }
    return "no error";
}

/// The present folder, for as long as it lives.
class InFolder {
public:
    explicit InFolder(const std::string& folder) : before_(fs::current_path()) { fs::current_path(folder); }
    InFolder(const InFolder&) = delete;
    InFolder& operator=(const InFolder&) = delete;
    ~InFolder() { fs::current_path(before_); }

private:
    fs::path before_;
};

TEST(RunFolder, DefaultNamesAreNewFolders) {
    const TemporaryFolder folder;
    const InFolder here(folder.path());
    const auto many = [](const std::string& one, int count) {
        std::string out;
        while (count-- > 0) {
            out += one;
        }
        return out;
    };
    const std::string pattern = "results/run-" + many("[0-9]", 8) + "T" + many("[0-9]", 6) + "Z-" + many("[0-9a-f]", 4);
    std::set<std::string> names;
    for (int i = 0; i < 20; ++i) {
        const std::string path = create_run_folder("");
        EXPECT_EQ(fnmatch(pattern.c_str(), path.c_str(), 0), 0) << path;
        EXPECT_TRUE(fs::is_directory(path) && fs::is_empty(path));
        names.insert(path);
    }
    EXPECT_EQ(names.size(), 20u);
}

TEST(RunFolder, DefaultNeedsResultsToBeAFolder) {
    const TemporaryFolder folder;
    const InFolder here(folder.path());
    write_file_atomically("results", "a file");
    EXPECT_EQ(folder_error("").find("system: results"), 0u) << folder_error("");
    EXPECT_EQ(read_file("results"), "a file");
}

TEST(RunFolder, TakesANewOrEmptyFolder) {
    const TemporaryFolder folder;
    EXPECT_EQ(create_run_folder(folder / "a/b/c"), folder / "a/b/c");
    EXPECT_EQ(create_run_folder(folder / "a/b/c"), folder / "a/b/c");  // empty
    EXPECT_EQ(create_run_folder(folder / "d/"), folder / "d/");
    EXPECT_TRUE(fs::is_directory(folder / "d"));
    write_file_atomically(folder / "d/.normtune-1-0.tmp", "left by a kill");
    EXPECT_EQ(create_run_folder(folder / "d"), folder / "d");
}

TEST(RunFolder, ANewOneThatStayedEmptyGoesUnlessItIsAnothersByNow) {
    const TemporaryFolder folder;
    const std::string out = folder / "a/run";
    { const NewRunFolder empty(out); }
    EXPECT_FALSE(fs::exists(folder / "a"));
    {
        const NewRunFolder filled(out);
        write_file_atomically(out + "/results.json", "{}");
    }
    EXPECT_TRUE(fs::exists(out));
    fs::remove_all(out);
    {
        const NewRunFolder mine(out);
        fs::remove(out);
        fs::create_directory(out);  // another run's, which has written nothing yet
    }
    EXPECT_TRUE(fs::exists(out));
}

TEST(RunFolder, RefusesWhatIsInUse) {
    const TemporaryFolder folder;
    const std::string out = folder / "run";
    fs::create_directory(out);
    write_file_atomically(out + "/notes.txt", "mine");
    EXPECT_EQ(folder_error(out), out + ": is not empty; --out needs a new or empty folder");
    write_file_atomically(out + "/journal.jsonl", "");
    EXPECT_EQ(folder_error(out), out + ": holds a run already; go on with it by --resume " + out + ", or give --out a new folder");
    EXPECT_EQ(folder_error(out + "/notes.txt"), out + "/notes.txt: is a file where --out needs a folder");
    EXPECT_EQ(folder_error(out + "/notes.txt/x"), "system: " + out + "/notes.txt/x: the folder cannot be created: Not a directory");
}

TEST(RunFolder, SaysWhereItCannotWrite) {
    EXPECT_EQ(folder_error("/proc/normtune/run").find("system: /proc/normtune/run: the folder cannot be created: "), 0u);
    EXPECT_EQ(folder_error(std::string(5000, 'x')),
              "system: " + std::string(5000, 'x') + ": the folder cannot be created: File name too long");
    if (::geteuid() != 0) {
        const TemporaryFolder folder;
        fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
        EXPECT_EQ(folder_error(folder.path()), "system: " + folder.path() + ": the folder cannot be written to: Permission denied");
        fs::permissions(folder.path(), fs::perms::owner_all);
    }
}

TEST(RunFolder, IsFilledWholeOrNotAtAll) {
    const TemporaryFolder folder;
    for (const char* name : {"plain", "slash/"}) {
        const std::string path = create_run_folder(folder / name);
        fill_result_folder(path, testing::sample_results());
        EXPECT_EQ(read_results_json(path).records.size(), testing::sample_results().records.size());
        EXPECT_TRUE(fs::exists(fs::path(path) / "results.csv") && fs::exists(fs::path(path) / "liger.csv"));
    }
    const std::string used = create_run_folder(folder / "used");
    write_file_atomically(used + "/note.txt", "mine");
    EXPECT_THROW(fill_result_folder(used, testing::sample_results()), SystemError);
    EXPECT_EQ(std::distance(fs::directory_iterator(used), fs::directory_iterator{}), 1);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator{}), 3) << "nothing is left beside it";
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "plain"), fs::directory_iterator{}), 3) << "nor in it";
}

TEST(RunFolder, IsFilledInItsPlace) {
    const TemporaryFolder folder;
    const InFolder here(create_run_folder(folder / "mine"));
    fs::permissions(".", fs::perms::owner_all);  // a mount, or whatever else cannot be replaced by another folder
    fill_result_folder(create_run_folder("."), testing::sample_results());
    EXPECT_TRUE(fs::exists("results.json"));
    EXPECT_EQ(fs::status(folder / "mine").permissions(), fs::perms::owner_all);
    EXPECT_TRUE(fs::equivalent(".", folder / "mine"));
}

TEST(RunFolder, IsFilledBesideOthersThatAreFilled) {
    const TemporaryFolder folder;
    const std::string one = create_run_folder(folder / "one");
    const std::string other = create_run_folder(folder / "other");
    // The same process id, as two containers have it.
    fill_folder(one, [&](const std::string& place) {
        write_file_atomically(place + "/a.txt", "one");
        fill_folder(other, [](const std::string& its) { write_file_atomically(its + "/a.txt", "other"); });
    });
    EXPECT_EQ(read_file(one + "/a.txt"), "one");
    EXPECT_EQ(read_file(other + "/a.txt"), "other");
    // Both into one folder: the first to end has it.
    const std::string both = create_run_folder(folder / "both");
    const auto fill_both = [&] {
        fill_folder(both, [&](const std::string& place) {
            write_file_atomically(place + "/a.txt", "late");
            fill_folder(both, [](const std::string& its) { write_file_atomically(its + "/b.txt", "early"); });
        });
    };
    EXPECT_THROW(fill_both(), SystemError);
    EXPECT_EQ(std::distance(fs::directory_iterator(both), fs::directory_iterator{}), 1);
    EXPECT_EQ(read_file(both + "/b.txt"), "early");
}

}  // namespace
}  // namespace normtune
