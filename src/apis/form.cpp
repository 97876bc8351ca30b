// What the forms of all APIs share. Begin reading at BlockForm::take.
#include "apis/form.h"

#include <algorithm>
#include <utility>

#include "reply/scan/json_scanner.h"

namespace parlance {

ReplyApiWriter::Form::Form(ReplyApi api, ReplyApiOptions options, std::string default_id, std::string_view call_prefix)
    : api_(api), options_(std::move(options)), call_prefix_(call_prefix) {
  if (!options_.id.empty()) call_prefix_ += options_.id + "_";
  if (options_.choice != 0) call_prefix_ += std::to_string(options_.choice) + "_";
  if (options_.id.empty()) options_.id = std::move(default_id);
}

/// Ids must be unique within a chat, whose earlier calls the client sends back: so the answer's own id is in them.
std::string ReplyApiWriter::Form::make_call_id() {
  ++made_ids_;
  return options_.make_call_id ? options_.make_call_id() : call_prefix_ + std::to_string(made_ids_);
}

void ReplyApiWriter::Form::begin() {
  if (!std::exchange(has_begun_, true) && !has_ended_) begin_stream();
}

void ReplyApiWriter::Form::add(const ReplyEvent& event) {
  if (has_ended_) return;
  finish_.add(event);
  const bool is_hidden = event.kind == ReplyEvent::Kind::reasoning && options_.reasoning == ShownReasoning::none;
  is_hidden ? skip_logprobs_of(event) : take_logprobs_of(event);
  calls_ = calls_ || event.kind == ReplyEvent::Kind::call_begin;
  if (event.kind == ReplyEvent::Kind::malformed)
    diagnostics_.push_back({event.position, std::string(event.text), event.fault});
  if (is_hidden) return;
  options_.reasoning == ShownReasoning::as_text ? take(as_text(event)) : take(event);
}

/// Which marks are of reasoning is known by what stands beside them.
ReplyEvent ReplyApiWriter::Form::as_text(const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  ReplyEvent made = event;
  const bool opens = event.kind == Kinds::reasoning && !std::exchange(reasons_, true);
  if (event.kind == Kinds::reasoning) {
    made.kind = Kinds::content;
    if (opens) made.text = opening_ = std::exchange(mark_, {}).append(event.text);
  } else if (event.kind == Kinds::marker && (reasons_ || (closes_ && reply::is_blank(event.source)))) {
    made.kind = Kinds::content;
    made.text = event.source;
    closes_ = true;
  } else if (event.kind == Kinds::marker) {
    mark_.append(event.source);
  }
  if (event.kind != Kinds::reasoning && event.kind != Kinds::malformed) reasons_ = false;
  if (event.kind == Kinds::content || event.kind == Kinds::call_begin) mark_.clear(), closes_ = false;
  return made;
}

void ReplyApiWriter::Form::finish(const ReplyOutcome& outcome) {
  if (std::exchange(has_ended_, true)) return;
  outcome_ = outcome;
  end();
}

void ReplyApiWriter::Form::fail(const ReplyApiError& error) {
  if (error_) return;
  has_ended_ = true;
  error_ = error;
  break_off();
}

std::string_view ReplyApiWriter::Form::finish_reason() const {
  if (outcome_.length) return "length";
  const bool stopped = outcome_.stop_sequence || outcome_.stopped;
  return stopped && !calls_ ? "stop" : finish_.reason();
}

void ReplyApiWriter::Form::append_diagnostics(Json& json) const {
  if (diagnostics_.empty()) return;
  Json list('[');
  for (const ReplyDiagnostic& diagnostic : diagnostics_) {
    Json one('{');
    one.number("position", static_cast<std::int64_t>(diagnostic.position));
    one.text("kind", name_of(diagnostic.fault)).text("expected", diagnostic.expected);
    list.item(one.take());
  }
  json.raw("reply_diagnostics", list.take());
}

namespace apis {

void append_items(std::string& items, std::string_view more) {
  if (!more.empty()) items.append(items.empty() ? "" : ", ").append(more);
}

void WaitingLogprobs::add(std::span<const ReplyLogprob> tokens) {
  for (const ReplyLogprob& token : tokens) items_.push_back({logprob_item(token), token.token.size()});
}

/// How many bytes of the event are of tokens that wait. An event may be made without a source.
std::size_t WaitingLogprobs::unpaid(const ReplyEvent& event) {
  const bool is_text = event.kind == ReplyEvent::Kind::content || event.kind == ReplyEvent::Kind::reasoning;
  const std::size_t bytes = event.source.empty() && is_text ? event.text.size() : event.source.size();
  const std::size_t paid = std::min(bytes, taken_);
  taken_ -= paid;
  return bytes - paid;
}

std::string WaitingLogprobs::take(const ReplyEvent& event) {
  std::string items;
  std::size_t bytes = unpaid(event);
  while (!items_.empty() && (bytes > 0 || items_.front().bytes == 0)) {
    const std::size_t had = std::min(bytes, items_.front().bytes);
    taken_ += items_.front().bytes - had;
    bytes -= had;
    append_items(items, items_.front().json);
    items_.pop_front();
  }
  return items;
}

void WaitingLogprobs::skip(const ReplyEvent& event) {
  std::size_t bytes = unpaid(event);
  while (bytes > 0 && !items_.empty()) {
    Item& first = items_.front();
    const std::size_t had = std::min(bytes, first.bytes);
    first.bytes -= had;
    bytes -= had;
    if (first.bytes == 0) items_.pop_front();
  }
}

std::string WaitingLogprobs::rest() {
  std::string items;
  for (const Item& item : std::exchange(items_, {})) append_items(items, item.json);
  return items;
}

bool has_cut_call(const std::vector<Block>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [](const Block& block) { return block.kind == Block::Kind::call && !block.complete; });
}

std::string invalid_input(const Block& block) { return Json('{').text("INVALID_JSON", block.text).take(); }

/// One block is open at a time, as in all APIs. A call that something else follows without its end is not
/// complete.
void BlockForm::open(Block block) {
  if (open_) close(blocks_.back().kind != Block::Kind::call);
  blocks_.push_back(std::move(block));
  open_ = true;
  opened(blocks_.back());
}

void BlockForm::close(bool complete) {
  open_ = false;
  Block& block = blocks_.back();
  block.complete = complete;
  if (block.kind == Block::Kind::reasoning && options().sign_reasoning)
    block.signature = options().sign_reasoning(block.text);
  closed(block);
}

void BlockForm::add_text(Block::Kind kind, std::string_view text, bool turned) {
  if (turned && is_open(kind)) close(true);
  if (!is_open(kind)) open({.kind = kind, .turned = turned});
  blocks_.back().text += text;
  grown(blocks_.back(), {text});
}

/// White space alone is held back: templates write empty reasoning, and a client would show an empty block. Once a word
/// comes, what was held goes with it, so no byte is lost.
void BlockForm::add_reasoning(std::string_view text) {
  blanks_ += text;
  if (!reasons_ && reply::is_blank(blanks_)) return;
  reasons_ = true;
  add_text(Block::Kind::reasoning, std::exchange(blanks_, {}));
}

void BlockForm::add_arguments(std::string_view json, bool broken) {
  if (json.empty() || !is_open(Block::Kind::call)) return;
  Block& block = blocks_.back();
  block.text += json;
  const std::string input = block.custom ? block.reader.take(json) : std::string();
  block.input += input;
  grown(block, {json, input, broken});
}

/// Some formats write a call's id behind its arguments. A stream has said another by then, so both are kept.
void BlockForm::end_call(const ReplyEvent& event) {
  if (!is_open(Block::Kind::call)) return;
  Block& block = blocks_.back();
  if (!event.detail.empty() && event.detail != block.id) block.late_id = event.detail;
  if (event.complete) close(true);  // what is broken may go on behind the call's end
}

void BlockForm::take(const ReplyEvent& event) {
  using Kinds = ReplyEvent::Kind;
  switch (event.kind) {
    case Kinds::content:
      if (event.text.empty()) break;
      add_text(Block::Kind::text, event.text, std::exchange(turned_, false));
      break;
    case Kinds::reasoning: add_reasoning(event.text); break;
    case Kinds::turn: turned_ = true; break;
    case Kinds::call_begin:
      open({.kind = Block::Kind::call,
            .custom = event.custom,
            .name = std::string(event.text),
            .id = event.detail.empty() ? make_call_id() : std::string(event.detail)});
      break;
    case Kinds::arguments:
    case Kinds::broken: add_arguments(event.text, event.kind == Kinds::broken); break;
    case Kinds::call_end: end_call(event); break;
    default: break;
  }
}

/// A reply that is cut off leaves its last block incomplete; a call that is still open always is.
void BlockForm::end() {
  if (open_) close(finish_reason() != "length" && blocks_.back().kind != Block::Kind::call);
  ended();
}

void BlockForm::break_off() {
  open_ = false;
  broken_off();
}

}  // namespace apis
}  // namespace parlance
