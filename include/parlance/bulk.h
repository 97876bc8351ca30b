// Bulk: answers many requests, one per line, on several threads, in the order of the requests and in bounded memory.
//
//     const parlance::RequestReader reader(std::move(model));
//     auto done = parlance::render_lines(parlance::bulk_input(requests), parlance::bulk_output(file), reader);
//     if (!done) return fail(done.error());
//     for (const parlance::BulkFailure& one : done->failures) log(one.line, one.error.message());
//
// If a line fails, its answer is an error, and the run goes on. Input and output are functions: for a range of strings,
// for a file, or your own. With answer_lines() you also write the function that answers a line: it may give tokens and
// masks, or read replies. None of these functions may throw: they run on threads of the run.
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

/// The answer to a longer line is an error.
inline constexpr std::size_t kMostBytesOfLine = std::size_t{256} << 20;

/// Appends the next bytes of the input to `text`; it waits only if there are none yet. It may cut lines anywhere.
/// Returns false after the last byte.   Threads: only the thread that started the run calls it.
using BulkInput = std::function<Result<bool>(std::string& text)>;
/// Takes answers: whole lines, in the order of the requests.   Threads: one thread at a time calls it, not always the
/// same one.
using BulkOutput = std::function<Result<void>(std::string_view lines)>;

/// The lines of a file descriptor, which stays open.
BulkInput bulk_input(int file);
/// Writes to a file descriptor, which stays open. If it is a pipe or a socket that nobody reads any more, the kernel
/// sends SIGPIPE, which ends the process unless the program ignores it or handles it; the run then fails with file.
BulkOutput bulk_output(int file);
/// Each string of a range is a line. Its newlines become spaces, which JSON allows. A blank string is not a request.
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
BulkInput bulk_input(const Texts&& texts) = delete;  ///< a temporary range would be gone when it is read

/// A line of the input. Blank lines are skipped.
struct BulkLine {
  std::string_view text;      ///< valid until the line is answered
  std::uint64_t line = 1;     ///< its number, from 1, counting blank lines too
  std::uint64_t request = 1;  ///< its number among the requests, from 1; that of its answer, if none is dropped
};

/// Counts of losses, by Loss::subject.
struct LossCounts {
  std::uint64_t lines = 0;  ///< lines with a loss
  std::map<std::string_view, std::uint64_t> things{};
  void add(std::span<const Loss> losses);
  void add(const LossCounts& other);
};

/// The answer to a line: an object with the request's `id`, then what BulkOptions::keep names, then `members`. An error
/// has the number of the line as `line` behind the `id`, and `error` in place of `members`.
struct BulkAnswer {
  std::string id{};       ///< as JSON; "": none
  std::string members{};  ///< `"text": …, "spans": …`, without braces
  LossCounts lost{};
  bool dropped = false;  ///< true: the output has nothing for this line
};
/// Answers one line: fills `answer`, which is empty at first. If it fails, the error is the line's answer. Each worker
/// serves one thread, so it may reuse memory from line to line.
using BulkWorker = std::function<Result<void>(const BulkLine& line, BulkAnswer& answer)>;

/// A line whose answer was an error.
struct BulkFailure {
  std::uint64_t line = 0;
  std::uint64_t request = 0;
  std::string id{};  ///< as JSON; "": none
  Error error;
};

/// The state of a run so far.
struct BulkProgress {
  std::uint64_t lines = 0;    ///< answered lines, without blank lines and skipped ones
  std::uint64_t failed = 0;   ///< lines among these whose answer is an error
  std::uint64_t dropped = 0;  ///< lines among these that have no answer (BulkAnswer::dropped)
  std::uint64_t behind = 0;   ///< the number of the last line that is done: to go on, skip as many
  std::uint64_t skipped = 0;  ///< requests among the lines that were skipped
  std::uint64_t bytes = 0;    ///< bytes of input
  bool stopped = false;       ///< BulkOptions::stop ended it, so there may be more lines
  LossCounts lost{};
  std::vector<BulkFailure> failures{};          ///< the first failures, in order
  std::map<std::string, std::uint64_t> kept{};  ///< by name: of how many lines BulkOptions::keep kept a member
  /// By name: in how many answers a member of BulkOptions::keep is not, since the answer has one of this name itself.
  std::map<std::string, std::uint64_t> hidden{};
};

