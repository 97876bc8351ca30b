#include "growing.h"

#include <algorithm>

#include "value/object.h"

namespace parlance::testing {
namespace {

std::string text_of(const PromptPieces& pieces) {
  std::string text;
  for (const Piece& piece : pieces.pieces()) text.append(piece.data, piece.size);
  return text;
}

/// The end of a prompt with its spans, as one text.
std::string end_of(PromptPieces& pieces, std::size_t from, const Conversation& chat) {
  const Result<PromptEnd> end = pieces.end_from(from);
  if (!end) return end.error().display();
  std::string all(end->text_from(from));
  for (const Span& span : end->rendering->spans()) {
    if (end->begin + span.begin < from) continue;
    all += "\n" + std::to_string(end->begin + span.begin) + " " + std::to_string(end->begin + span.end) + " " +
           std::to_string(static_cast<int>(span.origin)) + " " + path_of_span(chat, span);
  }
  return all;
}

}  // namespace

std::string Growing::compare(const Conversation& chat, std::size_t until) {
  const Result<void> done = pieces_.render(chat_template_, chat, options_, {text_, until});
  const Result<void> whole = whole_.render(chat_template_, chat, options_);
  if (done.has_value() != whole.has_value())
    return done ? "does not fail: " + whole.error().display() : "fails: " + done.error().display();
  has_failed_ = !done;
  if (!done) {
    const bool same = done.error().display() == whole.error().display();
    return same ? std::string() : done.error().display() + " instead of " + whole.error().display();
  }
  if (whole_.left_out() != 0) return "a whole render is none";
  if (text_of(pieces_) != text_of(whole_)) {
    return "the text is\n" + text_of(pieces_) + "\n=== instead of ===\n" + text_of(whole_);
  }
  if (pieces_.steps() != whole_.steps()) return "other steps";
  if (!pieces_.reaches(until)) return "left out more than it may";
  return {};
}

std::string Growing::render(const Conversation& chat) {
  const std::size_t until = text_.size() - std::min(kept, text_.size());
  if (std::string fault = compare(chat, until); !fault.empty()) return fault;
  if (has_failed_) return {};
  ++rendered_;
  const std::size_t from = std::min(until, text_of(whole_).size());
  const std::string end = end_of(pieces_, from, chat), wanted = end_of(whole_, from, chat);
  if (end != wanted) return "the end is\n" + end + "\n=== instead of ===\n" + wanted;
  left_out_ += pieces_.left_out();
  text_ = text_of(whole_);
  pieces_.accept();
  whole_.accept();  // and must leave out nothing all the same, since it is told of no known text
  return {};
}

}  // namespace parlance::testing
