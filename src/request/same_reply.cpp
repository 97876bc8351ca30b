// Tells by reading whether two writings are the same reply. Begin reading at same_when_read.
#include <algorithm>

#include "base/ascii.h"
#include "base/surrogates.h"
#include "base/utf8.h"
#include "json/same.h"
#include "parlance/json.h"
#include "parlance/sampled_reply.h"
#include "tokens/difference.h"

namespace parlance {

namespace {

/// A writing that was read to the mark that ends it, or to its end.
class ReadReply {
 public:
  ReadReply(const CompiledReplyFormat& format, const ReplyOptions& options, std::span<const ReplyPiece> pieces)
      : parser_(format, options) {
    const auto take = [this](const ReplyEvent& event) { add(event); };
    for (const ReplyPiece& piece : pieces) {
      if (ended_) break;
      parser_.feed_token(piece.text, piece.control, take);
    }
    ended_by_mark_ = ended_;
    if (!ended_) parser_.finish(take);
  }

  const ReplyMessage& message() const { return message_; }
  /// Has the reply its end, and nothing behind it but further ends?
  bool is_whole(std::span<const ReplyPiece> pieces, std::string_view opened) const {
    return ended_by_mark_ ? only_ends_behind(pieces, opened) : message_.finish_reason() != "length";
  }
  bool has_end() const { return ended_by_mark_; }
  std::size_t body() const { return body_; }  ///< bytes before that mark
  std::size_t said() const { return said_; }  ///< bytes up to the last of reasoning, content or arguments, blanks apart
  std::string_view mark() const { return mark_; }  ///< that ends it; also one that does so only at its end

 private:
  /// Engines that stop at another token than the one that ends the turn sample both, and some samplers append one: what
  /// stands behind the end are then control tokens, of which none begins a turn.
  bool only_ends_behind(std::span<const ReplyPiece> pieces, std::string_view opened) const {
    const std::string_view opening = ascii::trimmed_left(opened);
    std::size_t end = body_ + mark_.size();
    for (const ReplyPiece& piece : pieces) {
      const std::size_t passed = std::min(end, piece.text.size());
      end -= passed;
      if (passed == piece.text.size()) continue;
      if (passed != 0 || !piece.control || opening.starts_with(piece.text)) return false;
    }
    return end == 0;
  }
  void add(const ReplyEvent& event) {
    if (ended_) return;
    message_.add(event);
    const bool says = event.kind == ReplyEvent::Kind::content || event.kind == ReplyEvent::Kind::reasoning ||
                      event.kind == ReplyEvent::Kind::arguments;
    if (says && !ascii::is_blank(event.source))
      said_ = static_cast<std::size_t>(event.position) + ascii::trimmed_right(event.source).size();
    ended_ = event.kind == ReplyEvent::Kind::end;
    if (!ended_) return;
    body_ = static_cast<std::size_t>(event.position);
    mark_ = event.source;
  }

