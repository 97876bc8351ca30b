// Text up to a marker, wherever that is: content, reasoning, a field, a program, a value in tags, a call that went wrong.
//
// What counts as a marker, where its bytes go and what it means depends on the place. Begin reading at read_text.
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::MarkerTrie;
using reply::Meaning;

const MarkerTrie& ReplyParser::State::trie() const {
  switch (place_) {
    case Place::text: break;
    case Place::opening: return form().open;
    case Place::literal: return call_->ended && call_->part == form().form->call.size() ? form().close : form().literals[call_->part];
    case Place::next: return form().next;
    case Place::proof: return form().proof;
    case Place::field: return form().fields[call_->part];
    case Place::program: return form().code;
    case Place::tag_between: return form().tags.between;
    case Place::tag_key: return form().tags.key;
    case Place::tag_type: return form().tags.type;
    case Place::tag_begin: return form().tags.begin;
    case Place::tag_value: return call_->tags().cdata ? form().tags.cdata : form().tags.value;
    case Place::tag_key_end: return form().tags.key_end;
    default: return form().broken;
  }
  if (gap_ == Gap::closed) return machine_->behind_calls;
  return region_ == Region::content ? machine_->content : region_ == Region::reasoning ? machine_->reasoning : machine_->turns;
}

void ReplyParser::State::put_text(std::string_view bytes) {
  if (bytes.empty()) return;
  switch (place_) {
    case Place::program: return out_.program(bytes);
    case Place::broken: return put_broken(bytes);
    case Place::tag_value: return put_tag_value(bytes);
    case Place::field:
    case Place::tag_key:
    case Place::tag_type:
      call_->word += bytes;
      return put_frame(bytes);
    case Place::tag_key_end: return put_frame(bytes);
    default: break;
  }
  put_answer(bytes);
}

/// Text outside of calls.
void ReplyParser::State::put_answer(std::string_view bytes) {
  if (region_ == Region::reasoning) {
    if (blank_reasoning_) blank_reasoning_ = reply::is_blank(bytes);
    return out_.text(Kind::reasoning, bytes);
  }
  if (out_.place() + bytes.size() <= out_.origin()) return out_.text(Kind::content, bytes);  // of the prompt
  fresh_ = false;
  if (!answers_) answers_ = !reply::is_blank(bytes);
  if (parted_) out_.piece(Kind::content, {}, "\n");
  parted_ = false;
  said_ = true;
  out_.text(Kind::content, bytes);
}

/// Framing behind a marker, byte by byte as far as it is there.
const char* ReplyParser::State::absorb(const char* p, const char* end) {
  const char* const begin = p;
  while (p != end && !absorb_.empty()) {
    if (*p == '\r' && absorb_.front() == '\n') {  // of a line's end that has two bytes
      ++p;
      continue;
    }
    if (*p != absorb_.front()) {
      absorb_ = {};
      break;
    }
    absorb_.remove_prefix(1);
    ++p;
  }
  put_markup({begin, p});
  return p;
}

/// Text in which no marker begins, with nothing held before it: most pieces of most replies. False where it is not so plain.
bool ReplyParser::State::put_plain(std::string_view bytes) {
  if (place_ != Place::text || gap_ != Gap::none || !held_.empty() || !absorb_.empty()) return false;
  if (rare_ || !machine_->format.last.empty()) return false;
  const MarkerTrie& markers = trie();
  const char* const end = bytes.data() + bytes.size();
  if (markers.skip(bytes.data(), end) != end) return false;
  put_text(bytes);
  return true;
}

const char* ReplyParser::State::read_text(const char* p, const char* end) {
  if (!held_.empty()) return match_on(p, end);
  const MarkerTrie& markers = trie();
  const char* begin = p;
  while ((p = markers.skip(p, end)) != end) {
    const bool depends = region_ == Region::reasoning ? blank_reasoning_ : !answers_ || (fresh_ && machine_->has_initial);
    if (depends) put_text({std::exchange(begin, p), p});  // what a marker means may depend on it
    const Found found = match({p, end}, here() + static_cast<std::size_t>(p - begin));
    if (found.more) {
      put_text({begin, p});
      for (const char* q = p; q != end; ++q) markers.step(cursor_, *q);
      held_.assign(p, end);
      return end;
    }
    if (found.size != 0) {
      put_text({begin, p});
      meet(found.mark, std::string(p, found.size));
      return p + found.size;
    }
    ++p;
  }
  put_text({begin, end});
  return end;
}

/// Goes on with what may be a marker.
const char* ReplyParser::State::match_on(const char* p, const char* end) {
  const MarkerTrie& markers = trie();
  while (p != end) {
    if (!markers.step(cursor_, *p)) {
      settle();
      return p;
    }
    held_ += *p++;
    if (markers.is_leaf(cursor_)) {
      settle();
      return p;
    }
  }
  return p;
}

