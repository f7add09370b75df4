#include "support/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "support/descriptor.h"
#include "support/error.h"

namespace normtune::sqlite {
namespace {

constexpr int usual_patience_ms = 10'000;

/// Refuses what is not a file that this version reads. Within a transaction: between two of its questions another
/// process may make the tables, and a file with tables and no application_id looks like another program's.
bool is_new(Database& database, const FileFormat& format) {
    const std::int64_t version = database.number("PRAGMA user_version");
    const std::int64_t id = database.number("PRAGMA application_id");
    if (id != format.application_id && (id != 0 || version != 0 || database.number("SELECT count(*) FROM sqlite_schema") > 0)) {
        throw InputError(fmt::format("{}: is a database of another program", database.path()));
    }
    if (version > format.version) {
        throw InputError(fmt::format("{}: was written by a newer normtune (version {} of the {}, this one reads {})", database.path(),
                                     version, format.name, format.version));
    }
    return version == 0;
}

bool opens_new(Database& database, const FileFormat& format) {
    const Transaction reading(database, Access::read);
    return is_new(database, format);
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const {
    sqlite3_close(database);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

// An absolute path, for SQLite gives names of its own to some others (":memory:").
Database::Database(const std::string& path, Missing missing, int patience_ms) : path_(path) {
    const int flags = SQLITE_OPEN_READWRITE | (missing == Missing::create ? SQLITE_OPEN_CREATE : 0);
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(std::filesystem::absolute(path).c_str(), &opened, flags, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) {
        fail(code);
    }
    sqlite3_busy_timeout(opened, patience_ms);
}

void Database::fail(int code) const {
    const std::string what = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
    switch (code & 0xff) {  // without the extension
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            throw InputError(fmt::format("{}: is damaged or no database ({}); move it away or delete it", path_, what));
        case SQLITE_BUSY:
            throw SystemError(fmt::format("{}: another process keeps it locked", path_));
        default:
            break;
    }
    const int error = database_ ? sqlite3_system_errno(database_.get()) : 0;
    throw SystemError(fmt::format("{}: {}{}", path_, what, error != 0 ? ": " + system_reason(error) : ""));
}

void Database::execute(std::string_view sql) {
    prepare(sql).step();
}

Statement Database::prepare(std::string_view sql) {
    return {*this, sql};
}

std::int64_t Database::number(std::string_view sql) {
    Statement statement = prepare(sql);
    return statement.step() ? statement.whole(0) : 0;
}

Statement::Statement(const Database& database, std::string_view sql) : database_(database) {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(database.database_.get(), sql.data(), static_cast<int>(sql.size()), &prepared, nullptr));
    statement_.reset(prepared);
}

void Statement::check(int code) const {
    if (code != SQLITE_OK) {
        database_.fail(code);
    }
}

void Statement::bind(int parameter, std::string_view text) {
    check(sqlite3_bind_text64(statement_.get(), parameter + 1, text.data(), text.size(),
                              SQLITE_TRANSIENT,  // NOLINT(performance-no-int-to-ptr)
                              SQLITE_UTF8));
}

void Statement::bind(int parameter, std::int64_t number) {
    check(sqlite3_bind_int64(statement_.get(), parameter + 1, number));
}

void Statement::bind(int parameter, double number) {
    check(sqlite3_bind_double(statement_.get(), parameter + 1, number));
}

bool Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code != SQLITE_DONE) {
        database_.fail(code);
    }
    check(sqlite3_reset(statement_.get()));
    return false;
}

std::string Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

std::int64_t Statement::whole(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL ? std::nan("") : sqlite3_column_double(statement_.get(), column);
}

Transaction::Transaction(Database& database, Access access) : database_(database) {
    database.execute(access == Access::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
    if (open_) {
        try {
            database_.execute("ROLLBACK");
        } catch (const std::runtime_error&) {
            // An error that ended the transaction has taken it back already.
        }
    }
}

void Transaction::commit() {
    database_.execute("COMMIT");
    open_ = false;
}

std::unique_ptr<Database> open_file(const std::string& path, const FileFormat& format) {
    std::error_code unknown;
    if (std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found) {
        return nullptr;
    }
    auto database = std::make_unique<Database>(path, Missing::fail, usual_patience_ms);
    return opens_new(*database, format) ? nullptr : std::move(database);
}

std::unique_ptr<Database> open_or_create_file(const std::string& path, const FileFormat& format) {
    if (const std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
        std::error_code failed;
        std::filesystem::create_directories(folder, failed);
        if (failed) {
            throw SystemError(fmt::format("{}: its folder cannot be created: {}", path, failed.message()));
        }
    }
    auto database = std::make_unique<Database>(path, Missing::create, usual_patience_ms);
    if (opens_new(*database, format)) {
        // Several processes may come here with a new file: the first makes it, the others see that it is there.
        Transaction transaction(*database);
        if (is_new(*database, format)) {
            for (const std::string_view table : format.tables) {
                database->execute(table);
            }
            database->execute(fmt::format("PRAGMA application_id = {}", format.application_id));
            database->execute(fmt::format("PRAGMA user_version = {}", format.version));
        }
        transaction.commit();
    }
    return database;
}

}  // namespace normtune::sqlite
