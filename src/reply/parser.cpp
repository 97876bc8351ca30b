// Text of a reply, and the markers between its parts. Begin reading at ReplyParser::State::run.
#include "reply/parser.h"

#include <algorithm>
#include <utility>

namespace parlance {

using reply::is_json_space;
using reply::MarkerTrie;
using reply::Meaning;

namespace {

bool is_blank(std::string_view text) {
  for (const char c : text) {
    if (!is_json_space(c)) return false;
  }
  return true;
}

}  // namespace

// ---- the door

ReplyParser::ReplyParser() = default;
ReplyParser::ReplyParser(const ReplyFormat& format, const ReplyOptions& options)
    : state_(std::make_unique<State>(std::make_shared<const reply::Machine>(format, options.limits), false)) {
  state_->take_prompt(options.prompt ? *options.prompt : format.prompt);
}
ReplyParser ReplyParser::of_conversation(const ReplyFormat& format, const ReplyLimits& limits) {
  ReplyParser parser;
  parser.state_ = std::make_unique<State>(std::make_shared<const reply::Machine>(format, limits), true);
  return parser;
}
ReplyParser::ReplyParser(const ReplyParser& other) : state_(std::make_unique<State>(*other.state_)) {}
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(const ReplyParser& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;
ReplyParser::~ReplyParser() = default;
void ReplyParser::feed(std::string_view bytes, const ReplySink& sink) { state_->feed(bytes, sink); }
void ReplyParser::finish(const ReplySink& sink) { state_->finish(sink); }
std::size_t ReplyParser::held() const { return state_->held(); }

ReplyParser::State::State(std::shared_ptr<const reply::Machine> machine, bool conversation)
    : machine_(std::move(machine)), conversation_(conversation) {
  turn_ = machine_->assistant_turn;
  if (conversation_) region_ = Region::plain;
}

void ReplyParser::State::take_prompt(std::string_view prompt) {
  const ReplySink nobody = [](const ReplyEvent&) {};
  feed(prompt, nobody);
  const bool text = place_ == Place::text && held_.find_first_not_of(" \t\r\n") == std::string::npos;
  const std::size_t kept = text ? 0 : held_.size();
  if (text) {
    held_.clear();
    blanks_ = 0;
    node_ = reply::MarkerTrie::kRoot;
    if (region_ == Region::content) gap_ = Gap::start;
  }
  out_.begin_reply(kept);
}

void ReplyParser::State::feed(std::string_view bytes, const ReplySink& sink) {
  out_.open(sink);
  run(bytes.data(), bytes.data() + bytes.size());
  out_.close();
}

void ReplyParser::State::finish(const ReplySink& sink) {
  if (finished_) return;
  finished_ = true;
  out_.open(sink);
  switch (place_) {
    case Place::header:
    case Place::opening: finish_header(); break;
    case Place::object: finish_object(); break;
    case Place::program: finish_program(); break;
    case Place::python: out_.end_call(false, call_.id); break;
    default: break;
  }
  finish_text();
  out_.flush();
  place_ = Place::done;
  out_.close();
}

void ReplyParser::State::run(const char* p, const char* end) {
  while (p != end) p = read(p, end);
}

const char* ReplyParser::State::read(const char* p, const char* end) {
  switch (place_) {
    case Place::header: return read_header(p, end);
    case Place::opening: return read_opening(p, end);
    case Place::object: return read_object(p, end);
    case Place::python: return read_python(p, end);
    case Place::tail: return read_gap(p, end);
    case Place::done: out_.text(Kind::trailing, {p, end}); return end;
    case Place::text:
      if (!absorb_.empty()) p = absorb(p, end);
      if (p == end) return p;
      return gap_ == Gap::none ? read_text(p, end) : read_gap(p, end);
    default: return read_text(p, end);  // programs and broken calls are text with markers of their own
  }
}

// ---- text

const MarkerTrie& ReplyParser::State::trie() const {
  switch (place_) {
    case Place::program: return machine_->forms[form_].code;
    case Place::broken: return machine_->forms[form_].broken;
    case Place::tail: return machine_->forms[form_].close;
    case Place::opening: return machine_->forms[form_].open;
    default: break;
  }
  return region_ == Region::content ? machine_->content : region_ == Region::reasoning ? machine_->reasoning : machine_->turns;
}

void ReplyParser::State::put_text(std::string_view bytes) {
  if (bytes.empty()) return;
  if (place_ == Place::program) return out_.program(bytes);
  if (place_ == Place::broken) return out_.text(Kind::broken, bytes);
  if (region_ == Region::reasoning && blank_reasoning_) blank_reasoning_ = is_blank(bytes);
  out_.text(region_ == Region::reasoning ? Kind::reasoning : Kind::content, bytes);
}

/// Framing behind a marker, byte by byte as far as it is there.
const char* ReplyParser::State::absorb(const char* p, const char* end) {
  const char* const begin = p;
  while (p != end && !absorb_.empty()) {
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

/// A marker that opens reasoning is text inside it, but for one that repeats what the prompt has opened.
bool ReplyParser::State::counts(const Mark& mark) const {
  return mark.meaning != Meaning::reasoning_open || region_ != Region::reasoning || blank_reasoning_;
}

/// The longest marker that `bytes` begin with.
ReplyParser::State::Found ReplyParser::State::match(std::string_view bytes) const {
  const MarkerTrie& markers = trie();
  Found found;
  MarkerTrie::Node node = MarkerTrie::kRoot;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    node = markers.step(node, bytes[i]);
    if (node == MarkerTrie::kRoot) return found;
    if (markers.has_mark(node) && counts(markers.mark(node))) {
      found.size = i + 1;
      found.mark = markers.mark(node);
    }
    if (markers.is_leaf(node)) return found;
  }
  found.more = true;
  return found;
}

const char* ReplyParser::State::read_text(const char* p, const char* end) {
  if (!held_.empty()) return match_on(p, end);
  const MarkerTrie& markers = trie();
  const char* begin = p;
  while ((p = markers.skip(p, end)) != end) {
    if (blank_reasoning_) put_text({std::exchange(begin, p), p});  // what a marker means may depend on it
    const Found found = match({p, end});
    if (found.more) {
      put_text({begin, p});
      for (const char* q = p; q != end; ++q) node_ = markers.step(node_, *q);
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
    const MarkerTrie::Node next = markers.step(node_, *p);
    if (next == MarkerTrie::kRoot) {
      settle();
      return p;
    }
    held_ += *p++;
    node_ = next;
    if (markers.is_leaf(next)) {
      settle();
      return p;
    }
  }
  return p;
}

/// What is held cannot grow: it begins with a marker, or its first byte is text.
void ReplyParser::State::settle() {
  const std::string held = std::move(held_);
  held_.clear();
  node_ = MarkerTrie::kRoot;
  const Found found = match(held);
  if (found.size == 0) {
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
}

void ReplyParser::State::meet(const Mark& mark, std::string source) {
  if (place_ == Place::program) return meet_in_program(mark, source);
  absorb_ = mark.after;
  switch (mark.meaning) {
    case Meaning::reasoning_open:
      put_markup(source);
      place_ = Place::text;
      region_ = Region::reasoning;
      gap_ = Gap::none;
      blank_reasoning_ = true;
      return;
    case Meaning::call_open: return begin_object(mark, std::move(source));
    case Meaning::turn: return meet_turn(mark, std::move(source));
    case Meaning::end: return meet_end(mark, source);
    default: break;  // the end of reasoning or of a call
  }
  put_markup(source);
  begin_content(Gap::after);
}

/// In a reply, a turn of anybody else ends it.
void ReplyParser::State::meet_turn(const Mark& mark, std::string source) {
  absorb_ = {};
  const ReplyTurn& turn = machine_->format.turns[mark.index];
  if (!conversation_ && turn.role != "assistant") return meet_end(mark, source);
  turn_ = mark.index;
  gap_ = Gap::none;
  if (turn.header_close.empty()) return say_turn(source, {});
  place_ = Place::header;
  held_ = std::move(source);
  header_from_ = held_.size();
  close_seen_ = 0;
}

void ReplyParser::State::meet_end(const Mark& mark, std::string_view source) {
  if (conversation_) {
    put_markup(source);
    place_ = Place::text;
    region_ = Region::plain;
    gap_ = Gap::none;
    return;
  }
  ReplyEvent event;
  event.kind = Kind::end;
  event.source = source;
  if (mark.meaning == Meaning::turn) event.text = machine_->format.turns[mark.index].role;
  out_.say(event);
  absorb_ = {};
  place_ = Place::done;
}

}  // namespace parlance
