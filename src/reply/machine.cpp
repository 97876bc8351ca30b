// Making the tries of a Machine. Begin reading at the constructor.
#include "reply/machine.h"

#include <utility>

#include "reply/json_scanner.h"

namespace parlance::reply {
namespace {

/// Every way to write `marker`, after `lead`.
void add(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index, std::string_view lead = {}) {
  const Mark mark{meaning, static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(lead.size()), marker.after};
  for (const std::string& text : marker.texts) {
    for (std::size_t skipped = 0; skipped <= marker.before.size(); ++skipped) {
      trie.add(std::string(lead) + marker.before.substr(skipped) + text, mark);
    }
  }
}

void add_ends(MarkerTrie& trie, const ReplyFormat& format, std::string_view lead = {}) {
  for (std::size_t i = 0; i < format.turns.size(); ++i) add(trie, format.turns[i].open, Meaning::turn, i, lead);
  for (std::size_t i = 0; i < format.end.size(); ++i) add(trie, format.end[i], Meaning::end, i, lead);
}

void add_calls(MarkerTrie& trie, const std::vector<ShapedForm>& forms) {
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!forms[i].headed) add(trie, forms[i].open, Meaning::call_open, i);
  }
}

std::string_view without_leading_space(std::string_view text) {
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  return text;
}

FormTries tries_of(const ReplyFormat& format, const std::vector<ShapedForm>& forms, std::size_t index) {
  const ShapedForm& form = forms[index];
  FormTries tries;
  add(tries.open, form.open, Meaning::call_open, index);
  const Mark closes{Meaning::call_close, static_cast<std::uint16_t>(index), 0, form.close.after};
  for (const std::string& text : form.close.texts) {
    tries.close.add(without_leading_space(text), closes);
    add_ends(tries.code, format, form.close.before + text);
  }
  add_ends(tries.code, format);
  add(tries.broken, form.close, Meaning::call_close, index);
  add_calls(tries.broken, forms);
  add_ends(tries.broken, format);
  return tries;
}

}  // namespace

ShapedForm::ShapedForm(const CallForm& form)
    : open(form.open), close(form.close), layout(form.layout), commas_optional(form.commas_optional), headed(form.headed), header(form.header) {
  for (const CallPart& part : form.call) {
    if (part.kind == CallPart::Kind::literal) (&part == &form.call.front() ? open : close) = part.literal;
    if (part.kind == CallPart::Kind::arguments) {
      arguments = part.arguments.codec;
      callee = part.arguments.callee;
      code_argument = part.arguments.argument;
    }
    if (part.arguments.codec == CallArguments::Codec::code) open.texts.front() += std::exchange(open.after, {});
    for (const CallMember& member : part.members) {
      if (member.role == CallMember::Role::name) name_members.push_back(member.key);
      if (member.role == CallMember::Role::arguments) argument_members.push_back(member.key);
      if (member.role == CallMember::Role::id) id_members.push_back(member.key);
    }
  }
}

Machine::Machine(const ReplyFormat& given, const ReplyLimits& given_limits) : format(given), limits(given_limits) {
  for (std::size_t i = 0; i < format.turns.size() && assistant_turn == kNone; ++i) {
    if (format.turns[i].role == "assistant") assistant_turn = i;
  }
  add(content, format.reasoning_open, Meaning::reasoning_open, 0);
  for (MarkerTrie* trie : {&content, &reasoning}) add(*trie, format.reasoning_close, Meaning::reasoning_close, 0);
  add(reasoning, format.reasoning_open, Meaning::reasoning_open, 0);
  for (const CallForm& form : format.calls) shaped.emplace_back(form);
  add_calls(content, shaped);
  if (format.calls_end_reasoning) add_calls(reasoning, shaped);
  for (MarkerTrie* trie : {&content, &reasoning, &turns}) add_ends(*trie, format);
  for (std::size_t i = 0; i < format.calls.size(); ++i) forms.push_back(tries_of(format, shaped, i));
}

std::size_t Machine::form_of_header(std::string_view header) const {
  std::size_t any = kNone;
  for (std::size_t i = 0; i < format.calls.size(); ++i) {
    const CallForm& form = format.calls[i];
    if (!form.headed) continue;
    if (form.header == header) return i;
    if (form.header.empty() && any == kNone) any = i;
  }
  return header.empty() ? kNone : any;
}

}  // namespace parlance::reply
