// Bulk: many requests, a line each, by several threads; the answers in the order of the requests, in bounded memory.
//
//     const parlance::RequestReader reader(std::move(model));
//     auto done = parlance::render_lines(parlance::bulk_input(requests), parlance::bulk_output(file), reader);
//     if (!done) return fail(done.error());
//     for (const parlance::BulkFailure& one : done->failures) log(one.line, one.error.message());
//
// A line that fails is answered by an error, and the run goes on. Input and output are functions: over a range of
// texts, over a file, or your own. With answer_lines(), so is the work: it may give tokens and masks, or read replies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parlance/error.h"
#include "parlance/losses.h"
#include "parlance/render.h"
#include "parlance/request.h"
#include "parlance/result.h"

namespace parlance {

/// A line longer than this is answered by an error.
inline constexpr std::size_t kMostBytesOfLine = std::size_t{256} << 20;

/// Appends the next bytes of the input to `text`, and waits only if there are none yet. Lines may be cut anywhere.
/// Returns false after the last byte.   Threads: the thread that started the run calls it.
using BulkInput = std::function<Result<bool>(std::string& text)>;
/// Takes answers: whole lines, in the order of the requests.   Threads: one at a time calls it, not always the same.
using BulkOutput = std::function<Result<void>(std::string_view lines)>;

/// The lines of a file descriptor, which stays open.
BulkInput bulk_input(int file);
/// Writes to a file descriptor, which stays open.
BulkOutput bulk_output(int file);
/// A text of a range as a line: of JSON, line ends are blanks. A text that is blank is no request.
/// Lifetime: the range must outlive it.
template <typename Texts>
  requires(!std::is_arithmetic_v<Texts>)
BulkInput bulk_input(const Texts& texts) {
  return [at = std::begin(texts), end = std::end(texts)](std::string& text) mutable -> Result<bool> {
    constexpr std::size_t kPiece = std::size_t{1} << 16;
    for (const std::size_t begin = text.size(); at != end && text.size() - begin < kPiece; ++at) {
      const std::size_t line = text.append(std::string_view(*at)).size() - std::string_view(*at).size();
      for (std::size_t i = line; i < text.size(); ++i) {
        if (text[i] == '\n') text[i] = ' ';
      }
      text += '\n';
    }
    return at != end;
  };
}
template <typename Texts>
BulkInput bulk_input(const Texts&& texts) = delete;  ///< a range that is gone when it is read

/// A line of the input. Blank ones are skipped.
struct BulkLine {
  std::string_view text;      ///< until the answer is there
  std::uint64_t line = 1;     ///< its number, from 1, blank ones too
  std::uint64_t request = 1;  ///< its number among the requests, from 1: its answer's line in the output
};

/// What lines lost, by the subject of Loss.
struct LossCounts {
  std::uint64_t lines = 0;  ///< that lost anything
  std::map<std::string_view, std::uint64_t> things{};
  void add(std::span<const Loss> losses);
  void add(const LossCounts& other);
};

/// The answer to a line: an object with the request's `id` and then its members, or `error` in place of these.
struct BulkAnswer {
  std::string id{};       ///< as JSON; "": none
  std::string members{};  ///< `"text": …, "spans": …`, without braces
  LossCounts lost{};
};
/// Answers one line: fills `answer`, which comes empty. A failure is the line's error. A worker serves one thread, so
/// it may keep memory from line to line.
using BulkWorker = std::function<Result<void>(const BulkLine& line, BulkAnswer& answer)>;

/// A line that was answered by an error.
struct BulkFailure {
  std::uint64_t line = 0;
  std::uint64_t request = 0;
  std::string id{};  ///< as JSON; "": none
  Error error;
};

/// What has come of a run so far.
struct BulkProgress {
  std::uint64_t lines = 0;   ///< answered, blank ones not counted
  std::uint64_t failed = 0;  ///< of these, by an error
  std::uint64_t bytes = 0;   ///< of input
  LossCounts lost{};
  std::vector<BulkFailure> failures{};  ///< the first of those that failed, in order
};

/// Options of a run.
///
///     field          default  effect
///     threads        0        how many work at once; 0: as many as there are cores
///     most_failures  100      so many of the failures are listed; all are counted
///     progress       none     called some times a second, by one thread at a time
struct BulkOptions {
  unsigned threads = 0;
  std::size_t most_failures = 100;
  std::function<void(const BulkProgress&)> progress{};
};

/// Answers the lines of `input`. Each thread calls `make_worker` once.
///
/// Keeps in memory a few batches of lines for each thread, of 64 KiB or one line, and their answers.
/// Fails with what the input or the output fails with.
Result<BulkProgress> answer_lines(const BulkInput& input, const BulkOutput& output,
                                  const std::function<BulkWorker()>& make_worker, const BulkOptions& options = {});

/// What becomes of losses (parlance/losses.h).
enum class OnLoss : std::uint8_t {
  ignore,  ///< they are not looked for
  count,
  fail,  ///< a line that lost anything is answered by an error
};

/// Which members an answer has besides `text` and `generation`.
struct RenderingMembers {
  bool spans = false;      ///< and `notes`, `losses`, `placeholders`
  bool assistant = false;  ///< RenderOptions::want_assistant fills it
};

/// Options of render_lines().
///
///     field          default  effect
///     render         see RenderOptions
///     on_loss        ignore   what becomes of losses
///     members        text and generation   what an answer says
///     write          none     appends the members of an answer in place of `members`, and may add losses.
///                             Several threads call it at once. A failure is the line's error
///     own_templates  false    each line brings its template: {"source": TEMPLATE, "context": REQUEST}, and optionally
///                             "settings" with trim_blocks and lstrip_blocks; otherwise RequestOptions::compile holds
struct BulkRendering {
  RenderOptions render{};
  OnLoss on_loss = OnLoss::ignore;
  RenderingMembers members{};
  std::function<Result<void>(const Conversation& conversation, CheckedRendering& checked, std::string& members)>
      write{};
  bool own_templates = false;
};

/// Renders a request a line, each by the template that the reader has for it. Fails as answer_lines() does.
Result<BulkProgress> render_lines(const BulkInput& input, const BulkOutput& output, const RequestReader& reader,
                                  const BulkRendering& rendering = {}, const BulkOptions& options = {});

/// Appends `"text": …, "generation": …` and what else `members` says.
void append_rendering(std::string& out, const Conversation& conversation, const CheckedRendering& checked,
                      const RenderingMembers& members = {});
/// Appends `"losses": [{"kind", "subject", "path", "message", "hint"}]`.
void append_losses(std::string& out, std::span<const Loss> losses);
/// Appends `"error": {"type", "message", "line", "column", "code", "path", "hint"}`, as answers have it. `line` is the
/// number that the error's first line counts as.
void append_error(std::string& out, const Error& error, std::uint64_t line = 1);

}  // namespace parlance
