// When a call is certain and said, and what becomes of one at the end of the reply. Begin reading at commit.
#include <utility>

#include "reply/parser.h"

namespace parlance {

using Codec = CallArguments::Codec;

/// Whether only arguments tell that the name is one: no tool has it, or another form begins with the same text; JSON must begin
/// as an object then.
bool ReplyParser::State::waits() const {
  const std::size_t part = form().arguments_part;
  if (part == reply::Form::kNone || part != form().last_value || call_->name.empty()) return false;
  if (codec().codec == Codec::tags) return call_->silent;
  if (codec().codec != Codec::json) return false;
  return form().has_sibling || (machine_->tools.known() && !machine_->tools.declares(call_->name));
}

bool ReplyParser::State::is_wanted(std::string_view name) const {
  const CallForm& f = *form().form;
  const bool only_declared = f.declared_only || f.initial || call_->silent || region_ == Region::reasoning;
  return !only_declared || !machine_->tools.known() || machine_->tools.declares(name);
}

/// The name is known: what was held becomes the event's source. False where it may not be called.
bool ReplyParser::State::commit() {
  if (!is_wanted(call_->name)) {
    call_->silent = true;
    fail("a declared tool");
    return false;
  }
  if (call_->quoted) out_.malformed(lead_.view().find('\''), "'\"'", Fault::mended);
  const std::string lead = lead_.take();
  call_->named = call_->committed = true;
  call_->spoilt = false;
  fresh_ = false;
  if (region_ == Region::reasoning) {
    region_ = Region::content;
    unclosed_ = true;
  }
  out_.flush();
  out_.next_call();
  ReplyEvent event;
  event.kind = Kind::call_begin;
  event.form = form_;
  event.source = lead;
  event.text = call_->name;
  event.detail = call_->id;
  event.custom = machine_->tools.is_custom(event.text);
  out_.say(event);
  if (!call_->has_arguments || call_->arguments_to == 0) return true;
  const std::string_view arguments = lead;  // they stood before the name
  const std::size_t size = call_->arguments_to - call_->arguments_from;
  if (put_arguments(arguments.substr(call_->arguments_from, size), false) == size) end_arguments();
  return true;
}

/// At the end of the reply, what is held may be a marker that another one begins with.
bool ReplyParser::State::meet_shorter() {
  const bool waits = place_ == Place::literal || place_ == Place::next || place_ == Place::tag_between || place_ == Place::tag_begin;
  if (!waits || held_.size() <= blanks_) return false;
  const Found found = match(std::string_view(held_).substr(blanks_), here() + blanks_);
  if (found.size == 0) return false;
  meet_after_gap(found.mark, found.size);
  return true;
}

/// What the end of the reply cut off inside of arguments, before it was certain: it stands behind them as the model wrote it.
/// Takes it out of `held`.
void ReplyParser::State::say_cut_off(std::string& held) {
  if (held_value() != 0) return out_.text(Kind::broken, call_->tags().entity.empty() ? call_->word.view() : call_->tags().entity.view());
  const bool mended = place_ == Place::object && call_->at == Call::At::mended;
  if (place_ == Place::python || mended) return out_.piece(Kind::broken, {}, call_->python().unsaid());
  if (place_ == Place::bare) return out_.piece(Kind::broken, {}, call_->bare().unsaid());
  if (place_ != Place::object || (!call_->bare_key && !call_->bare_word)) return;
  if (!call_->bare_word || !say_bare_word(held)) out_.text(Kind::broken, held);
  held.clear();
}

void ReplyParser::State::finish_call() {
  using At = Call::At;
  if (meet_shorter()) return;
  if (place_ == Place::tag_value && !held_.empty() && settle_value(true)) return;
  const std::string held = std::exchange(held_, {});
  blanks_ = 0;
  cursor_ = {};
  if (form().has_program && !call_->committed && place_ == Place::field && begin_sibling()) return again(held);  // a word is one, too
  const bool between = place_ == Place::list || place_ == Place::next || place_ == Place::literal;
  if (call_->named || call_->ended || (call_->committed && between)) {
    std::string rest = held;
    if (call_->named && !call_->ended) say_cut_off(rest);
    if (call_->named) close_call(false);
    put_markup(lead_.take() + rest);
    return begin_content(Gap::none);
  }
  const bool in_text = place_ == Place::object && (call_->at == At::in_key || call_->at == At::value);
  const bool begun = place_ == Place::object ? call_->at != At::object_open : place_ == Place::field && !reply::is_blank(call_->word);
  const std::string lead = lead_.take();
  if (!call_->silent) out_.malformed(lead.size() + held.size(), in_text ? call_->json().scanner.expected() : "the name of a call", begun ? Fault::cut : Fault::syntax);
  place_ = call_->committed ? Place::broken : Place::text;
  gap_ = Gap::none;
  put_text(lead);
  put_text(held);
}

}  // namespace parlance
