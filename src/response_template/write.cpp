// A ReplyFormat as a response_template. Begin reading at write_response_template.
#include <algorithm>

#include "json/writer.h"
#include "parlance/response_template.h"
#include "response_template/call_shape.h"
#include "response_template/pattern.h"

namespace parlance {
namespace {

using response::CallShape;

/// Texts and patterns that mean the same, as a member: "open", "open_pattern", "close", "close_pattern".
class Delimiter {
 public:
  void add_texts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
    }
  }
  void add_pattern(std::string pattern) {
    if (!pattern.empty()) patterns_.push_back(std::move(pattern));
  }
  bool empty() const { return texts_.empty() && patterns_.empty(); }
  /// Patterns come first: texts stop at where they begin, so that one which looks ahead is tried too.
  void add_to(Json& json, const std::string& key) const {
    if (empty()) return;
    if (!patterns_.empty() || !response::are_literal(texts_)) {
      json.text(key + "_pattern", pattern());
    } else if (texts_.size() == 1) {
      json.text(key, texts_.front());
    } else {
      json.raw(key, json_list(texts_));
    }
  }

 private:
  /// The texts in their order, since the first one that closes reasoning is not taken for the end of the reply where
  /// the template is read; but a text stands before what it begins with.
  std::string pattern() const {
    std::vector<std::string> texts;
    for (const std::string& text : texts_) {
      const auto begun =
          std::find_if(texts.begin(), texts.end(), [&](const auto& one) { return text.starts_with(one); });
      texts.insert(begun, text);
    }
    std::string out = response::joined_pattern(patterns_);
    for (const std::string& text : texts) out.append(out.empty() ? "" : "|").append(response::soft_pattern(text));
    return out;
  }

  std::vector<std::string> texts_;
  std::vector<std::string> patterns_;
};

/// Order matters: the anchor first, since what it takes of the prompt is missing from markers; then calls, whose shapes
/// decide what closes reasoning and content.
class Writer {
 public:
  Writer(const ReplyFormat& format, const ResponseTemplateOptions& options) : format_(format), options_(options) {}

  Result<WrittenResponseTemplate> run() {
    find_anchor();
    if (Result<void> taken = take_calls(); !taken) return taken.error();
    Json fields('{'), json('{');
    add_reasoning(fields);
    add_calls(fields);
    add_content(fields);
    json.number("version", 1).raw("defaults", R"({"role": "assistant"})");
    if (anchor_.empty()) {  // nothing opens a turn: the reply is what stands behind the prompt
      json.text("start_anchor_pattern", "\\Z");
    } else {
      json.text("start_anchor", anchor_);
    }
    json.raw("fields", fields.take());
    note_the_rest();
    return WrittenResponseTemplate{json.take(), std::move(losses_)};
  }

 private:
  /// The beginning of the prompt's tail, up to where a marker begins: that is read with the reply. Where the whole tail
  /// is the beginning of a marker, the anchor takes it from the marker.
  void find_anchor() {
    const std::vector<std::string> texts = markers();
    std::size_t cut = format_.prompt.size();
    for (std::size_t at = 1; at < cut; ++at) {
      const std::string_view rest = std::string_view(format_.prompt).substr(at);
      if (std::any_of(texts.begin(), texts.end(),
                      [&](const std::string& t) { return rest.starts_with(t) || t.starts_with(rest); }))
        cut = at;
    }
    anchor_ = format_.prompt.substr(0, cut);
    if (cut == format_.prompt.size()) taken_ = format_.prompt;
    while (!anchor_.empty() && (anchor_.back() == '\n' || anchor_.back() == ' ')) anchor_.pop_back();
  }

  std::vector<std::string> markers() const {
    std::vector<std::string> out;
    const auto add = [&](const ReplyMarker& marker) {
      out.insert(out.end(), marker.texts.begin(), marker.texts.end());
    };
    for (const ReplyMarker* marker :
         {&format_.reasoning_open, &format_.reasoning_close, &format_.content_open, &format_.content_close})
      add(*marker);
    for (const CallForm& form : format_.calls) {
      add(form.open);
      if (!form.call.empty()) add(form.call.front().literal);
    }
    return out;
  }

  // The first form must be expressible. A further form becomes a loss if it is not, or if it would need another content
  // parser or transform than the first: the field tool_calls has one of each.
  Result<void> take_calls() {
    std::vector<std::string> others = format_.content_open.texts;
    others.insert(others.end(), format_.reasoning_open.texts.begin(), format_.reasoning_open.texts.end());
    others = response::without_prompt(others, taken_);
    for (std::size_t i = 0; i < format_.calls.size(); ++i) {
      const std::string path = "calls[" + std::to_string(i) + "]";
      std::vector<std::string> losses;
      Result<CallShape> shape = response::shape_of(format_.calls[i], path, taken_, others, losses);
      if (!shape && i == 0) return shape.error();
      if (!shape || (i > 0 && !shape->reads_like(shapes_.front()))) {
        losses_.push_back("calls as " + path + " has them are text: " +
                          (shape ? "they are read in another way" : std::string(shape.error().message())));
        continue;
      }
      shapes_.push_back(std::move(*shape));
      losses_.insert(losses_.end(), losses.begin(), losses.end());
    }
    return {};
  }

