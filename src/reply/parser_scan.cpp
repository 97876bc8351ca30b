// Arguments that a scanner of their own makes JSON of, and programs. Begin reading at read_python.
#include <utility>

#include "reply/parser.h"

namespace parlance {

using reply::Scan;
using reply::Types;

const char* ReplyParser::State::read_python(const char* p, const char* end) {
  const char* const begin = p;
  std::string json;
  const Scan scan = call_->python().run(p, end, json);
  out_.piece(Kind::arguments, {begin, p}, json);
  if (scan == Scan::bad) put_meant(call_->python().unsaid());
  end_scan(scan, call_->python().expected());
  return p;
}

const char* ReplyParser::State::read_bare(const char* p, const char* end) {
  const char* const begin = p;
  std::string json;
  const Scan scan = call_->bare().run(p, end, json);
  out_.piece(Kind::arguments, {begin, p}, json);
  if (const char* expected = call_->bare().take_mended()) out_.malformed(0, expected, Fault::mended);
  if (scan == Scan::bad) put_meant(call_->bare().unsaid());
  end_scan(scan, call_->bare().expected());
  return p;
}

void ReplyParser::State::end_scan(Scan scan, std::string_view expected) {
  if (scan == Scan::bad) return fail(expected);
  if (scan != Scan::more) end_part();
}

// ---- programs

/// What the program becomes: the form's argument, unless the tool has another one that alone may be a text.
std::string_view ReplyParser::State::code_argument() const {
  const std::string_view usual = part().arguments.argument;
  const ReplyTools::Data* data = machine_->tools.data();
  if (data == nullptr) return usual;
  const auto tool = data->tools.find(call_->name.view());
  if (tool == data->tools.end()) return usual;
  const auto& members = data->types[tool->second].members;
  if (members.contains(usual)) return usual;
  std::string_view text;
  for (const auto& [key, node] : members) {
    if ((data->types[node].types & Types::kString) == 0) continue;
    if (!text.empty()) return usual;
    text = key;
  }
  return text.empty() ? usual : text;
}

void ReplyParser::State::end_program(std::string_view source) {
  const bool closed = !source.empty() || form().form->close_optional || !form().is_literal(call_->part + std::size_t{1});
  if (!closed) out_.malformed(0, form().literal_text(call_->part + std::size_t{1}));
  if (closed) {
    out_.flush();
    out_.piece(Kind::arguments, source, "\"}");
  }
  close_call(closed);
  begin_content(source.empty() ? Gap::after : Gap::closed);
}

/// A program ends with its turn; its last bytes may close it.
void ReplyParser::State::meet_in_program(const Mark& mark, const std::string& source) {
  if (mark.meaning == reply::Meaning::part) return end_program(source);
  end_program(std::string_view(source).substr(0, mark.closed));
  Mark rest = mark;
  rest.closed = 0;
  meet(rest, source.substr(mark.closed));
}

void ReplyParser::State::finish_program() {
  if (!form().is_literal(call_->part + std::size_t{1})) return held_.empty() ? end_program({}) : settle();
  const std::string held = std::exchange(held_, {});
  cursor_ = {};
  const ReplyMarker& close = form().form->call[call_->part + std::size_t{1}].literal;
  for (const std::string& text : close.texts) {
    for (std::size_t skipped = 0; skipped <= close.before.size(); ++skipped) {
      const std::string whole = close.before.substr(skipped) + text;
      if (!held.starts_with(whole)) continue;
      end_program(whole);
      return again(held.substr(whole.size()));
    }
  }
  out_.program(held);
  if (form().form->close_optional) return end_program({});
  close_call(false);
  begin_content(Gap::after);
}

}  // namespace parlance
