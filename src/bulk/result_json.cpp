// Writing results. One member after the other; begin reading at append_rendering.
#include "json/json.h"
#include "parlance/bulk.h"

namespace parlance {
namespace {

void append_name(std::string& out, std::string_view name) { out.append("\"").append(name).append("\": "); }

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
    out.append("[").append(std::to_string(range.begin)).append(", ").append(std::to_string(range.end)).append("]");
  }
  out += ']';
}

void append_span(std::string& out, const Conversation& conversation, const Rendering& rendering, const Span& span) {
  out.append("{\"begin\": ").append(std::to_string(span.begin));
  append_number_member(out, "end", span.end);
  append_text_member(out, "origin", origin_name(span.origin));
  if (const std::string path = path_of_span(conversation, span); !path.empty()) {
    append_text_member(out, "path", path);
  }
  if (const Location place = place_of_span(rendering, span); place.line != 0) {
    append_number_member(out, "line", place.line);
    append_number_member(out, "column", place.column);
  }
  if (span.message >= 0) append_number_member(out, "message", static_cast<std::uint64_t>(span.message));
  if (span.control) out += ", \"control\": true";
  out += '}';
}

void append_spans(std::string& out, const Conversation& conversation, const Rendering& rendering) {
  out += ", \"spans\": [";
  const std::span<const Span> spans = rendering.spans();
  for (const Span& span : spans) {
    if (&span != spans.data()) out += ", ";
    append_span(out, conversation, rendering, span);
  }
  out += ']';
}

void append_notes(std::string& out, const Conversation& conversation) {
  out += ", \"notes\": [";
  for (const std::string& note : conversation.notes()) {
    if (&note != conversation.notes().data()) out += ", ";
    append_json_string(out, note);
  }
  out += ']';
}

void append_placeholders(std::string& out, std::span<const Placeholder> placeholders) {
  out += ", \"placeholders\": [";
  for (const Placeholder& one : placeholders) {
    out += &one == placeholders.data() ? "{\"begin\": " : ", {\"begin\": ";
    out += std::to_string(one.range.begin);
    append_number_member(out, "end", one.range.end);
    append_text_member(out, "type", one.type);
    append_text_member(out, "path", one.path);
    out += '}';
  }
  out += ']';
}

}  // namespace

void append_losses(std::string& out, std::span<const Loss> losses) {
  append_name(out, "losses");
  out += '[';
  for (const Loss& loss : losses) {
    out += &loss == losses.data() ? "{\"kind\": " : ", {\"kind\": ";
    append_json_string(out, name_of(loss.kind));
    append_text_member(out, "subject", loss.subject);
    append_text_member(out, "path", loss.path);
    append_text_member(out, "message", loss.sentence);
    if (!loss.hint.empty()) append_text_member(out, "hint", loss.hint);
    out += '}';
  }
  out += ']';
}

void append_rendering(std::string& out, const Conversation& conversation, const CheckedRendering& checked,
                      const RenderingMembers& members) {
  const Rendering& rendering = checked.rendering;
  append_name(out, "text");
  append_json_string(out, rendering.text());
  if (members.spans) append_spans(out, conversation, rendering);
  append_ranges(out, "generation", rendering.generation());
  if (members.assistant) append_ranges(out, "assistant", rendering.assistant());
  if (!members.spans) return;
  append_notes(out, conversation);
  out += ", ";
  append_losses(out, checked.losses);
  append_placeholders(out, checked.placeholders);
}

/// `line` is where the text begins that the error counts lines in: an error of JSON in line 7 of a file is in line 1 of
/// what was parsed.
void append_error(std::string& out, const Error& error, std::uint64_t line) {
  append_name(out, "error");
  out += "{\"type\": ";
  append_json_string(out, error.python_class());
  append_text_member(out, "message", error.message());
  if (const Location& where = error.where(); where.line != 0) {
    append_number_member(out, "line", where.line + line - 1);
    append_number_member(out, "column", where.column);
  }
  append_text_member(out, "code", facts(error.code()).name);
  if (!error.input_path().empty()) append_text_member(out, "path", error.input_path());
  if (!error.hint().empty()) append_text_member(out, "hint", error.hint());
  out += '}';
}

}  // namespace parlance
