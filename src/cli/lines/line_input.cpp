// See line_input.h. Begin reading at LineInput::open.
#include "cli/lines/line_input.h"

#include <utility>

#include "cli/lines/archive.h"

namespace parlance::cli {
namespace {

constexpr std::size_t kEnough = 8;  ///< bytes that tell packed data and other files from text
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Result<LineInput> LineInput::open(const std::string& path) {
  Result<InputStream> stream = InputStream::open(path, "the requests");
  if (!stream) return stream.error();
  LineInput input(std::move(*stream));
  input.read_begin();
  if (Result<void> unpacked = input.unpack(); !unpacked) return unpacked.error();
  input.more_ = input.ended(input.more_);
  // Behind lines that can be answered a failure is told in its place.
  if (!input.more_ && input.begin_.find('\n') == input.begin_.npos) return input.more_.error();
  if (input.begin_.starts_with(kByteOrderMark)) input.begin_.erase(0, kByteOrderMark.size());
  const bool is_all = input.more_ && !*input.more_;
  if (Result<void> fits = expect_json_lines(input.begin_, is_all, path); !fits) return fits.error();
  return input;
}

/// What comes at once, but for a line that is shorter than what tells data: who gives a line may wait for its answer.
void LineInput::read_begin() {
  const BulkInput bytes = bulk_input(stream_.file());
  do {
    more_ = bytes(begin_);
  } while (more_ && *more_ && begin_.size() < kEnough && begin_.find('\n') == begin_.npos);
}

Result<void> LineInput::unpack() {
  const Packing packing = packing_of_bytes(begin_);
  if (packing == Packing::none || stream_.is_unpacked()) return {};
  if (Result<void> begun = stream_.unpack(packing, std::exchange(begin_, {})); !begun) return begun;
  read_begin();
  return {};
}

/// Of an archive that is cut off, the last line is half a line and no request: the failure comes with it.
Result<bool> LineInput::ended(const Result<bool>& more) {
  if (!more || *more) return more;
  if (Result<void> whole = stream_.finish(); !whole) return whole.error();
  return more;
}

BulkInput LineInput::bytes(const Interruption& interruption) {
  return [this, &interruption](std::string& text) -> Result<bool> {
    if (!begin_.empty() || !more_ || !*more_) {
      text += std::exchange(begin_, {});
      return more_;
    }
    if (!interruption.wait_for(stream_.file())) return true;
    return ended(bulk_input(stream_.file())(text));
  };
}

}  // namespace parlance::cli
