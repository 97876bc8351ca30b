// What all readers say and decide alike: text of the answer, framing, and when a call is certain. Begin reading at
// Reading::commit.
#include "reply/read/reading.h"

#include "reply/marker_texts.h"

namespace parlance::reply {

void Reading::put_frame(std::string_view bytes) {
  if (call->named || (call->committed && place == Place::literal)) {
    put_markup(bytes);
  } else {
    lead += bytes;
  }
}

void Reading::put_answer(std::string_view bytes) {
  if (bytes.empty()) return;
  if (answer.region == Region::reasoning) {
    if (answer.blank_reasoning) answer.blank_reasoning = is_blank(bytes);
    return out.text(ReplyEvent::Kind::reasoning, bytes);
  }
  if (out.place() + bytes.size() <= out.origin()) return out.text(ReplyEvent::Kind::content, bytes);  // of the prompt
  if (machine->format.drops_other_text && !answer.marked) [[unlikely]]
    return put_markup(bytes);
  answer.fresh = false;
  if (!answer.answers) {
    answer.answers = !is_blank(bytes);
    answer.said = true;
  }
  begins_line = bytes.back() == '\n';
  if (answer.parted) [[unlikely]]
    put_parting();
  out.text(ReplyEvent::Kind::content, bytes);
}

/// Apart from put_answer, whose path for each piece of text it would make longer.
[[gnu::noinline]] void Reading::put_parting() {
  out.piece(ReplyEvent::Kind::content, {}, "\n");
  answer.parted = false;
}

void Reading::begin_content(Gap before) {
  place = Place::text;
  answer.region = Region::content;
  gap = before;
  if (gap != Gap::none) answer.answers = false;
  call.reset();
}

/// No tool has the name, or another form begins with the same text; JSON must begin as an object then.
bool Reading::waits() const {
  using Codec = CallArguments::Codec;
  const std::size_t part = form().arguments_part;
  if (part == Form::kNone || part != form().last_value || call->name.empty()) return false;
  switch (arguments().codec) {
    case Codec::json: return form().has_sibling || (tools().known() && !tools().declares(call->name));
    case Codec::tags: return call->silent || (call->meant && !tools().declares(call->name));
    case Codec::keywords:
    case Codec::bare:
    case Codec::code: break;
  }
  return false;
}

bool Reading::is_wanted() const {
  const CallForm& f = *form().form;
  const bool only_declared =
      f.declared_only || f.initial || call->silent || call->meant || answer.region == Region::reasoning;
  return !only_declared || !tools().known() || tools().declares(call->name);
}

/// What the prompt has of the marker is not the reply's.
void Reading::note_faulty(const ReplyMarker& marker, std::string_view source) {
  const std::size_t blanks = source.size() - trimmed_left(source).size();
  out.malformed(blanks, marker.texts.front(), ReplyEvent::Fault::mended);
}

bool Reading::commit(std::string* source) {
  if (!is_wanted()) {
    call->silent = !call->meant;
    call->refused = answer.region == Region::reasoning;
    return false;
  }
  call->named = call->committed = true;
  call->spoilt = false;
  answer.fresh = answer.marked = false;
  if (answer.region == Region::reasoning) {
    answer.region = Region::content;
    answer.unclosed = true;
  }
  out.flush();
  if (call->faulty || call->meant) note_faulty(opener_of(*form().form), lead);
  call->faulty = call->meant = false;
  out.next_call();
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::call_begin;
  event.form = form_index;
  event.source = lead;
  event.text = call->name;
  event.detail = call->id;
  event.custom = tools().is_custom(event.text);
  out.say(event);
  if (source != nullptr) *source = lead.take();
  lead.clear();
  return true;
}

}  // namespace parlance::reply
