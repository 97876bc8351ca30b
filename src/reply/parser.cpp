// The door of the reader, and which reader a place has. Begin reading at ReplyParser::State::run.
#include "reply/parser.h"

#include <utility>

#include "reply/call_check.h"

namespace parlance {

using reply::Machine;

ReplyParser::ReplyParser() = default;
ReplyParser::ReplyParser(const ReplyFormat& format, const ReplyOptions& options)
    : state_(std::make_unique<State>(std::make_shared<const Machine>(format, options), false)) {
  state_->take_prompt(options.prompt ? *options.prompt : format.prompt);
  if (options.check_calls && options.tools.known()) check_ = std::make_unique<CallCheck>(format, options);
}
ReplyParser ReplyParser::of_conversation(const ReplyFormat& format, const ReplyLimits& limits) {
  ReplyParser parser;
  parser.state_ = std::make_unique<State>(std::make_shared<const Machine>(format, ReplyOptions{.limits = limits}), true);
  return parser;
}
ReplyParser::ReplyParser(const ReplyParser& other)
    : state_(std::make_unique<State>(*other.state_)), check_(other.check_ ? std::make_unique<CallCheck>(*other.check_) : nullptr) {}
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(const ReplyParser& other) {
  if (this != &other) *this = ReplyParser(other);
  return *this;
}
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;
ReplyParser::~ReplyParser() = default;
void ReplyParser::feed(std::string_view bytes, const ReplySink& sink) {
  if (!check_) return state_->feed(bytes, sink);
  state_->feed(bytes, [&](const ReplyEvent& event) { check_->take(event, sink); });
}
void ReplyParser::feed_token(std::string_view bytes, bool control, const ReplySink& sink) {
  if (!check_) return state_->feed_token(bytes, control, sink);
  state_->feed_token(bytes, control, [&](const ReplyEvent& event) { check_->take(event, sink); });
}
void ReplyParser::finish(const ReplySink& sink) {
  if (!check_) return state_->finish(sink);
  state_->finish([&](const ReplyEvent& event) { check_->take(event, sink); });
}
std::size_t ReplyParser::held() const { return state_->held(); }
std::size_t ReplyParser::memory() const { return state_->memory(); }

ReplyParser::State::State(std::shared_ptr<const Machine> machine, bool conversation)
    : machine_(std::move(machine)), conversation_(conversation) {
  if (machine_->assistant_turn != Machine::kNone) turn_ = static_cast<std::uint8_t>(machine_->assistant_turn);
  if (conversation_) region_ = Region::plain;
}

/// What the prompt leaves open goes on in the reply: reasoning, a marker's beginning, a header, a call.
void ReplyParser::State::take_prompt(std::string_view prompt) {
  Carried carried;
  const ReplySink note = [&carried](const ReplyEvent& event) {
    if (event.kind == Kind::call_begin) carried = {std::string(event.text), std::string(event.detail), {}, event.form, true};
    if (event.kind == Kind::arguments) carried.arguments += event.text;
    if (event.kind == Kind::call_end) carried.open = false;
  };
  in_prompt_ = true;
  feed(prompt, note);
  in_prompt_ = false;
  out_.open(note);
  if (machine_->begins_in_reasoning && !(place_ == Place::text && region_ == Region::reasoning)) {
    enter_reasoning();
    carried.open = false;
  }
  if (place_ == Place::text && reply::is_blank(held_)) {
    out_.drop(held_.size());
    held_.clear();
    blanks_ = 0;
    cursor_ = {};
  }
  out_.begin_reply(lead_.size() + held_.size() + held_value());
  out_.close();
  if (place_ == Place::text && region_ == Region::content && held_.empty()) gap_ = Gap::start;
  fresh_ = true;
  answers_ = said_ = parted_ = false;
  if (carried.open) rare_.make(Rare{{}, std::move(carried)});
}

/// As if the marker that opens it had been the prompt's last.
void ReplyParser::State::enter_reasoning() {
  out_.flush();
  out_.drop(lead_.size() + held_.size() + held_value());
  lead_.clear();
  held_.clear();
  blanks_ = 0;
  cursor_ = {};
  begin_content(Gap::none);
  region_ = Region::reasoning;
  blank_reasoning_ = true;
  absorb_ = machine_->format.reasoning_open.after;
}

/// A call that the prompt began is a call of the reply; what was said of it there has no source here.
void ReplyParser::State::say_carried() {
  const Carried carried = std::exchange(rare_->carried, {});
  out_.next_call();
  ReplyEvent event;
  event.kind = Kind::call_begin;
  event.form = carried.form;
  event.text = carried.name;
  event.detail = carried.id;
  event.custom = machine_->tools.is_custom(carried.name);
  out_.say(event);
  out_.piece(Kind::arguments, {}, carried.arguments);
}

void ReplyParser::State::feed(std::string_view bytes, const ReplySink& sink) {
  if (bytes.empty()) return;
  out_.open(sink);
  if (!put_plain(bytes)) {
    if (rare_ && rare_->carried.open) say_carried();
    std::string joined;
    bytes = hold_last(bytes, joined);
    run(bytes.data(), bytes.data() + bytes.size());
  }
  out_.close();
}

/// Controls are noted by place, until what they are part of has left.
void ReplyParser::State::feed_token(std::string_view bytes, bool control, const ReplySink& sink) {
  tokens_ = true;
  if (!rare_) rare_.make();
  std::erase_if(rare_->controls, [this](const Control& one) { return one.to <= out_.place(); });
  const std::uint64_t from = here() + held_.size() + held_last();
  if (control) rare_->controls.push_back({from, from + bytes.size()});
  feed(bytes, sink);
}

void ReplyParser::State::finish(const ReplySink& sink) {
  if (finished_) return;
  finished_ = true;
  out_.open(sink);
  if (rare_ && rare_->carried.open) say_carried();
  const std::string last = take_last();
  while (finish_place()) {
  }
  out_.flush();
  place_ = Place::done;
  if (!last.empty()) say_end(last);
  out_.close();
}

/// What is held cannot go on; it may still be a marker with something behind it. False when nothing is left.
bool ReplyParser::State::finish_place() {
  switch (place_) {
    case Place::header:
    case Place::opening: finish_header(); return true;
    case Place::program: finish_program(); return true;
    case Place::text:
    case Place::broken: return finish_text();
    case Place::done: return false;
    default:
      if (!finish_proof()) finish_call();
      return true;
  }
}

/// Of a value in tags: what may be no string, or the beginning of an entity.
std::size_t ReplyParser::State::held_value() const {
  if (place_ != Place::tag_value || !call_->has_tags()) return 0;
  const bool text = call_->tags().value == reply::TagReader::Value::text;
  return text ? call_->tags().entity.size() : call_->word.size();
}

std::size_t ReplyParser::State::held() const {
  const std::size_t size = lead_.size() + held_.size() + held_value() + out_.held();
  return out_.in_reply(size) + held_last();
}

std::size_t ReplyParser::State::memory() const {
  std::size_t size = sizeof(State);
  if (!call_) return size;
  size += sizeof(Call);
  if (call_->codec) size += sizeof(Call::Codec);
  return size;
}

void ReplyParser::State::run(const char* p, const char* end) {
  while (p != end) p = read(p, end);
}

const char* ReplyParser::State::read(const char* p, const char* end) {
  if (!absorb_.empty()) p = absorb(p, end);
  if (p == end) return p;
  if (is_gap()) return read_gap(p, end);
  switch (place_) {
    case Place::header: return read_header(p, end);
    case Place::opening: return read_opening(p, end);
    case Place::list: return read_list(p, end);
    case Place::field:
    case Place::tag_key:
    case Place::tag_type: return read_field(p, end);
    case Place::object: return read_object(p, end);
    case Place::python: return read_python(p, end);
    case Place::bare: return read_bare(p, end);
    case Place::broken: return read_broken(p, end);
    case Place::tag_value: return read_tag_value(p, end);
    case Place::done: out_.text(Kind::trailing, {p, end}); return end;
    default: return read_text(p, end);
  }
}

}  // namespace parlance
