// See token_stats.h. Begin reading at TokenStats::add.
#include "cli/token_stats.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "cli/input.h"
#include "cli/numbers.h"
#include "cli/options/options.h"
#include "cli/options/prompt_options.h"
#include "cli/output.h"
#include "cli/report.h"
#include "parlance/json_writer.h"
#include "parlance/source.h"

namespace parlance::cli {
namespace {

constexpr std::string_view kPolicies[] = {"fail", "drop", "truncate"};
constexpr const char* kDone[] = {"each is an error", "they are dropped", "they are cut"};

std::int64_t as_signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

TooLong LengthWish::too_long() const {
  const auto* const found = std::ranges::find(kPolicies, policy);
  return found == std::end(kPolicies) ? TooLong::fail : static_cast<TooLong>(found - std::begin(kPolicies));
}

std::string LengthWish::given() const {
  return most != 0 ? "--max-tokens" : !policy.empty() ? "--too-long" : stats.empty() ? "" : "--stats";
}

std::span<const std::string_view> too_long_names() { return kPolicies; }

void declare_lengths(Options& app, LengthWish& wish) {
  add_number(app, "--max-tokens", wish.most, "For --jsonl: how many tokens a row may have", kMostCount, 1);
  app.add_option("--too-long", wish.policy,
                 "What is done with a row of more: fail (its answer is an error), drop or truncate")
      .placeholder("POLICY")
      .one_of({std::begin(kPolicies), std::end(kPolicies)});
  app.add_option("--stats", wish.stats, "For --jsonl: write a file with the numbers of rows and tokens, as JSON")
      .placeholder("FILE");
}

namespace {

/// Are both names of one file, be it there or not?
bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code none;
  if (std::filesystem::equivalent(one, other, none)) return true;
  const auto whole = [&none](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, none), none);
  };
  return whole(one) == whole(other);
}

bool is_file_of(int descriptor, const struct stat& file) {
  struct stat open {};
  return ::fstat(descriptor, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino;
}

/// What an older file of --stats begins with.
constexpr std::string_view kBegin = "{\"rows\": ";

bool begins_as_stats(const std::string& path) {
  std::array<char, kBegin.size()> begin{};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : ::read(file, begin.data(), begin.size());
  if (file >= 0) ::close(file);
  return size == static_cast<ssize_t>(begin.size()) && std::ranges::equal(begin, kBegin);
}

/// Could a file of this name be made, or written?
Result<void> can_be_written(const std::string& path, bool is_there) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string asked = is_there ? path : folder.empty() ? "." : folder.string();
  return ::access(asked.c_str(), W_OK) == 0 ? Result<void>() : file_error(path, errno);
}

}  // namespace

Result<void> TokenStats::check_file(const std::string& input, bool is_rest) const {
  const std::string& path = wish_.stats;
  if (path.empty()) return {};
  struct stat found {};
  const bool is_there = ::stat(path.c_str(), &found) == 0, is_file = is_there && S_ISREG(found.st_mode);
  if (is_there && S_ISDIR(found.st_mode)) return file_error(path, EISDIR);
  const bool is_output = !output_is_stdout() && is_same_file(path, output_path());
  const bool is_open = is_file && (is_file_of(STDOUT_FILENO, found) || is_file_of(STDIN_FILENO, found));
  const bool is_input = !is_stdin(input) && is_same_file(path, input);
  const bool is_plain = is_file || !is_there;  // and no pipe or device, which others may write to
  const bool is_other = is_plain && (is_output || is_open || has_read(path));
  if (path == "-" || is_input || is_other)
    return usage("--stats " + path + " is not a file of its own", "--stats stats.json");
  if (is_file && found.st_size != 0 && !begins_as_stats(path))
    return usage("--stats " + path + " is there already, and has no numbers of tokens", "--stats stats.json");
  if (is_rest && is_file && found.st_size != 0)
    return usage("--stats " + path + " is there already, and would have the rows of this part alone",
                 "name another file for the rest: --stats rest.json");
  return can_be_written(path, is_there);
}

Result<std::size_t> TokenStats::add(PromptTokens& tokens, const std::optional<std::vector<ReplyKind>>& kinds,
                                    bool& drops) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = tokens.ids.size();
  const std::size_t most = wish_.most == 0 ? size : std::min<std::size_t>(size, wish_.most);
  if (most < size) {
    ++too_long_;
    drops = wish_.too_long() == TooLong::drop;
    if (drops) return std::size_t{0};
    if (wish_.too_long() == TooLong::fail) {
      return Error(ErrorCode::too_many_tokens,
                   std::to_string(size) + " tokens, and a row may have " + std::to_string(most))
          .hint("--too-long truncate cuts it, --too-long drop leaves it out");
    }
    tokens.ids.resize(most);
    tokens.tokens.resize(most);
  }
  ++rows_;
  ++rows_by_tokens_[most];
  const auto learnt = static_cast<std::uint64_t>(std::ranges::count_if(tokens.tokens, &PromptToken::trained));
  trained_ += learnt;
  untrained_rows_ += learnt == 0 ? 1 : 0;
  if (wants_kinds() && !kinds) ++rows_without_kinds_;
  for (std::size_t i = 0; kinds && i < most; ++i)
    if (tokens.tokens[i].trained) ++kinds_[static_cast<std::size_t>((*kinds)[i])];
  return size - most;
}

