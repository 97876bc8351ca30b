// Keeps the index. Begin reading at indexed_turns.
#include "serve/capture/index.h"

#include "serve/capture/reader.h"
#include "serve/json/members.h"

#ifdef PARLANCE_HAS_SQLITE
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#endif

namespace parlance::serve {

#ifndef PARLANCE_HAS_SQLITE

Result<CaptureIndex> indexed_turns(const std::string&) {
  return Error(ErrorCode::usage, "this build has no SQLite").hint("build with libsqlite3-dev");
}

#else

namespace {

constexpr int kTablesVersion = 2;
constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS files (file TEXT PRIMARY KEY, size INTEGER NOT NULL, damaged INTEGER NOT NULL,
  first_damaged INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS turns (
  file TEXT NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL, session TEXT NOT NULL, turn INTEGER NOT NULL,
  time TEXT NOT NULL, model TEXT NOT NULL, api TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL, reused INTEGER NOT NULL, evaluated INTEGER, sampled INTEGER NOT NULL,
  flags TEXT NOT NULL, PRIMARY KEY (file, line)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS turns_by_session ON turns (session);
CREATE INDEX IF NOT EXISTS turns_by_time ON turns (time);
)";

/// A database, and what is asked of it. After a failure nothing more is done, and `failed` says why.
class Database {
 public:
  explicit Database(const std::string& path) {
    // SQLite would have others read it.
    if (const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); made >= 0) ::close(made);
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) fail();
    sqlite3_busy_timeout(database_, 10000);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { sqlite3_close(database_); }

  void run(const char* sql) {
    if (failed_.empty() && sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  /// Calls `row` for each row that a statement gives.
  template <typename Bind, typename Row>
  void each(const char* sql, const Bind& bind, const Row& row) {
    if (!failed_.empty()) return;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr) != SQLITE_OK) return fail();
    bind(statement);
    int got = SQLITE_ROW;
    while ((got = sqlite3_step(statement)) == SQLITE_ROW) row(statement);
    if (got != SQLITE_DONE) fail();
    sqlite3_finalize(statement);
  }
  const std::string& failed() const { return failed_; }

 private:
  void fail() { failed_ = sqlite3_errmsg(database_); }

  sqlite3* database_ = nullptr;
  std::string failed_;
};

void bind_text(sqlite3_stmt* statement, int at, std::string_view text) {
  sqlite3_bind_text64(statement, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::string column_text(sqlite3_stmt* statement, int at) {
  const unsigned char* const text = sqlite3_column_text(statement, at);
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

std::string flags_of(Value record) {
  std::string flags;
  const auto add = [&flags](bool is, std::string_view word) {
    if (is) flags.append(flags.empty() ? "" : " ").append(word);
  };
  add(record["prefix_break"].is(Kind::dict), "prefix_break");
  add(!record["origins"]["guarded"].items().empty(), "guarded");
  add(!record["reply"]["diagnostics"].items().empty(), "faults");
  add(record["grammar"].is(Kind::dict), "grammar");
  add(flag_of(record["length"], false), "length");
  return flags;
}

void add_turn(Database& database, const std::string& file, const CaptureRecord& record) {
  const Value root = record.root();
  database.each(
      "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [&](sqlite3_stmt* statement) {
        bind_text(statement, 1, file);
        sqlite3_bind_int64(statement, 2, static_cast<sqlite3_int64>(record.line));
        sqlite3_bind_int64(statement, 3, static_cast<sqlite3_int64>(record.offset));
        bind_text(statement, 4, root["session"].text());
        sqlite3_bind_int64(statement, 5, number_in(root["turn"]));
        int at = 6;
        for (const char* member : {"time", "model", "api", "id", "status"})
          bind_text(statement, at++, root[member].text());
        sqlite3_bind_int64(statement, 11, number_in(root["prompt"]["tokens"]));
        sqlite3_bind_int64(statement, 12, number_in(root["reused"]));
        if (root["evaluated"].is_small_int()) sqlite3_bind_int64(statement, 13, root["evaluated"].integer);
        sqlite3_bind_int64(statement, 14, static_cast<sqlite3_int64>(root["sampled"].items().size()));
        bind_text(statement, 15, flags_of(root));
      },
      [](sqlite3_stmt*) {});
}

void forget(Database& database, const std::string& file) {
  for (const char* sql : {"DELETE FROM turns WHERE file = ?", "DELETE FROM files WHERE file = ?"})
    database.each(
        sql, [&](sqlite3_stmt* statement) { bind_text(statement, 1, file); }, [](sqlite3_stmt*) {});
}

/// Reads what a file has more than the index knows of it; all of it, if it has less.
Result<void> update_file(Database& database, const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  std::size_t known = 0;
  CaptureDamage damage;
  database.each(
      "SELECT size, damaged, first_damaged FROM files WHERE file = ?",
      [&](sqlite3_stmt* statement) { bind_text(statement, 1, file); },
      [&](sqlite3_stmt* statement) {
        known = static_cast<std::size_t>(sqlite3_column_int64(statement, 0));
        damage.records = sqlite3_column_int64(statement, 1);
        damage.line = sqlite3_column_int64(statement, 2);
      });
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (!failed && size == known) return {};
  if (size < known) {
    forget(database, file);
    known = 0;
    damage = {};
  }
  const Result<CaptureText> text = read_capture(path, known);
  if (!text) return text.error();
  for (const CaptureRecord& record : text->records) {
    if (record.intact && record.kind() == "turn") add_turn(database, file, record);
    if (!record.intact && damage.records++ == 0) damage.line = static_cast<std::int64_t>(record.line);
  }
  if (text->size == 0) return {};
  database.each(
      "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
      [&](sqlite3_stmt* statement) {
        bind_text(statement, 1, file);
        sqlite3_bind_int64(statement, 2, static_cast<sqlite3_int64>(text->size));
        sqlite3_bind_int64(statement, 3, damage.records);
        sqlite3_bind_int64(statement, 4, damage.line);
      },
      [](sqlite3_stmt*) {});
  return {};
}

/// Tables of another version are made anew: a column may have the same name there, and another meaning.
void make_tables(Database& database) {
  int version = 0;
  database.each(
      "PRAGMA user_version", [](sqlite3_stmt*) {},
      [&](sqlite3_stmt* statement) { version = sqlite3_column_int(statement, 0); });
  if (version != kTablesVersion) database.run("DROP TABLE IF EXISTS turns; DROP TABLE IF EXISTS files;");
  database.run(kTables);
  database.run(("PRAGMA user_version = " + std::to_string(kTablesVersion)).c_str());
}

Result<void> update(Database& database, const std::string& folder) {
  const Result<std::vector<std::string> > files = capture_files(folder);
  if (!files) return files.error();
  database.run("BEGIN IMMEDIATE");
  make_tables(database);
  std::set<std::string> gone;
  database.each(
      "SELECT file FROM files", [](sqlite3_stmt*) {},
      [&](sqlite3_stmt* statement) { gone.insert(column_text(statement, 0)); });
  for (const std::string& file : *files) {
    gone.erase(std::filesystem::path(file).filename().string());
    if (Result<void> done = update_file(database, file); !done) return done;
  }
  for (const std::string& file : gone) forget(database, file);
  database.run("COMMIT");
  return {};
}

CaptureRow row_of(sqlite3_stmt* statement) {
  CaptureRow row;
  row.file = column_text(statement, 0);
  row.line = sqlite3_column_int64(statement, 1);
  row.offset = sqlite3_column_int64(statement, 2);
  row.session = column_text(statement, 3);
  row.turn = sqlite3_column_int64(statement, 4);
  row.time = column_text(statement, 5);
  row.model = column_text(statement, 6);
  row.api = column_text(statement, 7);
  row.id = column_text(statement, 8);
  row.status = column_text(statement, 9);
  row.prompt_tokens = sqlite3_column_int64(statement, 10);
  row.reused = sqlite3_column_int64(statement, 11);
  if (sqlite3_column_type(statement, 12) != SQLITE_NULL) row.evaluated = sqlite3_column_int64(statement, 12);
  row.sampled = sqlite3_column_int64(statement, 13);
  row.flags = column_text(statement, 14);
  return row;
}

/// Unset where the database is damaged.
Result<CaptureIndex> read_index(const std::string& folder, std::string& damage) {
  Database database(folder + "/index.sqlite");
  CaptureIndex index;
  if (database.failed().empty()) {
    if (Result<void> done = update(database, folder); !done) return done.error();
  }
  database.each(
      "SELECT * FROM turns ORDER BY time, file, line", [](sqlite3_stmt*) {},
      [&](sqlite3_stmt* statement) { index.turns.push_back(row_of(statement)); });
  database.each(
      "SELECT file, damaged, first_damaged FROM files WHERE damaged > 0 ORDER BY file", [](sqlite3_stmt*) {},
      [&](sqlite3_stmt* statement) {
        index.damage.push_back({.file = column_text(statement, 0),
                                .line = sqlite3_column_int64(statement, 2),
                                .records = sqlite3_column_int64(statement, 1)});
      });
  damage = database.failed();
  return index;
}

}  // namespace

Result<CaptureIndex> indexed_turns(const std::string& folder) {
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed))
    return Error(ErrorCode::file, "'" + folder + "' is no folder of a capture");
  std::string damage;
  Result<CaptureIndex> index = read_index(folder, damage);
  if (!index || damage.empty()) return index;
  std::filesystem::remove(folder + "/index.sqlite", failed);
  index = read_index(folder, damage);
  if (index && !damage.empty())
    return Error(ErrorCode::file, "'" + folder + "/index.sqlite' cannot be written: " + damage);
  return index;
}

#endif

}  // namespace parlance::serve