/// What is held cannot grow: it begins with a marker, or its first byte is text.
void ReplyParser::State::settle() {
  const std::string held = std::exchange(held_, {});
  cursor_ = {};
  const Found found = match(held, here());
  if (found.size == 0) {
    if (place_ == Place::field || place_ == Place::tag_key || place_ == Place::tag_type) return again(take_field_byte(held.front()) ? held.substr(1) : held);
    put_text(std::string_view(held).substr(0, 1));
    return again(held.substr(1));
  }
  meet(found.mark, held.substr(0, found.size));
  again(held.substr(found.size));
}

// ---- markers

void ReplyParser::State::begin_content(Gap gap) {
  place_ = Place::text;
  region_ = Region::content;
  gap_ = gap;
  if (gap != Gap::none) answers_ = false;
  call_.reset();
}

void ReplyParser::State::meet(const Mark& mark, std::string source) {
  switch (place_) {
    case Place::text:
    case Place::broken: return meet_outside(mark, std::move(source));
    case Place::program: return meet_in_program(mark, source);
    case Place::proof: return prove(source);
    case Place::tag_between:
    case Place::tag_key:
    case Place::tag_type:
    case Place::tag_begin:
    case Place::tag_value:
    case Place::tag_key_end: return meet_in_tags(mark, source);
    default: return meet_in_call(mark, source);
  }
}

void ReplyParser::State::meet_outside(const Mark& mark, std::string source) {
  absorb_ = mark.after;
  switch (mark.meaning) {
    case Meaning::reasoning_open:
      opened_ = opened_ || !in_prompt_;
      put_markup(source);
      place_ = Place::text;
      region_ = Region::reasoning;
      gap_ = Gap::none;
      blank_reasoning_ = true;
      return;
    case Meaning::call_open:
    case Meaning::call_item: return begin_call(mark, std::move(source));
    case Meaning::part:  // the end of a call that went wrong, in a section
      if (call_ && call_->spoilt) {
        put_answer(source);
      } else {
        put_markup(source);
      }
      return end_item();
    case Meaning::turn: return meet_turn(mark, std::move(source));
    case Meaning::end: return meet_end(mark, source);
    case Meaning::surplus: return meet_surplus(mark, source);
    case Meaning::content_open: parted_ = said_ && !conversation_; break;
    case Meaning::reasoning_close:
      parted_ = parted_ || (unclosed_ && said_ && !conversation_);
      unclosed_ = false;
      break;
    default: break;  // the end of content or calls
  }
  if (place_ == Place::broken && call_ && call_->spoilt) {  // and of calls that were none
    absorb_ = {};
    place_ = Place::text;
    put_answer(source);
    return begin_content(Gap::none);
  }
  put_markup(source);
  begin_content(mark.meaning == Meaning::call_close ? Gap::closed : Gap::after);
}

/// Calls are closed already.
void ReplyParser::State::meet_surplus(const Mark& mark, std::string_view source) {
  const std::string_view closer = reply::trimmed_left(source);
  out_.malformed(source.size() - closer.size(), "'" + std::string(closer) + "' once");
  put_markup(source);
  begin_content(Gap::closed);
  absorb_ = mark.after;
}

/// In a reply, a turn of anybody else ends it.
void ReplyParser::State::meet_turn(const Mark& mark, std::string source) {
  absorb_ = {};
  const ReplyTurn& turn = machine_->format.turns[mark.index];
  if (!conversation_ && turn.role != "assistant") return meet_end(mark, source);
  turn_ = static_cast<std::uint8_t>(mark.index);
  gap_ = Gap::none;
  call_.reset();
  if (turn.header_close.empty()) return say_turn(source, {});
  place_ = Place::header;
  held_ = std::move(source);
  header_from_ = static_cast<std::uint16_t>(held_.size());
  close_seen_ = 0;
}

/// In a prompt, what ends a reply is the end of an earlier one.
void ReplyParser::State::meet_end(const Mark& mark, std::string_view source) {
  call_.reset();
  absorb_ = {};
  if (conversation_ || in_prompt_) {
    put_markup(source);
    place_ = Place::text;
    region_ = conversation_ ? Region::plain : Region::content;
    gap_ = Gap::none;
    return;
  }
  say_end(source, mark.meaning == Meaning::turn ? std::string_view(machine_->format.turns[mark.index].role) : std::string_view());
  place_ = Place::done;
}

void ReplyParser::State::say_end(std::string_view source, std::string_view role) {
  ReplyEvent event;
  event.kind = Kind::end;
  event.source = source;
  event.text = role;
  out_.say(event);
}

}  // namespace parlance
