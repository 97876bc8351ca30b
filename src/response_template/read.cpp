// A response_template as a ReplyFormat. Begin reading at read_response_template.
#include <algorithm>

#include "json/writer.h"
#include "parlance/json.h"
#include "parlance/response_template.h"
#include "response_template/call_shape.h"
#include "response_template/read_calls.h"
#include "value/dict.h"

namespace parlance {
namespace {

using response::Element;
using response::Sequence;
using response::TemplateField;
using response::TemplateFields;

class TemplateReader {
 public:
  explicit TemplateReader(const TemplateFields& fields) : fields_(fields) {}

  Result<ReadResponseTemplate> run(Value root) {
    if (!fields_.anchor.texts.empty()) out_.format.prompt = fields_.anchor.texts.front();
    if (fields_.anchor.pattern)
      out_.notes.emplace_back("start_anchor_pattern: where a reply begins is not read from a pattern");
    for (const TemplateField& field : fields_.fields) {
      if (Result<void> taken = take(field, root); !taken) return taken.error();
    }
    for (const std::string& text : content_closers_) add_end(text);
    out_.format.drops_other_text = std::all_of(fields_.fields.begin(), fields_.fields.end(),
                                               [](const TemplateField& f) { return f.open.exists(); });
    if (Result<void> valid = out_.format.validate(); !valid) {
      const std::string of(valid.error().input_path());
      return response::cannot_say(of.starts_with("calls") ? "fields.tool_calls" : "fields",
                                  "no ReplyFormat says this: " + of + " " + std::string(valid.error().message()));
    }
    return std::move(out_);
  }

 private:
  static constexpr Element::Kind kAhead = Element::Kind::ahead;

  Result<void> take(const TemplateField& field, Value root) {
    if (field.name == "content") {
      check_join(field, field.open.exists() ? "\n" : "");
      return take_content(field);
    }
    if (!field.open.exists())
      return response::cannot_say(field.path, "has no `open`: only the field content may be what is left");
    if (field.name == "tool_calls") return take_calls(field, root);
    if (field.is_reasoning()) {
      check_join(field, "");
      return take_reasoning(field);
    }
    out_.notes.push_back(field.path + ": what a ReplyFormat has no field for is content");
    return {};
  }

  Result<void> take_content(const TemplateField& field) {
    const auto open = response::sequences_of(field.open, field.path + ".open");
    const auto close = response::sequences_of(field.close, field.path + ".close");
    if (!open) return open.error();
    if (!close) return close.error();
    if (Result<void> plain = response::check_plain(*open, {}, field.path + ".open"); !plain) return plain;
    if (Result<void> plain = response::check_plain(*close, kAhead, field.path + ".close"); !plain) return plain;
    const ReplyMarker marker = response::marker_of(*close);
    if (!field.open.exists()) {
      content_closers_ = marker.texts;
      return {};
    }
    out_.format.content_open = response::marker_of(*open);
    out_.format.content_close = marker;
    return {};
  }

  /// How the reader joins what a field has several regions of, it does not learn from a template.
  void check_join(const TemplateField& field, std::string_view ours) {
    if (!field.join || *field.join == ours) return;
    out_.notes.push_back(field.path + ".join: not used: " + (ours.empty() ? "nothing" : "a newline") +
                         " stands between two regions, not " + json_string(*field.join));
  }

  // A closer that only looks ahead consumes nothing: it means that what opens calls ends reasoning. "\Z" is the reply's
  // end, which ends everything.
  Result<void> take_reasoning(const TemplateField& field) {
    const auto open = response::sequences_of(field.open, field.path + ".open");
    const auto close = response::sequences_of(field.close, field.path + ".close");
    if (!open) return open.error();
    if (!close) return close.error();
    if (Result<void> plain = response::check_plain(*open, Element::Kind::begin, field.path + ".open"); !plain)
      return plain;
    if (Result<void> plain = response::check_plain(*close, kAhead, field.path + ".close"); !plain) return plain;
    out_.format.reasoning_open = response::marker_of(*open);
    out_.format.reasoning_close = response::marker_of(*close);
    out_.format.calls_end_reasoning = std::any_of(close->begin(), close->end(), [](const Sequence& sequence) {
      return sequence.size() == 1 && sequence.front().kind == Element::Kind::ahead && sequence.front().text != "\\Z";
    });
    if (!out_.format.reasoning_close.exists()) out_.format.reasoning_open = {};
    const bool begins = std::find(open->begin(), open->end(), Sequence{{.kind = Element::Kind::begin}}) != open->end();
    return begins ? begin_in_reasoning(field) : Result<void>();
  }

  /// Reasoning that is open where a reply begins, as a prompt says it that ends with the opening marker.
  Result<void> begin_in_reasoning(const TemplateField& field) {
    if (!out_.format.reasoning_open.exists())
      return response::cannot_say(field.path + ".open_pattern", "opens reasoning by no text, or nothing closes it");
    out_.format.prompt += out_.format.reasoning_open.texts.front();
    out_.notes.push_back(field.path + ": a reply begins in reasoning; a prompt that you give must say so by its end, " +
                         out_.format.reasoning_open.texts.front());
    return {};
  }

  Result<void> take_calls(const TemplateField& field, Value root) {
    const Value fields = find_key(*root.dict, "fields")->value;
    const DictEntry* repeats = find_key(*find_key(*fields.dict, field.name)->value.dict, "repeats");
    Result<std::vector<CallForm>> forms = response::forms_of(
        field, repeats != nullptr && repeats->value.is(Kind::boolean) && repeats->value.integer != 0);
    if (!forms) return forms.error();
    out_.format.calls = std::move(*forms);
    return {};
  }

  /// What closes all that is left ends the reply, unless another field's border says that it does not.
  void add_end(const std::string& text) {
    const auto has = [&](const ReplyMarker& marker) {
      return std::find(marker.texts.begin(), marker.texts.end(), text) != marker.texts.end();
    };
    ReplyFormat& format = out_.format;
    std::vector<std::string>& closers = format.reasoning_close.texts;
    // Reasoning that a text closes first, and others too: those others are ends.
    if (has(format.reasoning_close) && closers.front() == text) return;
    std::erase(closers, text);
    for (CallForm& form : format.calls)
      drop(form.layout == CallLayout::list ? form.close : form.call.back().literal, text, form);
    ReplyMarker marker;
    marker.texts = {text};
    format.end.push_back(std::move(marker));
  }

  /// A call that an end closes is one that nothing closes.
  static void drop(ReplyMarker& close, const std::string& text, CallForm& form) {
    if (std::erase(close.texts, text) == 0) return;
    if (!close.texts.empty()) {
      form.close_optional = true;
    } else if (form.layout != CallLayout::list) {
      form.call.pop_back();
    }
  }

  const TemplateFields& fields_;
  ReadResponseTemplate out_;
  std::vector<std::string> content_closers_;
};

}  // namespace

Result<ReadResponseTemplate> read_response_template(std::string_view json, std::string_view name) {
  Document document;
  if (Result<void> parsed = document.parse(json, name); !parsed) return parsed.error();
  const Result<TemplateFields> fields = response::fields_of(document.root());
  if (!fields) return fields.error();
  return TemplateReader(*fields).run(document.root());
}

}  // namespace parlance
