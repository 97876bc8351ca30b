// ReplyParser, and the driver of its readers. Begin reading at ReplyParser::State::run.
#include "reply/read/parser.h"

#include <algorithm>
#include <utility>

#include "reply/call_check.h"

namespace parlance {

using reply::Gap;
using reply::Machine;
using reply::Region;

namespace {

/// How many bytes at the end of `bytes` may be the beginning of one of the texts.
std::size_t size_of_beginning(const std::vector<std::string>& texts, std::string_view bytes) {
  std::size_t most = 0;
  for (const std::string& text : texts) {
    for (std::size_t size = std::min(text.size(), bytes.size()); size > most; --size) {
      if (bytes[bytes.size() - size] != text.front() || !bytes.ends_with(std::string_view(text).substr(0, size)))
        continue;
      most = size;
      break;
    }
  }
  return most;
}

}  // namespace

ReplyParser::ReplyParser() = default;
Result<ReplyParser> ReplyParser::make(const ReplyFormat& format, const ReplyOptions& options) {
  if (Result<void> valid = format.validate(); !valid) return valid.error();
  ReplyParser parser;
  parser.start(format, options);
  return parser;
}
ReplyParser::ReplyParser(const ReplyFormat& format, const ReplyOptions& options) {
  start(format.validate() ? format : ReplyFormat(), options);
}
void ReplyParser::start(const ReplyFormat& format, const ReplyOptions& options) {
  state_ = std::make_unique<State>(std::make_shared<const Machine>(format, options), false);
  state_->take_prompt(options.prompt ? *options.prompt : format.prompt);
  if (options.check_calls && options.tools.known()) check_ = std::make_unique<CallCheck>(format, options);
}
ReplyParser ReplyParser::of_conversation(const ReplyFormat& format, const ReplyLimits& limits) {
  ReplyParser parser;
  parser.state_ =
      std::make_unique<State>(std::make_shared<const Machine>(format, ReplyOptions{.limits = limits}), true);
  return parser;
}
ReplyParser::ReplyParser(const ReplyParser& other)
    : state_(other.state_ ? std::make_unique<State>(*other.state_) : nullptr),
      check_(other.check_ ? std::make_unique<CallCheck>(*other.check_) : nullptr) {}
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(const ReplyParser& other) {
  if (this != &other) *this = ReplyParser(other);
  return *this;
}
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;
ReplyParser::~ReplyParser() = default;
void ReplyParser::feed(std::string_view bytes, const ReplySink& sink) {
  if (!state_) return;
  if (!check_) return state_->feed(bytes, sink);
  state_->feed(bytes, [&](const ReplyEvent& event) { check_->take(event, sink); });
}
void ReplyParser::feed_token(std::string_view bytes, bool control, const ReplySink& sink) {
  if (!state_) return;
  if (!check_) return state_->feed_token(bytes, control, sink);
  state_->feed_token(bytes, control, [&](const ReplyEvent& event) { check_->take(event, sink); });
}
void ReplyParser::finish(const ReplySink& sink) {
  if (!state_) return;
  if (!check_) return state_->finish(sink);
  state_->finish([&](const ReplyEvent& event) { check_->take(event, sink); });
}
std::size_t ReplyParser::held() const { return state_ ? state_->held() : 0; }
std::size_t ReplyParser::memory() const { return state_ ? state_->memory() : 0; }

ReplyParser::State::State(std::shared_ptr<const Machine> machine, bool conversation)
    : in_(std::move(machine), conversation) {
  if (in_.machine->assistant_turn != Machine::kNone)
    header_.turn = static_cast<std::uint8_t>(in_.machine->assistant_turn);
  if (conversation) in_.answer.region = Region::plain;
}

// ---- what stands before the reply

/// What the prompt leaves open goes on in the reply: reasoning, a marker's beginning, a header, a call.
void ReplyParser::State::take_prompt(std::string_view prompt) {
  reply::Carried carried;
  const ReplySink note = [&carried](const ReplyEvent& event) {
    if (event.kind == Kind::call_begin)
      carried = {std::string(event.text), std::string(event.detail), {}, event.form, true};
    if (event.kind == Kind::arguments) carried.arguments += event.text;
    if (event.kind == Kind::call_end) carried.open = false;
  };
  in_.in_prompt = true;
  feed(prompt, note);
  in_.in_prompt = false;
  in_.out.open(note);
  if (in_.machine->begins_in_reasoning && !(in_.place == Place::text && in_.answer.region == Region::reasoning)) {
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
void ReplyParser::State::begin_in_reasoning() {
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
void ReplyParser::State::say_carried() {
  if (!in_.rare || !in_.rare->carried) return;
  const reply::Carried carried = std::move(*in_.rare->carried);
  in_.rare->carried.reset();
  in_.out.next_call();
  ReplyEvent event;
  event.kind = Kind::call_begin;
  event.form = carried.form;
  event.text = carried.name;
  event.detail = carried.id;
  event.custom = in_.machine->tools.is_custom(carried.name);
  in_.out.say(event);
  in_.put_meant(carried.arguments);
}

// ---- the reply

void ReplyParser::State::feed(std::string_view bytes, const ReplySink& sink) {
  if (bytes.empty()) return;
  in_.out.open(sink);
  if (in_.rare || !in_.machine->format.last.empty()) {
    feed_rare(bytes);
  } else if (in_.place != Place::text || !outside().put_plain(bytes)) {
    run(bytes.data(), bytes.data() + bytes.size());
  }
  in_.out.close();
}

/// Where a call goes on that the prompt began, and where something may be the end of the reply.
void ReplyParser::State::feed_rare(std::string_view bytes) {
  say_carried();
  std::string joined;
  bytes = hold_last(bytes, joined);
  run(bytes.data(), bytes.data() + bytes.size());
}

/// Controls are noted by place, until what they are part of has left.
void ReplyParser::State::feed_token(std::string_view bytes, bool control, const ReplySink& sink) {
  in_.tokens = true;
  if (!in_.rare) in_.rare.make();
  std::erase_if(in_.rare->controls, [this](const reply::Control& one) { return one.to <= in_.out.place(); });
  const std::uint64_t from = in_.here() + in_.held.bytes.size() + held_last();
  if (control) in_.rare->controls.push_back({from, from + bytes.size()});
  feed(bytes, sink);
}

void ReplyParser::State::finish(const ReplySink& sink) {
  if (in_.finished) return;
  in_.finished = true;
  in_.out.open(sink);
  say_carried();
  const std::string last = take_last();
  while (finish_place()) take_handed();
  in_.out.flush();
  in_.place = Place::done;
  if (!last.empty()) outside().say_end(last);
  in_.out.close();
}

/// What is held cannot go on; it may still be a marker with something behind it. False when nothing is left.
bool ReplyParser::State::finish_place() {
  switch (in_.place) {
    case Place::text:
    case Place::header:
    case Place::opening: return outside().finish();
    case Place::broken: return reply::CallReader(in_).settle_broken();
    case Place::done: return false;
    default: return reply::CallReader(in_).finish(), true;
  }
}

std::size_t ReplyParser::State::held() const {
  const std::size_t size = in_.lead.size() + in_.held.bytes.size() + in_.held_value() + in_.out.held();
  return in_.out.in_reply(size) + held_last();
}

std::size_t ReplyParser::State::memory() const {
  if (!in_.call) return sizeof(State);
  return sizeof(State) + sizeof(reply::Call) + (in_.call->reader ? in_.call->reader->size() : 0);
}

void ReplyParser::State::run(const char* p, const char* end) {
  while (p != end) {
    p = read(p, end);
    if (in_.handed) take_handed();
  }
}

/// Markers that ended a call, and bytes that were given back, come before all that follows.
void ReplyParser::State::take_handed() {
  if (!in_.handed) return;
  reply::Handed handed = std::move(*in_.handed);
  in_.handed.reset();
  if (handed.met) {
    outside().meet(handed.met.mark, std::move(handed.met.source));
    take_handed();
  }
  run(handed.back.data(), handed.back.data() + handed.back.size());
}

const char* ReplyParser::State::read(const char* p, const char* end) {
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
const char* ReplyParser::State::absorb(const char* p, const char* end) {
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
/// rest may be read. `joined` is room for what was kept before.
std::string_view ReplyParser::State::hold_last(std::string_view bytes, std::string& joined) {
  if (in_.machine->format.last.empty() || in_.conversation || in_.in_prompt) return bytes;
  if (held_last() != 0) {
    joined = std::exchange(in_.rare->last, {});
    bytes = joined.append(bytes);
  }
  if (in_.place == Place::done) return bytes;
  const std::size_t size = size_of_beginning(in_.machine->format.last, bytes);
  if (size == 0) return bytes;
  if (!in_.rare) in_.rare.make();
  in_.rare->last = bytes.substr(bytes.size() - size);
  return bytes.substr(0, bytes.size() - size);
}

/// Nothing follows what was kept back: it ends the reply, or it is read as all else is. Gives what ends the reply.
std::string ReplyParser::State::take_last() {
  if (held_last() == 0) return {};
  std::string held = std::exchange(in_.rare->last, {});
  const std::vector<std::string>& texts = in_.machine->format.last;
  const std::uint64_t place = in_.here() + in_.held.bytes.size();
  const bool whole =
      std::find(texts.begin(), texts.end(), held) != texts.end() && (!in_.tokens || in_.is_fed_so(held, place));
  if (whole && in_.place != Place::done) return held;
  run(held.data(), held.data() + held.size());
  return {};
}

}  // namespace parlance
