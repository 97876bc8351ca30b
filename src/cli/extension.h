// The ids so far, which --extend takes, and what comes after them: of one request, and of a request a line.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/bulk.h"
#include "parlance/session.h"

namespace parlance::cli {

/// Ids as a list with blanks or one comma between them, as JSON, or as what --json prints: its member `ids`. `path` is
/// for errors. Fails with usage, json.
Result<std::vector<TokenId>> read_ids(std::string_view text, const std::string& path);
/// `"append": …, "ids": …, "canonical": …, "losses": …`: of the ids so far and what comes after them.
std::string extension_members(std::vector<TokenId> ids, const Extension& extension, std::span<const Loss> losses);

/// extend_ids() where replies may be written otherwise than by the template, as `reader` reads them.
Result<Extension> extend_request(std::span<const TokenId> ids, const Template& chat_template,
                                 const Tokenizer& tokenizer, Conversation conversation, const SessionOptions& options,
                                 const RequestReader& reader);

/// A file of ids, those of one request a line.
class IdLines {
 public:
  /// Fails with file, usage.
  static Result<IdLines> open(const std::string& path);
  std::size_t size() const { return begins_.size(); }
  /// The line of request `number`, from 1, or "" where there is none.
  std::string_view line(std::uint64_t number) const;
  /// Fails with conversation where there are ids behind those of the last of so many requests.
  Result<void> check_end(std::uint64_t requests) const;
  /// What to call it in errors: "line 3 of 'ids.jsonl'".
  std::string name(std::uint64_t number) const;

 private:
  std::string path_, text_;
  std::vector<std::size_t> begins_;
};

/// Answers a request by the ids that come after those of the line of its number: a BulkWorker.
struct LineExtender {
  const IdLines& ids;
  const RequestReader& reader;
  const Tokenizer& tokenizer;
  SessionOptions options;
  OnLoss on_loss = OnLoss::count;

  Result<void> answer(const BulkLine& line, BulkAnswer& answer) const;

 private:
  Result<void> fill(Conversation&& conversation, std::uint64_t number, BulkAnswer& answer) const;
};

}  // namespace parlance::cli
