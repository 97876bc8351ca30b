// Text up to markers, and what each of those means. Begin reading at OutsideReader::read_text and meet.
#include "reply/read/outside_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "reply/marker_texts.h"

namespace parlance::reply {
namespace {

/// How much of `framing` the white space ends with.
std::size_t framing_at_end(std::string_view blanks, std::string_view framing) {
  for (std::size_t size = std::min(blanks.size(), framing.size()); size > 0; --size) {
    if (blanks.substr(blanks.size() - size) == framing.substr(framing.size() - size)) return size;
  }
  return 0;
}

/// Whether an answer that is over hardly ends so. It may end with a word, alone or with a colon (`Plan of Action:`),
/// with a fence, or with brackets and so short a text as `<`.
bool is_no_end_of_answer(std::string_view said) {
  constexpr std::size_t kCertain = 3;
  const auto is_of_word = [](char c) { return ascii::is_word(c) || static_cast<unsigned char>(c) >= 0x80; };
  const auto first = std::find_if(said.begin(), said.end(), is_of_word);
  if (said.size() < kCertain || said.front() == '`' || first == said.end()) return false;
  const auto behind = std::find_if_not(first, said.end(), is_of_word);
  return first != said.begin() ||
         !std::all_of(behind, said.end(), [](char c) { return c == ':' || ascii::is_space(c); });
}

}  // namespace

const char* OutsideReader::read(const char* p, const char* end) {
  if (in_.place == Place::header) return read_header(p, end);
  if (in_.place == Place::opening) return read_opening(p, end);
  if (in_.gap == Gap::none) return read_text(p, end);
  end_gap(read_gap(in_, markers(), p, end, [this](char c) { return is_json_space(c) || joins_calls(c); }));
  return p;
}

const MarkerTrie& OutsideReader::markers() const {
  return in_.gap == Gap::closed ? in_.machine->behind_calls : in_.text_markers();
}

const char* OutsideReader::read_text(const char* p, const char* end) {
  const Answer& answer = in_.answer;
  const auto put = [this](std::string_view bytes) { in_.put_answer(bytes); };
  const auto is_eager = [&] {
    if (answer.region == Region::reasoning) return bool{answer.blank_reasoning};
    return !answer.answers || (answer.fresh && in_.machine->has_initial);
  };
  Met met = read_to_marker(in_, markers(), p, end, put, is_eager);
  if (met) meet(met.mark, std::move(met.source));
  return p;
}

// ---- markers

void OutsideReader::meet(const Mark& mark, std::string source) {
  in_.absorb = mark.after;
  switch (mark.meaning) {
    case Meaning::reasoning_open:
      if (mark.faulty) in_.note_faulty(in_.machine->format.reasoning_open, source);
      in_.answer.opened = in_.answer.opened || !in_.in_prompt;
      in_.put_markup(source);
      in_.place = Place::text;
      in_.answer.region = Region::reasoning;
      in_.answer.marked = false;
      in_.gap = Gap::none;
      in_.answer.blank_reasoning = true;
      return;
    case Meaning::call_open:
    case Meaning::call_item: return CallReader(in_).begin(mark, source);
    case Meaning::part: return CallReader(in_).end_broken(source);
    case Meaning::turn: return meet_turn(mark, std::move(source));
    case Meaning::end: return meet_end(mark, source);
    case Meaning::surplus: return meet_surplus(mark, source);
    case Meaning::stray: return meet_stray(mark, source);
    default: return meet_closing(mark, source);
  }
}

/// What closes reasoning, content or calls, or opens content.
void OutsideReader::meet_closing(const Mark& mark, std::string_view source) {
  Answer& answer = in_.answer;
  if (mark.faulty) in_.note_faulty(in_.machine->format.content_open, source);
  const bool goes_on = answer.said && !in_.conversation;
  answer.marked = mark.meaning == Meaning::content_open;
  if (answer.marked) answer.parted = goes_on;
  if (mark.meaning == Meaning::reasoning_close) {
    answer.parted = answer.parted || (answer.unclosed && goes_on);
    answer.unclosed = false;
  }
  if (in_.place == Place::broken && in_.call && in_.call->spoilt) {  // of calls that were none
    in_.absorb = {};
    in_.place = Place::text;
    in_.put_answer(source);
    return in_.begin_content(Gap::none);
  }
  in_.put_markup(source);
  in_.begin_content(mark.meaning == Meaning::call_close ? Gap::closed : Gap::after);
}

/// A control token that calls begin with begins none. It is text, which nobody means to write.
void OutsideReader::meet_stray(const Mark& mark, std::string_view source) {
  in_.absorb = {};
  const std::size_t blanks = source.size() - trimmed_left(source).size();
  const bool in_reply = !in_.in_prompt && in_.out.place() + blanks >= in_.out.origin();
  if (in_reply) in_.out.malformed(blanks, opener_of(*in_.machine->forms[mark.index].form).texts.front());
  in_.put_answer(source);
}

/// Calls are closed already.
void OutsideReader::meet_surplus(const Mark& mark, std::string_view source) {
  const std::string_view closer = trimmed_left(source);
  in_.out.malformed(source.size() - closer.size(), "'" + std::string(closer) + "' once");
  in_.put_markup(source);
  in_.begin_content(Gap::closed);
  in_.absorb = mark.after;
}

/// In a reply, a turn of anybody else ends it.
void OutsideReader::meet_turn(const Mark& mark, std::string source) {
  in_.absorb = {};
  const ReplyTurn& turn = in_.machine->format.turns[mark.index];
  if (!in_.conversation && turn.role != "assistant") return meet_end(mark, source);
  header_.turn = static_cast<std::uint8_t>(mark.index);
  in_.gap = Gap::none;
  in_.call.reset();
  if (turn.header_close.empty()) return say_turn(source, {});
  in_.place = Place::header;
  in_.held.bytes = std::move(source);
  header_.from = static_cast<std::uint16_t>(in_.held.bytes.size());
  header_.closed = 0;
}

/// In a prompt, what ends a reply is the end of an earlier one.
void OutsideReader::meet_end(const Mark& mark, std::string_view source) {
  in_.call.reset();
  in_.absorb = {};
  if (in_.conversation || in_.in_prompt) {
    in_.put_markup(source);
    in_.place = Place::text;
    in_.answer.region = in_.conversation ? Region::plain : Region::content;
    in_.gap = Gap::none;
    return;
  }
  const bool turn = mark.meaning == Meaning::turn;
  say_end(source, turn ? std::string_view(in_.machine->format.turns[mark.index].role) : std::string_view());
  in_.place = Place::done;
}

void OutsideReader::say_end(std::string_view source, std::string_view role) {
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::end;
  event.source = source;
  event.text = role;
  in_.out.say(event);
}

// ---- white space before a marker

/// Between calls without markers, a sign may stand that separates them.
bool OutsideReader::joins_calls(char c) const {
  if (c != ';' && c != ',') return false;
  const bool behind = in_.machine->has_initial && (in_.gap == Gap::after || in_.gap == Gap::closed) && in_.answer.fresh;
  return behind && in_.answer.region == Region::content && in_.held.bytes.find_first_of(";,") == std::string::npos;
}

void OutsideReader::end_gap(GapEnd gap) {
  if (gap.what == GapEnd::What::marker) return meet_after_gap(gap);
  if (gap.what == GapEnd::What::more) return;
  in_.gap = Gap::none;
  if (!CallReader(in_).begin_initial(gap.held, gap.blanks, gap.next)) in_.give_back(gap.held);
}

/// At the start, only framing is not content where the reply ends.
void OutsideReader::meet_after_gap(const GapEnd& gap) {
  const ReplyFormat& format = in_.machine->format;
  std::string_view source = gap.held;
  if (in_.gap == Gap::start && (gap.mark.meaning == Meaning::turn || gap.mark.meaning == Meaning::end)) {
    const ReplyMarker& marker =
        gap.mark.meaning == Meaning::turn ? format.turns[gap.mark.index].open : format.end[gap.mark.index];
    const std::size_t text = gap.blanks - framing_at_end(source.substr(0, gap.blanks), marker.before);
    in_.put_answer(source.substr(0, text));
    source.remove_prefix(text);
  }
  in_.gap = Gap::none;
  meet(gap.mark, std::string(source));
}

// ---- the end of the reply

/// Whether what is held is the beginning of what opens calls, and goes on behind any marker that is whole. Behind a
/// call, that is so from the first byte on which can begin nothing else.
bool OutsideReader::is_cut_opener() const {
  const std::size_t blanks = in_.held.blanks;
  const std::string_view held = std::string_view(in_.held.bytes).substr(blanks);
  const MarkerTrie::Cursor at = in_.held.cursor;
  const bool opens = markers().leads_to(Meaning::call_open, at) || markers().leads_to(Meaning::call_item, at);
  if (in_.conversation || !opens || !in_.may_be_fed_so(held, in_.here() + blanks)) return false;
  const Found found = in_.match(markers(), held, in_.here() + blanks);
  const bool is_less = found.size == 0 || found.mark.is_weak() || found.mark.meaning == Meaning::call_open ||
                       found.mark.meaning == Meaning::call_item;
  if (!is_less || is_blank(held.substr(found.size))) return false;
  const std::uint64_t begin = in_.here() + blanks;
  const std::string_view said = trimmed(held.substr(begin < in_.out.origin() ? in_.out.origin() - begin : 0));
  if (is_no_end_of_answer(said)) return true;
  if (in_.gap != Gap::after && in_.gap != Gap::closed) return false;
  constexpr std::array kClosing = {Meaning::call_close, Meaning::surplus, Meaning::end};
  const bool may_end =
      std::any_of(kClosing.begin(), kClosing.end(), [&](Meaning one) { return markers().leads_to(one, at); });
  return !may_end && said.front() != '`' && !std::all_of(said.begin(), said.end(), ascii::is_word);
}

void OutsideReader::put_cut_opener() {
  const std::size_t blanks = in_.held.blanks;
  const std::string held = in_.held.take();
  in_.out.malformed(held.size(), "the name of a call", ReplyEvent::Fault::cut);
  const bool is_framing = in_.gap == Gap::after || in_.gap == Gap::closed;
  in_.gap = Gap::none;
  if (is_framing) in_.put_markup(std::string_view(held).substr(0, blanks));
  in_.put_answer(std::string_view(held).substr(is_framing ? blanks : 0));
}

/// `is_ended`: what ends a reply stands behind it, so that nothing was cut off.
bool OutsideReader::finish(bool is_ended) {
  if (in_.place != Place::text) return finish_header();
  if (in_.held.bytes.empty()) return false;
  if (!is_ended && is_cut_opener()) return put_cut_opener(), true;
  if (in_.held.blanks != 0) return finish_gap();
  Met met = settle_marker(in_, markers(), [this](std::string_view bytes) { in_.put_answer(bytes); });
  if (met) meet(met.mark, std::move(met.source));
  return true;
}

bool OutsideReader::finish_gap() {
  const std::size_t blanks = in_.held.blanks;
  if (in_.gap == Gap::closed) {  // only there a closer is one
    const Found found = in_.match(markers(), std::string_view(in_.held.bytes).substr(blanks), in_.here() + blanks);
    if (found.size != 0) return end_gap(end_of_gap(in_, markers(), '\0')), true;
  }
  const std::string held = in_.held.take();
  const std::string_view white = std::string_view(held).substr(0, blanks);
  in_.give_back(std::string_view(held).substr(blanks));
  if (std::exchange(in_.gap, Gap::none) == Gap::start) {
    in_.put_answer(white);
  } else {
    in_.put_markup(white);
  }
  return true;
}

}  // namespace parlance::reply