  ReplyParser parser_;
  ReplyMessage message_;
  bool ended_ = false, ended_by_mark_ = false;
  std::size_t body_ = 0, said_ = 0;
  std::string mark_;
};

/// Blanks at both ends apart. A template writes U+FFFD for a character that the model broke off in.
bool is_same_text(std::string_view a, std::string_view b) {
  const std::string_view one = ascii::trimmed(a), other = ascii::trimmed(b);
  return one == other || utf8::repair(one) == utf8::repair(other);
}

bool is_same_json(const std::string& a, const std::string& b) {
  if (a == b) return true;
  Document left, right;
  return left.parse(repair_json(a)) && right.parse(repair_json(b)) && same_json(left.root(), right.root());
}

bool is_same(const ReplyCall& a, const ReplyCall& b) {
  return a.complete && b.complete && is_same_text(a.name, b.name) && is_same_text(a.id, b.id) && a.custom == b.custom &&
         is_same_json(a.arguments, b.arguments);
}

bool is_same(const ReplyMessage& a, const ReplyMessage& b) {
  return is_same_text(a.reasoning, b.reasoning) && is_same_text(a.content, b.content) &&
         std::equal(a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(),
                    [](const ReplyCall& one, const ReplyCall& other) { return is_same(one, other); });
}

std::string joined(std::span<const ReplyPiece> pieces) {
  std::string text;
  for (const ReplyPiece& piece : pieces) text += piece.text;
  return text;
}

/// How many bytes of `written` stand for `sampled`, which it begins with but for blanks. Blanks at its end stand for
/// the same ones alone: others may be what the template puts between turns.
std::optional<std::size_t> size_of_beginning(std::string_view sampled, std::string_view written) {
  const std::string_view matter = ascii::trimmed_right(sampled);
  std::size_t at = 0;
  for (const char c : matter) {
    while (at < written.size() && ascii::is_space(written[at])) ++at;
    if (ascii::is_space(c)) continue;
    if (at == written.size() || written[at] != c) return std::nullopt;
    ++at;
  }
  for (const char blank : sampled.substr(matter.size()))
    if (at < written.size() && written[at] == blank) ++at;
  return at;
}

/// For a reply that breaks off: what closes it in the template's text, such as the rest of a call's marks, is new.
std::optional<std::size_t> size_without_end(const TwoWritings& both, const ReadReply& sampled,
                                            const ReadReply& written) {
  const std::string of_model = joined(both.sampled), of_template = joined(both.written).substr(0, written.body());
  const std::optional<std::size_t> more = size_of_beginning(std::string_view(of_model).substr(sampled.said()),
                                                            std::string_view(of_template).substr(written.said()));
  return more ? std::optional(written.said() + *more) : std::nullopt;
}

/// Is what a template writes behind a turn the begin of another one, by the control token that `opened` begins with, or
/// nothing?
bool is_behind_turn(std::span<const ReplyPiece> pieces, std::string_view opened) {
  const auto next = std::find_if(pieces.begin(), pieces.end(),
                                 [](const ReplyPiece& piece) { return piece.control || !ascii::is_blank(piece.text); });
  return next == pieces.end() || (next->control && ascii::trimmed_left(opened).starts_with(next->text));
}

/// Where no end of the format stands in the template's text, which may end turns of the past with another token than
/// replies end with. It ends with the control token that the sampled reply ends with. Or, if that is an end, with the
/// last one before another turn up to which the message is the same: one in its middle may stand there too.
std::optional<std::size_t> size_to_end_token(const ReplyStart& start, const ReplyOptions& options,
                                             const TwoWritings& both, const ReadReply& sampled,
                                             std::string_view opened) {
  constexpr int kMostTries = 8;  // a reply has few such tokens; each is read again
  const ReplyPiece& last = both.sampled.back();
  const std::span<const ReplyPiece> pieces = both.written;
  std::optional<std::size_t> found;
  std::size_t size = 0, count = 0;
  for (int tried = 0; last.control && count < pieces.size() && tried < kMostTries;) {
    const ReplyPiece& piece = pieces[count++];
    size += piece.text.size();
    const bool is_last = piece.control && piece.text == last.text;
    const bool ends_turn = piece.control && !sampled.mark().empty() && is_behind_turn(pieces.subspan(count), opened);
    if (!is_last && !ends_turn) continue;
    ++tried;
    const ReadReply written(start.format, options, pieces.subspan(0, count));
    const bool same = is_same(sampled.message(), written.message());
    if (same && is_last) return size;
    if (!same && found) break;
    if (same) found = size;
  }
  return found;
}

bool opens_by_control(const ReplyStart& start, std::string_view opened) {
  const std::string_view opening = ascii::trimmed_left(opened);
  return std::ranges::any_of(start.format.source().control, [opening](const std::string& control) {
    return !control.empty() && opening.starts_with(control);
  });
}

/// Does text stand behind so many bytes, blanks apart, and no control token?
bool has_text_behind(std::span<const ReplyPiece> pieces, std::size_t end) {
  for (const ReplyPiece& piece : pieces) {
    const std::size_t passed = std::min(end, piece.text.size());
    end -= passed;
    const std::string_view behind = std::string_view(piece.text).substr(passed);
    if (!ascii::is_blank(behind)) return !piece.control;
  }
  return false;
}

/// The sampled end stands for the template's, also where that is another one. But the template's may open what is
/// behind it, as the token of the next role does that a reply ends with, or the mark of a result within the turn: where
/// turns begin with a control token and text follows. Then nothing may stand in its place.
std::optional<std::size_t> size_with_end(const ReplyStart& start, const TwoWritings& both, const ReadReply& sampled,
                                         const ReadReply& written, std::string_view opened) {
  if (written.mark().starts_with(sampled.mark())) return written.body() + sampled.mark().size();
  const std::size_t size = written.body() + ascii::trimmed_right(written.mark()).size();
  if (opens_by_control(start, opened) && has_text_behind(both.written, size)) return std::nullopt;
  return size;
}

std::optional<std::size_t> compared(const ReplyStart& start, const TwoWritings& both) {
  const std::string_view opened = opened_before_reply(start.options.prompt, start.format.source());
  if (both.sampled.empty() || both.dropped > opened.size()) return std::nullopt;  // more is rewritten than the reply
  const ReadReply sampled(start.format, start.options, both.sampled);
  if (!sampled.is_whole(both.sampled, opened)) return std::nullopt;
  ReplyOptions options = start.options;
  options.prompt = opened.substr(0, opened.size() - both.dropped);
  const ReadReply written(start.format, options, both.written);
  if (!written.has_end()) return size_to_end_token(start, options, both, sampled, opened);
  if (!is_same(sampled.message(), written.message())) return std::nullopt;
  if (sampled.mark().empty()) return size_without_end(both, sampled, written);
  return size_with_end(start, both, sampled, written, opened);
}

}  // namespace

SameReply same_when_read(std::function<Result<ReplyStart>()> start) {
  return [start = std::move(start)](const TwoWritings& both) -> std::optional<std::size_t> {
    if (!start) return std::nullopt;
    const Result<ReplyStart> read = start();
    return read ? compared(*read, both) : std::nullopt;
  };
}

}  // namespace parlance