/// Options of a run.
///
///     field          default  effect
///     threads        0        number of threads; 0: one per core. More than 1024 count as that many
///     most_bytes     0        how much may be on its way at once: lines that were read, and answers not yet written. A
///                             line that is longer goes alone. 0: 64 MiB, or 2 MiB for each thread if that is more
///     skip_lines     0        goes on behind so many lines of the input, blank lines too.
///                             Lines and requests keep their numbers
///     keep           none     names of members that an answer has of its line's object. Those that the
///                             line has not, those that the answer has itself, and `error` and `line`,
///                             which tell answers that are errors, are left out
///     keep_all       false    each member of the line's object
///     most_failures  100      how many failures are listed at most; all are counted
///     progress       none     called a few times per second, by one thread at a time
///     stop           none     asked before more of the input is read. Once it says true, none is: the lines that were
///                             read are answered, and the run ends. An input may return true without text to be asked
///     ended          none     called at the end, also of a run that failed: with what was written until then
///     reword         none     makes of an error the one that is the answer, for programs whose users know other words
///                             than a hint's. Several threads call it at once
struct BulkOptions {
  unsigned threads = 0;
  std::size_t most_bytes = 0;
  std::uint64_t skip_lines = 0;
  std::vector<std::string> keep{};
  bool keep_all = false;
  std::size_t most_failures = 100;
  std::function<void(const BulkProgress&)> progress{};
  std::function<bool()> stop{};
  std::function<void(const BulkProgress&)> ended{};
  std::function<Error(const Error&)> reword{};
};

/// Answers the lines of `input`. Each thread calls `make_worker` once.
///
/// Memory: for each thread a few batches of lines, each of 64 KiB or one line, and their answers; of long lines no more
/// than BulkOptions::most_bytes at once, and what answering those needs.
/// Fails with the error of the input or the output; with usage if one of the three functions is empty. If make_worker
/// returns an empty one, that error is the answer to each line.
Result<BulkProgress> answer_lines(const BulkInput& input, const BulkOutput& output,
                                  const std::function<BulkWorker()>& make_worker, const BulkOptions& options = {});

/// What to do about losses (parlance/losses.h).
enum class OnLoss : std::uint8_t {
  ignore,  ///< do not search for them
  count,
  fail,  ///< if a line has a loss, its answer is an error
};

/// The members of an answer besides `text` and `generation`.
struct RenderingMembers {
  bool spans = false;      ///< and `notes`, `losses`, `placeholders`
  bool assistant = false;  ///< RenderOptions::want_assistant fills it
};

/// Options of render_lines().
///
///     field          default  effect
///     render         see RenderOptions
///     on_loss        ignore   what to do about losses
///     members        text and generation   the members of an answer
///     write          none     appends the members of an answer in place of `members`, and may add losses.
///                             Several threads call it at once. If it fails, the error is the line's answer; if it
///                             appends nothing, the line has none (BulkAnswer::dropped)
///     own_templates  false    each line has its own template: {"source": TEMPLATE, "context": REQUEST}, and optionally
///                             "settings" with trim_blocks and lstrip_blocks; else RequestOptions::compile applies
struct BulkRendering {
  RenderOptions render{};
  OnLoss on_loss = OnLoss::ignore;
  RenderingMembers members{};
  std::function<Result<void>(const Conversation& conversation, CheckedRendering& checked, std::string& members)>
      write{};
  bool own_templates = false;
};

/// Renders one request per line, each with the template that the reader chooses for it. Fails as answer_lines() does.
Result<BulkProgress> render_lines(const BulkInput& input, const BulkOutput& output, const RequestReader& reader,
                                  const BulkRendering& rendering = {}, const BulkOptions& options = {});

/// Appends `"text": …, "generation": …` and the other members that `members` selects.
void append_rendering(std::string& out, const Conversation& conversation, const CheckedRendering& checked,
                      const RenderingMembers& members = {});
/// Appends `"losses": [{"kind", "subject", "path", "message", "hint"}]`.
void append_losses(std::string& out, std::span<const Loss> losses);
/// Appends `"error": {"type", "message", "line", "column", "code", "path", "hint"}`, as in answers. `line` is the
/// number of the first line of the text to which the error's place refers.
void append_error(std::string& out, const Error& error, std::uint64_t line = 1);

}  // namespace parlance
