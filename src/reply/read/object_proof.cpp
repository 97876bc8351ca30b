// Arguments that are an object or a program: JSON only if all of them are, to what ends the call.
//
//     <|python_tag|>{"code": "1 + 1"}<|eom_id|>      an object
//     <|python_tag|>"""Sums."""\nprint(1 + 1)        a program, from its first byte
//
// Nothing is taken back, so the call waits until that is certain: while it may be JSON, at most ReplyLimits::pending.
// What is no JSON goes to the form of programs, which begins with the same text. A marker may say which it is
// (content_type). Begin reading at begin_proof.
#include "base/inside.h"
#include "parlance/json.h"
#include "reply/read/object_reader.h"
#include "reply/read/text_reading.h"
#include "reply/tools.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::reply {

/// The value is over: an object, or a text that holds one, and of an argument that the tool has if its arguments are
/// known.
bool ObjectReader::is_expected_object() const {
  const std::string_view lead = in().lead;
  std::string text(lead.substr(arguments_from_, arguments_to_ - arguments_from_));
  if (shape_ == Shape::text) text = text_of_json(text);
  Document document;
  if (!document.parse(text) || !document.root().is(parlance::Kind::dict)) return false;
  const reply::DeclaredTools* data = inside_of(in().tools()).get();
  if (data == nullptr) return true;
  const auto tool = data->tools.find(in().call->name.view());
  if (tool == data->tools.end()) return true;
  const Types::Schema& schema = data->types[tool->second];
  if (schema.members.empty() || entries(document.root()).empty()) return true;
  for (const DictEntry& entry : entries(document.root())) {
    if (schema.members.contains(leaf_text(entry.key))) return true;
  }
  return false;
}

bool ObjectReader::begin_proof() {
  if (!is_expected_object()) return fail("an object of arguments"), false;
  at_ = At::proof;
  return true;
}

const char* ObjectReader::read_proof(const char* p, const char* end) {
  GapEnd gap = read_gap(in(), in().form().proof, p, end, is_json_space);
  if (gap.what == GapEnd::What::marker) prove(gap.held);
  if (gap.what == GapEnd::What::other) {
    fail("the end of the arguments");
    in().give_back(gap.held);
  }
  return p;
}

/// What ends the call stands behind its arguments, and is read next.
void ObjectReader::prove(const std::string& source) {
  begin_call();
  in().give_back(source);
}

/// The reply ends before anything was certain: arguments that are whole or cut off, or a program.
bool ObjectReader::finish_part() {
  if (!needs_proof() || !has_arguments_) return false;
  std::string held = in().held.take();
  if (at_ == At::proof && is_blank(held)) {
    prove(held);
  } else if (at_ != At::proof && shape_ == Shape::object) {
    const std::string cut(in().lead.view().substr(arguments_from_));
    if (begin_call()) put_arguments(cut, false);
  } else {
    fail("an object of arguments");
    in().give_back(held);
  }
  return true;
}

}  // namespace parlance::reply
