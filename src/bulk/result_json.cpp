// Writing results. One member after the other; begin reading at append_rendering.
#include "bulk/result_json.h"

#include "bulk/dropped.h"
#include "value/json.h"

namespace parlance {
namespace {

void append_name(std::string& out, std::string_view name) {
  out.append("\"").append(name).append("\": ");
}

void append_text_member(std::string& out, std::string_view name, std::string_view text) {
  out += ", ";
  append_name(out, name);
  append_json_string(out, text);
}

void append_number_member(std::string& out, std::string_view name, std::uint64_t number) {
  out += ", ";
  append_name(out, name);
  out += std::to_string(number);
}

void append_ranges(std::string& out, std::string_view name, const std::vector<TextRange>& ranges) {
  out += ", ";
  append_name(out, name);
  out += '[';
  for (const TextRange& range : ranges) {
    if (&range != ranges.data()) out += ", ";
    out.append("[")
        .append(std::to_string(range.begin))
        .append(", ")
        .append(std::to_string(range.end))
        .append("]");
  }
  out += ']';
}

void append_span(std::string& out, const Conversation& conversation, const Rendering& rendering,
                 const Span& span, DroppedMessages& dropped) {
  out.append("{\"begin\": ").append(std::to_string(span.begin));
  append_number_member(out, "end", span.end);
  append_text_member(out, "origin", origin_name(span.origin));
  if (const std::string path = path_of_span(conversation, span); !path.empty()) {
    append_text_member(out, "path", path);
    dropped.take_path(path);
  }
  if (const Location place = place_of_span(rendering, span); place.line != 0) {
    append_number_member(out, "line", place.line);
    append_number_member(out, "column", place.column);
  }
  if (span.message >= 0)
    append_number_member(out, "message", static_cast<std::uint64_t>(span.message));
  if (span.control) out += ", \"control\": true";
  out += '}';
}

void append_spans(std::string& out, const Conversation& conversation,
                  const Rendering& rendering, DroppedMessages& dropped) {
  out += ", \"spans\": [";
  const std::span<const Span> spans = rendering.spans();
  for (const Span& span : spans) {
    if (&span != spans.data()) out += ", ";
    append_span(out, conversation, rendering, span, dropped);
  }
  out += ']';
}

void append_notes(std::string& out, const Conversation& conversation, const Rendering& rendering,
                  const std::vector<std::string>& dropped) {
  out += ", \"notes\": [";
  bool first = true;
  for (const auto* notes : {&conversation.notes(), &rendering.notes(), &dropped}) {
    for (const std::string& note : *notes) {
      if (!first) out += ", ";
      first = false;
      append_json_string(out, note);
    }
  }
  out += ']';
}

}  // namespace

void append_rendering(std::string& out, const Conversation& conversation,
                      const Rendering& rendering, const ResultParts& parts) {
  append_name(out, "text");
  append_json_string(out, rendering.text());
  DroppedMessages dropped(conversation);
  if (parts.spans) append_spans(out, conversation, rendering, dropped);
  append_ranges(out, "generation", rendering.generation());
  if (parts.assistant) append_ranges(out, "assistant", rendering.assistant());
  if (parts.spans) append_notes(out, conversation, rendering, dropped.notes());
}

void append_error(std::string& out, const Error& error, std::uint64_t input_line) {
  append_name(out, "error");
  out += "{\"type\": ";
  append_json_string(out, error.python_class());
  append_text_member(out, "message", error.message());
  if (const Location& where = error.where(); where.line != 0) {
    append_number_member(out, "line", where.line + (input_line == 0 ? 0 : input_line - 1));
    append_number_member(out, "column", where.column);
  }
  append_text_member(out, "code", facts(error.code()).name);
  if (!error.input_path().empty()) append_text_member(out, "path", error.input_path());
  if (!error.hint().empty()) append_text_member(out, "hint", error.hint());
  out += '}';
}

void append_id(std::string& out, Value id) {
  if (id.is_undefined()) return;
  append_name(out, "id");
  Arena arena;
  Limits limits;
  limits.depth = 2000;  // whatever the reader lets in
  Runtime rt(arena, limits);
  const std::size_t begin = out.size();
  if (!append_json(rt, out, id)) out.replace(begin, out.npos, "null");
  out += ", ";
}

}  // namespace parlance
