// See token_stats.h. Begin reading at TokenStats::add.
#include "cli/token_stats.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "cli/input.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/prompt_options.h"
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

void declare_lengths(Options& app, LengthWish& wish) {
  add_number(app, "--max-tokens", wish.most, "For --jsonl: how many tokens a row may have");
  app.add_option("--too-long", wish.policy,
                 "What is done with a row of more: fail (its answer is an error), drop or truncate")
      .placeholder("POLICY")
      .one_of({std::begin(kPolicies), std::end(kPolicies)});
  app.add_option("--stats", wish.stats, "For --jsonl: write a file with the numbers of rows and tokens, as JSON")
      .placeholder("FILE");
}

Result<void> TokenStats::open() {
  if (wish_.stats.empty()) return {};
  if (wish_.stats == "-" || wish_.stats == output_path() || has_read(wish_.stats))
    return usage("--stats " + wish_.stats + " is not a file of its own", "--stats stats.json");
  file_ = ::open(wish_.stats.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  return file_ < 0 ? Result<void>(file_error(wish_.stats, errno)) : Result<void>();
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
      return Error(ErrorCode::limit_output,
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
  say_note(std::to_string(rows_) + " rows of " + std::to_string(found.total) + " tokens, " + std::to_string(trained_) +
           " of them learnt; a row has " + std::to_string(found.least) + " to " + std::to_string(found.most) +
           ", median " + std::to_string(found.median) + ", 95 % at most " + std::to_string(found.p95));
  if (untrained_rows_ != 0) {
    say_note(std::to_string(untrained_rows_) + " of " + std::to_string(rows_) +
             " rows have nothing to learn: each of their labels is -100");
  }
}

std::string TokenStats::json() const {
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
  return all.take() + "\n";
}

int TokenStats::report(bool quiet) const {
  if (!quiet) say();
  if (file_ < 0) return 0;
  const bool written = ::ftruncate(file_, 0) == 0 && write_all(file_, json());
  const int failed = written ? 0 : errno;
  if (::close(file_) == 0 && written) return 0;
  return cli::report(file_error(wish_.stats, failed != 0 ? failed : errno));
}

}  // namespace parlance::cli
