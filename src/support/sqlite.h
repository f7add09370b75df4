// SQLite's C interface with owners and errors: as much of it as the stores of a user need.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace normtune::sqlite {

enum class Missing { fail, create };  // a file that is not there

class Statement;

/// One connection, for one thread. Everything throws InputError (the file is damaged, or no database) or SystemError
/// (it cannot be opened or written, or others keep it locked), in one line that begins with the path.
class Database {
public:
    /// Waits up to `patience_ms` for others that write. A file that may not be written is opened for reading.
    Database(const std::string& path, Missing missing, int patience_ms);

    /// One statement that gives no rows.
    void execute(std::string_view sql);
    Statement prepare(std::string_view sql);
    /// The first number of the first row.
    std::int64_t number(std::string_view sql);
    const std::string& path() const { return path_; }

private:
    friend class Statement;
    [[noreturn]] void fail(int code) const;

    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::string path_;
    std::unique_ptr<sqlite3, Close> database_;
};

/// Lives no longer than its database. Parameters and columns count from 0.
class Statement {
public:
    void bind(int parameter, std::string_view text);
    void bind(int parameter, std::int64_t number);
    void bind(int parameter, double number);
    /// To the next row; false: there is none, and the statement can be bound and run again.
    bool step();
    std::string text(int column) const;
    std::int64_t whole(int column) const;
    /// NaN where there is none; NaN is bound as none.
    double number(int column) const;

private:
    friend class Database;
    Statement(const Database& database, std::string_view sql);
    void check(int code) const;

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    const Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class Access { read, write };

/// Statements that see one state of the file. `write` takes the right to at once; what was not committed is taken back.
class Transaction {
public:
    explicit Transaction(Database& database, Access access = Access::write);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    void commit();

private:
    Database& database_;
    bool open_ = true;
};

/// One of normtune's kinds of files.
struct FileFormat {
    std::int64_t application_id = 0;           // PRAGMA application_id: tells the file from other programs' databases
    std::int64_t version = 1;                  // PRAGMA user_version: raised where an older normtune would misread
    std::string_view name;                     // in messages: "store"
    std::span<const std::string_view> tables;  // the statements that make a new one
};

/// None: there is no such file, or nothing was put into it yet. Never deletes a file or makes it anew. Throws what Database throws, and
/// InputError where the file is another program's or of a newer normtune.
std::unique_ptr<Database> open_file(const std::string& path, const FileFormat& format);
/// Makes the file and its folders where they are missing.
std::unique_ptr<Database> open_or_create_file(const std::string& path, const FileFormat& format);

}  // namespace normtune::sqlite
