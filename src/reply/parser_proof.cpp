// Arguments that are an object or a program: JSON only if all of them are, to what ends the call.
//
//     <|python_tag|>{"code": "1 + 1"}<|eom_id|>      an object
//     <|python_tag|>"""Sums."""\nprint(1 + 1)        a program, from its first byte
//
// Nothing is taken back, so the call waits until that is certain: while it may be JSON, at most ReplyLimits::pending. What is
// no JSON goes to the form of programs, which begins with the same text. A marker may say which it is (content_type).
// Begin reading at begin_proof.
#include <utility>

#include "parlance/json.h"
#include "reply/parser.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {

using Part = CallPart::Kind;

namespace {

/// The last word of a header: `json` of `<|constrain|>json<|message|>`.
std::string_view last_word(std::string_view header) {
  header = header.substr(0, header.rfind('<'));
  return header.substr(header.find_last_of("> \t\n") + 1);
}

}  // namespace

/// False where the marker before the arguments says that they are of another form that begins alike.
bool ReplyParser::State::heed_content_type(std::string_view source) {
  const std::size_t next = call_->part + std::size_t{2};
  const bool behind = next < form().form->call.size() && form().form->call[next].kind == Part::arguments;
  if (!behind || !form().has_sibling || call_->named) return true;
  const std::string_view word = last_word(source);
  if (word.empty()) return true;
  call_->sure = word == form().form->content_type;
  if (call_->sure) return true;
  for (std::size_t i = form_ + std::size_t{1}; i < machine_->forms.size(); ++i) {
    const CallForm& later = *machine_->forms[i].form;
    if (later.content_type == word && later.call.front() == form().form->call.front()) return false;
  }
  return true;
}

/// The value is over: an object, or a text that holds one, and of an argument that the tool has if its arguments are known.
bool ReplyParser::State::is_expected_object() const {
  const std::string_view lead = lead_;
  std::string text(lead.substr(call_->arguments_from, call_->arguments_to - call_->arguments_from));
  if (call_->shape == Call::Shape::text) text = reply::text_of_json(text);
  Document document;
  if (!document.parse(text) || !document.root().is(parlance::Kind::dict)) return false;
  const ReplyTools::Data* data = machine_->tools.data();
  if (data == nullptr) return true;
  const auto tool = data->tools.find(call_->name.view());
  if (tool == data->tools.end()) return true;
  const reply::Types::Schema& schema = data->types[tool->second];
  if (schema.members.empty() || entries(document.root()).empty()) return true;
  for (const DictEntry& entry : entries(document.root())) {
    if (schema.members.contains(leaf_text(entry.key))) return true;
  }
  return false;
}

bool ReplyParser::State::begin_proof() {
  if (!is_expected_object()) return fail("an object of arguments"), false;
  place_ = Place::proof;
  return true;
}

/// What ends the call stands behind its arguments.
void ReplyParser::State::prove(const std::string& source) {
  commit();
  again(source);
}

/// The reply ends before anything was certain: arguments that are whole or cut off, or a program.
bool ReplyParser::State::finish_proof() {
  if (!call_ || !needs_proof() || !call_->has_arguments) return false;
  const std::string held = std::exchange(held_, {});
  blanks_ = 0;
  cursor_ = {};
  if (place_ == Place::proof && reply::is_blank(held)) {
    prove(held);
  } else if (place_ == Place::object && call_->shape == Call::Shape::object) {
    const std::string cut(lead_.view().substr(call_->arguments_from));
    if (commit()) put_arguments(cut, false);
  } else {
    fail("an object of arguments");
    again(held);
  }
  return true;
}

}  // namespace parlance
