// Calls whose name stood in a header: Python calls and programs; and what follows any call. Begin reading at begin_form.
#include <utility>

#include "reply/parser.h"
#include "value/json.h"

namespace parlance {

using reply::Scan;

/// Header and marker are there: the call begins.
void ReplyParser::State::begin_form() {
  const std::string name = held_.substr(header_from_, header_to_ - header_from_);
  header_from_ = 0;
  region_ = Region::content;
  absorb_ = {};
  call_ = Call();
  call_.scanner = reply::JsonScanner(machine_->limits.depth);
  call_.inner = call_.scanner;
  call_.committed = true;
  name_call(name);
  switch (form().arguments) {
    case CallArguments::Codec::keywords:
      python_.emplace(form().callee, machine_->limits.depth, machine_->limits.pending);
      place_ = Place::python;
      break;
    case CallArguments::Codec::code: {
      std::string open = "{";
      append_json_string(open, form().code_argument);
      place_ = Place::program;
      out_.piece(Kind::arguments, {}, open.append(": \""));
      break;
    }
    default:
      call_.at = Call::At::arguments_only;
      call_.role = Call::Role::arguments;
      place_ = Place::object;
      break;
  }
}

const char* ReplyParser::State::read_python(const char* p, const char* end) {
  const char* const begin = p;
  Scan scan = Scan::more;
  while (p != end && scan == Scan::more) {
    scan = python_->feed(*p);
    if (scan != Scan::bad) ++p;
  }
  std::string json;
  python_->take(json);
  out_.piece(Kind::arguments, {begin, p}, json);
  if (scan == Scan::more) return p;
  if (scan == Scan::bad) {
    fail(python_->expected());
  } else {
    out_.end_call(true, call_.id);
    begin_tail();
  }
  if (place_ != Place::python) python_.reset();
  return p;
}

/// Behind a call: white space and what closes it.
void ReplyParser::State::begin_tail() {
  node_ = reply::MarkerTrie::kRoot;
  blanks_ = 0;
  if (form().close.exists()) {
    place_ = Place::tail;
  } else {
    begin_content(Gap::after);
  }
}

// ---- programs

void ReplyParser::State::end_program(std::string_view source) {
  const bool closed = !source.empty() || !form().close.exists();
  if (!closed) out_.malformed(0, form().close.texts.front());
  if (closed) {
    out_.flush();
    out_.piece(Kind::arguments, source, "\"}");
  }
  out_.end_call(closed, call_.id);
  begin_content(Gap::after);
}

/// A program ends with its turn; its last bytes may close it.
void ReplyParser::State::meet_in_program(const Mark& mark, const std::string& source) {
  end_program(std::string_view(source).substr(0, mark.closed));
  Mark rest = mark;
  rest.closed = 0;
  meet(rest, source.substr(mark.closed));
}

void ReplyParser::State::finish_program() {
  std::string held = std::exchange(held_, {});
  node_ = reply::MarkerTrie::kRoot;
  for (const std::string& text : form().close.texts) {
    const std::string close = form().close.before + text;
    if (!held.starts_with(close)) continue;
    end_program(close);
    held_.clear();
    return again(held.substr(close.size()));
  }
  out_.program(held);
  out_.flush();
  out_.end_call(false, call_.id);
  begin_content(Gap::after);
}

}  // namespace parlance
