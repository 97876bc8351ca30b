// ReplyParser, and the driver of its readers. Begin reading at reply::ParserState::run.
#include "reply/read/parser.h"

#include <algorithm>
#include <utility>

#include "base/inside.h"
#include "reply/call_check.h"
#include "reply/read/compiled_format.h"

namespace parlance {

using reply::Gap;
using reply::Machine;
using reply::Region;

ReplyParser::ReplyParser() = default;
ReplyParser::ReplyParser(const CompiledReplyFormat& format, const ReplyOptions& options)
    : state_(std::make_unique<reply::ParserState>(inside_of(format).start(options))) {
  if (options.check_calls && options.tools.known())
    check_ = std::make_unique<reply::CallCheck>(state_->format(), options);
}
Result<ReplyParser> ReplyParser::make(const ReplyFormat& format, const ReplyOptions& options) {
  const Result<CompiledReplyFormat> compiled = CompiledReplyFormat::make(format);
  if (!compiled) return compiled.error();
  return ReplyParser(*compiled, options);
}
Result<ReplyParser> ReplyParser::of_conversation(const CompiledReplyFormat& format, const ReplyLimits& limits) {
  if (format.source().turns.empty())
    return Error(ErrorCode::value, "the format has no turns, so a conversation cannot be read back")
        .input("turns")
        .hint("its member `turns` says how turns begin (docs/reply-format.md)");
  ReplyParser parser;
  parser.state_ = std::make_unique<reply::ParserState>(inside_of(format).start_of_conversation(limits));
  return parser;
}
ReplyParser::ReplyParser(const ReplyParser& other)
    : state_(other.state_ ? std::make_unique<reply::ParserState>(*other.state_) : nullptr),
      check_(other.check_ ? std::make_unique<reply::CallCheck>(*other.check_) : nullptr) {}
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(const ReplyParser& other) {
  if (this != &other) *this = ReplyParser(other);
  return *this;
}
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;
ReplyParser::~ReplyParser() = default;
void ReplyParser::feed(std::string_view bytes, ReplySink sink) {
  if (!state_) return;
  if (!check_) return state_->feed(bytes, sink);
  const auto checked = [&](const ReplyEvent& event) { check_->take(event, sink); };
  state_->feed(bytes, checked);
}
void ReplyParser::feed_token(std::string_view bytes, bool control, ReplySink sink) {
  if (!state_) return;
  if (!check_) return state_->feed_token(bytes, control, sink);
  const auto checked = [&](const ReplyEvent& event) { check_->take(event, sink); };
  state_->feed_token(bytes, control, checked);
}
void ReplyParser::finish(ReplySink sink) {
  if (!state_) return;
  if (!check_) return state_->finish(sink);
  const auto checked = [&](const ReplyEvent& event) { check_->take(event, sink); };
  state_->finish(checked);
}
std::size_t ReplyParser::held() const { return state_ ? state_->held() : 0; }
std::size_t ReplyParser::memory() const { return state_ ? state_->memory() : 0; }

reply::ParserState::ParserState(const ParserState& other, const ReplyTools& tools) : ParserState(other) {
  in_.request = std::make_shared<const reply::Request>(reply::Request{in_.request->machine, tools, in_.limits()});
}

reply::ParserState::ParserState(std::shared_ptr<const reply::Request> request, bool conversation)
    : in_(std::move(request), conversation) {
  if (in_.machine->assistant_turn != Machine::kNone)
    header_.turn = static_cast<std::uint8_t>(in_.machine->assistant_turn);
  if (conversation) in_.answer.region = Region::plain;
}

// ---- what stands before the reply

/// What the prompt leaves open goes on in the reply: reasoning, a marker's beginning, a header, a call.
void reply::ParserState::begin(std::string_view prompt, bool in_reasoning, bool calls) {
  in_.calls_in_reasoning = calls;
  reply::Carried carried;
  const auto take = [&carried](const ReplyEvent& event) {
    if (event.kind == Kind::call_begin)
      carried = {std::string(event.text), std::string(event.detail), {}, event.form, true};
    if (event.kind == Kind::arguments) carried.arguments += event.text;
    if (event.kind == Kind::call_end) carried.open = false;
  };
  const ReplySink note = take;
  in_.in_prompt = true;
  feed(prompt, note);
  in_.in_prompt = false;
  in_.out.open(note);
  if (in_reasoning && !(in_.place == Place::text && in_.answer.region == Region::reasoning)) {
    begin_in_reasoning();
    carried.open = false;
  }
  if (in_.place == Place::text && reply::is_blank(in_.held.bytes)) in_.out.drop(in_.held.take().size());
  in_.out.begin_reply(in_.lead.size() + in_.held.bytes.size() + in_.held_value());
  in_.out.close();
  if (in_.place == Place::text && in_.answer.region == Region::content && in_.held.bytes.empty()) in_.gap = Gap::start;
  in_.answer.fresh = true;
  in_.answer.answers = in_.answer.said = in_.answer.parted = false;
  if (carried.open) in_.rare.make().carried.make(std::move(carried));
}

/// As if the marker that opens it had been the prompt's last.
void reply::ParserState::begin_in_reasoning() {
  in_.out.flush();
  in_.out.drop(in_.lead.size() + in_.held.bytes.size() + in_.held_value());
  in_.lead.clear();
  in_.held.take();
  in_.begin_content(Gap::none);
  in_.answer.region = Region::reasoning;
  in_.answer.blank_reasoning = true;
  in_.absorb = in_.machine->format.reasoning_open.after;
}

/// A call that the prompt began is a call of the reply; what was said of it there has no source here.
void reply::ParserState::say_carried() {
  if (!in_.rare || !in_.rare->carried) return;
  const reply::Carried carried = std::move(*in_.rare->carried);
  in_.rare->carried.reset();
  in_.out.next_call();
  ReplyEvent event;
  event.kind = Kind::call_begin;
  event.form = carried.form;
  event.text = carried.name;
  event.detail = carried.id;
  event.custom = in_.tools().is_custom(carried.name);
  in_.out.say(event);
  in_.put_meant(carried.arguments);
}

// ---- the reply

void reply::ParserState::feed(std::string_view bytes, const ReplySink& sink) {
  if (bytes.empty()) return;
  in_.out.open(sink);
  if (!put_plain(bytes)) feed_marked(bytes);
  in_.out.close();
}

/// Puts text up to where a marker stands, or something else that changes how it is read: most pieces of most replies
/// are such text. What may become a marker is held. False where something remains, which `bytes` is then.
inline bool reply::ParserState::put_plain(std::string_view& bytes) {
  if (in_.place != Place::text || in_.gap != Gap::none || !in_.absorb.empty()) return false;
  if (in_.rare && !in_.rare->is_idle()) return false;
  if (!in_.held.bytes.empty()) return put_behind_held(bytes);
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* const stop = in_.text_markers().skip_plain(begin, end);
  if (stop != end) return put_up_to(find_stop(stop, end), bytes);
  in_.put_answer(bytes);
  return true;
}

/// What is held goes on, or it was text: then it leaves with what follows, in one event.
bool reply::ParserState::put_behind_held(std::string_view bytes) {
  char room[64];
  std::string& held = in_.held.bytes;
  if (held.size() + bytes.size() > sizeof room || in_.out.place() < in_.out.origin()) return false;
  const char* const end = std::copy(bytes.begin(), bytes.end(), std::copy(held.begin(), held.end(), room));
  const Stop stop = find_stop(room, end);
  if (stop.p != end && stop.at.node == reply::MarkerTrie::kRoot) return false;
  in_.held.clear();
  std::string_view joined(room, end);
  return put_up_to(stop, joined);
}

bool reply::ParserState::put_up_to(const Stop& stop, std::string_view& bytes) {
  const auto plain = static_cast<std::size_t>(stop.p - bytes.data());
  if (stop.at.node != reply::MarkerTrie::kRoot) {
    in_.held.bytes.assign(bytes.substr(plain));
    in_.held.cursor = stop.at;
  }
  in_.put_answer(bytes.substr(0, plain));
  bytes.remove_prefix(plain);
  return bytes.empty() || stop.at.node != reply::MarkerTrie::kRoot;
}

/// The end; or where a marker begins that may go on behind the end: `at` is its place then; or where a marker stands,
/// or what may be the end of the reply.
reply::ParserState::Stop reply::ParserState::find_stop(const char* p, const char* end) const {
  const reply::MarkerTrie& markers = in_.text_markers();
  const Machine& machine = *in_.machine;
  const std::vector<std::string>& last = machine.format.last;
  for (; (p = markers.skip_plain(p, end)) != end; ++p) {
    if (markers.is_held(*p) && machine.last.is_beginning(last, {p, end})) return {p, {}};
    reply::MarkerTrie::Cursor at = markers.begin(*p);
    if (at.node == reply::MarkerTrie::kRoot) continue;
    if (markers.has_mark(at)) return {p, {}};
    const char* const next = markers.follow(at, p + 1, end);
    if (next == end) return {p, machine.last.size_of_beginning(last, {p, end}) == 0 ? at : reply::MarkerTrie::Cursor()};
    if (markers.step(at, *next)) return {p, {}};
  }
  return {end, {}};
}

void reply::ParserState::feed_marked(std::string_view bytes) {
  if (in_.rare && in_.rare->carried) say_carried();
  if (held_last() != 0 || in_.machine->last.may_begin_in(bytes)) bytes = hold_last(bytes);
  run(bytes.data(), bytes.data() + bytes.size());
}

/// Controls are noted by place, until what they are part of has left.
void reply::ParserState::feed_token(std::string_view bytes, bool control, const ReplySink& sink) {
  in_.tokens = true;
  if (!in_.rare) in_.rare.make();
  std::erase_if(in_.rare->controls, [this](const reply::Control& one) { return one.to <= in_.out.place(); });
  const std::uint64_t from = in_.here() + in_.held.bytes.size() + held_last();
  if (control) in_.rare->controls.push_back({from, from + bytes.size()});
  if (control && ends_open_call(bytes, from)) cut_off_call(sink);
  feed(bytes, sink);
}

/// Whether a control token ends the turn inside of a part of a call, where its bytes would be read as text: of a string
/// that is open, say. Where it may close a program, that program's reader knows better.
bool reply::ParserState::ends_open_call(std::string_view control, std::uint64_t at) const {
  if (in_.place != Place::part) return false;
  if (in_.form().has_program && in_.has_literal_behind() && in_.literal_behind().starts_with(control)) return false;
  const reply::Found found = in_.match(in_.machine->turns, control, at);
  return found.size == control.size() && found.mark.meaning == reply::Meaning::end;
}

/// What is open of a call is all there is of it; text follows.
void reply::ParserState::cut_off_call(const ReplySink& sink) {
  in_.out.open(sink);
  if (in_.rare && in_.rare->carried) say_carried();
  const std::string last = std::exchange(in_.rare->last, {});  // it ends nothing, as something follows
  run(last.data(), last.data() + last.size());
  while (in_.place >= Place::literal && in_.place <= Place::part) {
    reply::CallReader(in_).finish();
    take_handed();
  }
  in_.out.close();
}

void reply::ParserState::finish(const ReplySink& sink) {
  if (in_.finished) return;
  in_.finished = true;
  in_.out.open(sink);
  say_carried();
  const std::string last = take_last();
  while (finish_place(!last.empty())) take_handed();
  in_.out.flush();
  in_.place = Place::done;
  if (!last.empty()) outside().say_end(last);
  in_.out.close();
}

/// What is held cannot go on; it may still be a marker with something behind it. False when nothing is left.
bool reply::ParserState::finish_place(bool is_ended) {
  switch (in_.place) {
    case Place::text:
    case Place::header:
    case Place::opening: return outside().finish(is_ended);
    case Place::broken: return reply::CallReader(in_).settle_broken();
    case Place::done: return false;
    default: return reply::CallReader(in_).finish(), true;
  }
}

std::size_t reply::ParserState::held() const {
  const std::size_t size = in_.lead.size() + in_.held.bytes.size() + in_.held_value() + in_.out.held();
  return in_.out.in_reply(size) + held_last();
}

std::size_t reply::ParserState::memory() const { return sizeof(reply::ParserState) + in_.call.memory(); }

void reply::ParserState::run(const char* p, const char* end) {
  while (p != end) {
    p = read(p, end);
    if (in_.handing) take_handed();
  }
}

/// Markers that ended a call, and bytes that were given back, come before all that follows.
void reply::ParserState::take_handed() {
  if (!in_.handing) return;
  in_.handing = false;
  reply::Handed& handed = *in_.handed;
  std::string back = std::exchange(handed.back, {});
  if (handed.met) {
    reply::Met met = std::exchange(handed.met, {});
    outside().meet(met.mark, std::move(met.source));
    take_handed();
  }
  run(back.data(), back.data() + back.size());
  back.clear();
  if (handed.back.empty()) handed.back.swap(back);  // so that the next bytes find room
}

const char* reply::ParserState::read(const char* p, const char* end) {
  if (!in_.absorb.empty()) p = absorb(p, end);
  if (p == end) return p;
  switch (in_.place) {
    case Place::text:
    case Place::header:
    case Place::opening: return outside().read(p, end);
    case Place::done: in_.out.text(Kind::trailing, {p, end}); return end;
    default: return reply::CallReader(in_).read(p, end);
  }
}

/// Framing behind a marker, byte by byte as far as it is there.
const char* reply::ParserState::absorb(const char* p, const char* end) {
  const char* const begin = p;
  while (p != end && !in_.absorb.empty()) {
    if (*p == '\r' && in_.absorb.front() == '\n') {  // of a newline that has two bytes
      ++p;
      continue;
    }
    if (*p != in_.absorb.front()) {
      in_.absorb = {};
      break;
    }
    in_.absorb.remove_prefix(1);
    ++p;
  }
  in_.put_markup({begin, p});
  return p;
}

// ---- texts that end the reply only where nothing follows them (ReplyFormat::last)

/// Keeps back what may be the end of the reply, before any reader sees it, since it means the same in each place; the
/// rest may be read.
std::string_view reply::ParserState::hold_last(std::string_view bytes) {
  if (in_.conversation || in_.in_prompt) return bytes;
  const reply::LastTexts& last = in_.machine->last;
  const std::vector<std::string>& texts = in_.machine->format.last;
  if (held_last() != 0) {
    std::string& joined = in_.rare->joined;
    joined.swap(in_.rare->last);
    in_.rare->last.clear();
    if (bytes.size() < last.longest()) {
      bytes = joined.append(bytes);
    } else {  // what was kept back ends nothing
      run(joined.data(), joined.data() + joined.size());
    }
  }
  const std::size_t size = in_.place == Place::done ? 0 : last.size_of_beginning(texts, bytes);
  if (size == 0) return bytes;
  if (!in_.rare) in_.rare.make();
  in_.rare->last.assign(bytes.substr(bytes.size() - size));
  return bytes.substr(0, bytes.size() - size);
}

/// Nothing follows what was kept back: it ends the reply, or it is read as all else is. Gives what ends the reply.
std::string reply::ParserState::take_last() {
  if (held_last() == 0) return {};
  const std::string held = std::exchange(in_.rare->last, {});
  const std::vector<std::string>& texts = in_.machine->format.last;
  const std::uint64_t place = in_.here() + in_.held.bytes.size();
  const bool whole =
      std::find(texts.begin(), texts.end(), held) != texts.end() && (!in_.tokens || in_.is_fed_so(held, place));
  if (whole && in_.place != Place::done) return held;
  run(held.data(), held.data() + held.size());
  return {};
}

}  // namespace parlance