/// A share of the rows has at most so many tokens: the nearest rank.
TokenStats::Spread TokenStats::spread() const {
  Spread found;
  if (rows_ == 0) return found;
  const std::uint64_t half = (rows_ + 1) / 2, most_rows = rows_ - rows_ / 20;
  std::uint64_t seen = 0;
  for (const auto& [tokens, rows] : rows_by_tokens_) {
    const std::uint64_t before = seen;
    seen += rows;
    found.total += tokens * rows;
    if (before < half && seen >= half) found.median = tokens;
    if (before < most_rows && seen >= most_rows) found.p95 = tokens;
  }
  found.least = rows_by_tokens_.begin()->first;
  found.most = rows_by_tokens_.rbegin()->first;
  return found;
}

void TokenStats::say() const {
  const std::uint64_t lines = rows_ + (wish_.too_long() == TooLong::truncate ? 0 : too_long_);
  if (too_long_ != 0) {
    say_note(std::to_string(too_long_) + " of " + std::to_string(lines) + " rows have more than " +
             std::to_string(wish_.most) + " tokens: " + kDone[static_cast<std::size_t>(wish_.too_long())]);
  }
  if (rows_ == 0) return;
  const Spread found = spread();
  say_note(std::to_string(rows_) + (rows_ == 1 ? " row of " : " rows of ") + std::to_string(found.total) + " tokens, " +
           std::to_string(trained_) + " of them learnt; a row has " + std::to_string(found.least) + " to " +
           std::to_string(found.most) + ", median " + std::to_string(found.median) + ", 95 % at most " +
           std::to_string(found.p95));
  if (untrained_rows_ != 0) {
    say_note(std::to_string(untrained_rows_) + " of " + std::to_string(rows_) +
             " rows have nothing to learn: each of their labels is -100");
  }
}

std::string TokenStats::json(std::uint64_t skipped, bool stopped) const {
  const Spread found = spread();
  JsonWriter tokens('{'), kinds('{'), all('{');
  tokens.number("total", as_signed(found.total))
      .number("min", as_signed(found.least))
      .number("median", as_signed(found.median));
  tokens.number("p95", as_signed(found.p95))
      .number("max", as_signed(found.most))
      .number("trained", as_signed(trained_));
  for (std::size_t i = 1; i < kReplyKinds; ++i) kinds.number(reply_kind_names()[i], as_signed(kinds_[i]));
  all.number("rows", as_signed(rows_)).raw("tokens", tokens.take()).raw("kinds", kinds.take());
  all.number("rows_untrained", as_signed(untrained_rows_)).number("rows_without_kinds", as_signed(rows_without_kinds_));
  if (wish_.most != 0) {
    all.number("max_tokens", as_signed(wish_.most))
        .text("too_long", kPolicies[static_cast<std::size_t>(wish_.too_long())]);
    all.number("rows_too_long", as_signed(too_long_));
  }
  all.number("lines_skipped", as_signed(skipped)).flag("whole", skipped == 0 && !stopped);
  return all.take() + "\n";
}

namespace {

/// 0, or the failure.
int write_whole(const std::string& path, int flags, std::string_view text) {
  const int file = ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int failed = write_all(file, text) ? 0 : errno;
  if (::close(file) != 0 && failed == 0) failed = errno;
  return failed;
}

/// A file gets its name once it is whole. What cannot be replaced, a pipe or a file in a folder that takes none, is
/// written to.
int put_file(const std::string& path, std::string_view text) {
  std::error_code none;
  const bool is_link = std::filesystem::is_symlink(path, none);
  const bool is_new = !std::filesystem::exists(path, none);
  const bool is_plain =
      is_new || (std::filesystem::is_regular_file(path, none) && std::filesystem::hard_link_count(path, none) == 1);
  if (is_link || !is_plain) return write_whole(path, O_CREAT | O_TRUNC, text);
  const std::string part = path + "." + std::to_string(::getpid()) + ".part";
  const int made = write_whole(part, O_CREAT | O_EXCL, text);
  if (made == EACCES || made == EPERM || made == EROFS) return write_whole(path, O_CREAT | O_TRUNC, text);
  const int failed = made != 0 ? made : ::rename(part.c_str(), path.c_str()) == 0 ? 0 : errno;
  if (failed != 0) ::unlink(part.c_str());
  return failed;
}

}  // namespace

int TokenStats::report(bool quiet, std::uint64_t skipped, bool stopped) const {
  if (!quiet) say();
  if (wish_.stats.empty()) return 0;
  if (!quiet && (skipped != 0 || stopped))
    say_note("--stats " + wish_.stats + ": the numbers are those of a part of the input; its `whole` is false");
  const int failed = put_file(wish_.stats, json(skipped, stopped));
  return failed == 0 ? 0 : cli::report(file_error(wish_.stats, failed));
}

}  // namespace parlance::cli