  /// What ends a reply. A text with which a marker begins would be taken for the end before the marker is whole.
  std::vector<std::string> ends() const {
    std::vector<std::string> out;
    const std::vector<std::string> others = markers();
    for (const ReplyMarker& marker : format_.end) {
      for (const std::string& text : marker.texts) {
        if (std::none_of(others.begin(), others.end(),
                         [&](const std::string& m) { return m.starts_with(text) && m != text; }))
          out.push_back(text);
      }
    }
    return out;
  }

  /// Looks ahead for what opens calls.
  std::string calls_ahead() const {
    std::vector<std::string> openers;
    for (const CallForm& form : format_.calls) {
      const ReplyMarker& opener = form.open.exists() ? form.open : form.call.front().literal;
      openers.insert(openers.end(), opener.texts.begin(), opener.texts.end());
    }
    return openers.empty() ? "" : "(?=" + response::any_pattern(openers) + ")";
  }

  void add_reasoning(Json& fields) const {
    if (!format_.reasoning_open.exists() || !format_.reasoning_close.exists()) return;
    Delimiter open;
    open.add_texts(response::without_prompt(format_.reasoning_open.texts, taken_));
    Delimiter close;
    close.add_texts(format_.reasoning_close.texts);
    close.add_texts(ends());
    if (format_.calls_end_reasoning) close.add_pattern(calls_ahead());
    Json field('{');
    open.add_to(field, "open");
    close.add_to(field, "close");
    fields.raw(options_.reasoning_key, field.flag("repeats", true).text("join", "").take());
  }

  void add_calls(Json& fields) const {
    if (shapes_.empty()) return;
    Delimiter open;
    Delimiter close;
    bool ends_it = false;
    for (const CallShape& shape : shapes_) {
      open.add_texts(shape.openers);
      open.add_pattern(shape.open);
      close.add_texts(shape.closers);
      close.add_pattern(shape.close);
      ends_it = ends_it || shape.close_optional || (shape.closers.empty() && shape.close.empty());
    }
    if (ends_it) close.add_texts(ends());
    if (ends_it && !shapes_.front().is_list) close.add_pattern(calls_ahead());
    const CallShape& first = shapes_.front();
    Json field('{');
    open.add_to(field, "open");
    close.add_to(field, "close");
    if (!first.is_list) field.flag("repeats", true);
    field.text("content", first.content);
    if (!first.arguments.empty()) field.raw("content_args", first.arguments);
    field.raw("transform", first.transform);
    if (first.is_list) field.flag("transform_each", true);
    fields.raw("tool_calls", field.take());
  }

  /// All text outside of other fields. What closes it is dropped, and it goes on: so with markers round content and
  /// round sections of calls, and with a marker that closes reasoning which nothing opened.
  void add_content(Json& fields) const {
    Delimiter close;
    close.add_texts(response::without_prompt(format_.content_open.texts, taken_));
    close.add_texts(format_.content_close.texts);
    close.add_texts(format_.reasoning_close.texts);
    for (const CallForm& form : format_.calls) {
      if (form.layout != CallLayout::section) continue;
      close.add_texts(response::without_prompt(form.open.texts, taken_));
      close.add_texts(form.close.texts);
    }
    for (const CallShape& shape : shapes_) close.add_texts(shape.rests);
    close.add_texts(ends());
    Json field('{');
    field.flag("repeats", true).text("join", "");
    close.add_to(field, "close");
    fields.raw("content", field.take());
  }

  void note_the_rest() {
    if (!shapes_.empty() && (!shapes_.front().closers.empty() || !shapes_.front().close.empty())) {
      losses_.emplace_back("a closing marker inside of an argument ends the call");
    }
    std::size_t written = 0;
    for (const ReplyMarker& marker : format_.end) written += marker.texts.size();
    if (ends().size() < written) losses_.emplace_back("an end that other markers begin with is text");
    if (format_.drops_other_text) losses_.emplace_back("text outside of all markers is content");
    if (!format_.turns.empty()) losses_.emplace_back("turns within a reply are not told apart");
    if (anchor_.empty()) losses_.emplace_back("what a prompt has already said of the reply is not read");
    std::vector<std::string> once;
    for (std::string& loss : losses_) {
      if (std::find(once.begin(), once.end(), loss) == once.end()) once.push_back(std::move(loss));
    }
    losses_ = std::move(once);
  }

  const ReplyFormat& format_;
  const ResponseTemplateOptions& options_;
  std::string anchor_;
  std::string taken_;  ///< not "": markers that begin with this text also come without it
  std::vector<CallShape> shapes_;
  std::vector<std::string> losses_;
};

}  // namespace

Result<WrittenResponseTemplate> write_response_template(const ReplyFormat& format,
                                                        const ResponseTemplateOptions& options) {
  if (Result<void> valid = format.validate(); !valid) return valid.error();
  return Writer(format, options).run();
}

}  // namespace parlance
