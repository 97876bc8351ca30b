// Reasoning, content and what may not stand in them. Begin reading at ReplyGrammar::make.
#include "grammar/reply_grammar.h"

#include <algorithm>

#include "base/utf8.h"
#include "reply/marker_texts.h"
#include "reply/scan/text_codec.h"

namespace parlance::grammar {
namespace {

const ReplyTurn* assistant(const ReplyFormat& format) {
  for (const ReplyTurn& turn : format.turns) {
    if (turn.role == "assistant") return &turn;
  }
  return nullptr;
}

bool is_initial(const CallForm& form) { return form.initial; }

}  // namespace

ReplyGrammar::ReplyGrammar(GrammarData& data, const ReplyFormat& format, Notes& notes)
    : data_(data), ir_(data.ir), format_(format), notes_(notes), arguments_(data, format, notes) {
  if (data_.options.choice != ToolChoice::none) group_tools();
}

/// Each tool goes to the form of its own name, else to the first that takes any.
void ReplyGrammar::group_tools() {
  for (std::size_t tool = 0; tool < data_.tools.size(); ++tool) {
    const CallForm* chosen = nullptr;
    for (const CallForm& form : format_.calls) {
      const std::string& name = data_.tools[tool].name;
      const bool own = form.headed ? form.header == name : form.name == name;
      const bool any = form.headed ? form.header.empty() : form.name.empty();
      if (own || (any && chosen == nullptr)) chosen = &form;
      if (own) break;
    }
    if (chosen == nullptr) continue;
    if (chosen->sorted) arguments_.sort(tool);
    const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.form == chosen; });
    if (group == groups_.end()) {
      groups_.push_back({chosen, {tool}});
    } else {
      group->tools.push_back(tool);
    }
  }
}

// ---- what text must not hold

void forbid(std::vector<Stop>& stops, const ReplyMarker& marker) {
  for (const std::string& text : marker.texts) {
    for (std::string& variant : soft_variants(text)) stops.push_back({std::move(variant), kNone});
  }
  for (const std::string& text : marker.faulty) stops.push_back({text, kNone});
  for (const std::string& text : marker.loose) stops.push_back({text.substr(0, text.find('*')), kNone});
}

std::vector<Stop> ReplyGrammar::forbidden(bool in_reasoning) const {
  std::vector<Stop> stops;
  forbid(stops, format_.reasoning_open);
  if (!in_reasoning) forbid(stops, format_.reasoning_close);
  forbid(stops, format_.content_open);
  forbid(stops, format_.content_close);
  for (const ReplyMarker& end : format_.end) forbid(stops, end);
  for (const ReplyTurn& turn : format_.turns) forbid(stops, turn.open);
  const bool calls_end = format_.calls_end_reasoning || format_.calls_end_opened_reasoning;
  for (const CallForm& form : format_.calls) {
    if (form.headed || (in_reasoning && !calls_end)) continue;
    const bool single = form.layout == CallLayout::single;
    if (!single) forbid(stops, form.open);
    const bool begins = single || form.open_optional;
    const std::string_view token = reply::token_of_opener(form);
    if (!token.empty() && !in_reasoning) stops.push_back({std::string(token), kNone});
    if (begins && form.call[0].kind == CallPart::Kind::literal) forbid(stops, form.call[0].literal);
  }
  return stops;
}

// ---- regions

NodeId ReplyGrammar::free_text(const std::vector<Stop>& openings, bool may_end) {
  std::vector<Stop> stops = openings;
  const std::vector<Stop> others = forbidden(false);
  stops.insert(stops.end(), others.begin(), others.end());
  const NodeId node = ir_.text(std::move(stops), may_end);
  ir_.suggest(node, "content");
  return node;
}

/// Content in markers of its own.
NodeId ReplyGrammar::content() {
  if (has_response())
    return format_.content_close.exists() ? ir_.sequence({response(), closing_of_content()}) : whole_response();
  std::vector<Stop> stops;
  if (!format_.content_close.exists()) return free_text(openings(most_calls()), true);
  const NodeId behind = beginning_of(ir_, format_.content_close.after);
  stops.push_back({format_.content_close.texts[0], behind});
  return free_text(stops, false);
}

/// Content behind what opens it, which a token that ends the reply may end in place of its close, or a call.
NodeId ReplyGrammar::unclosed_content() {
  return format_.last.empty() || has_response() ? ir_.never() : free_text(openings(most_calls()), true);
}

/// What closes content, if something does.
NodeId ReplyGrammar::closing_of_content() {
  const ReplyMarker& close = format_.content_close;
  if (!close.exists()) return before_end();
  return ir_.sequence({ir_.literal(close.before + close.texts[0]), beginning_of(ir_, close.after)});
}

/// Calls, before which templates with markers of content may write these with nothing in them.
NodeId ReplyGrammar::behind_no_content(NodeId called) {
  const ReplyMarker& open = format_.content_open;
  if (!open.exists()) return called;
  const NodeId nothing =
      ir_.sequence({ending_of(ir_, open.before), ir_.literal(open.texts[0]), beginning_of(ir_, open.after),
                    format_.content_close.exists() ? closing_of_content() : ir_.empty()});
  return ir_.parted({ir_.sequence({nothing, called}), called});
}

NodeId ReplyGrammar::answer(Region region) {
  const bool must = data_.options.choice == ToolChoice::required || data_.options.choice == ToolChoice::named;
  if (region == Region::header) {
    const ReplyTurn& turn = *assistant(format_);
    // Text that is free may begin with the blank anyway.
    const NodeId said =
        has_response() ? ir_.sequence({dummy_prefix(turn), whole_response()}) : free_text(openings(most_calls()), true);
    const NodeId text = ir_.sequence({dummy_prefix(turn), ir_.literal(turn.header_close), said});
    return must ? headed_calls() : calls_allowed() ? ir_.choice({headed_calls(), text}) : text;
  }
  const NodeId called = calls_allowed() ? calls(true) : ir_.never();
  if (region == Region::content) {
    // What the prompt opened is closed first.
    if (!format_.content_close.exists()) return content();  // calls, too, are in it
    const NodeId behind = must ? called : ir_.choice({ir_.empty(), called});
    return ir_.sequence({must ? ir_.literal(format_.content_close.texts[0]) : content(), behind});
  }
  if (region == Region::after_content) return must ? called : ir_.choice({ir_.empty(), called});
  if (must) return behind_no_content(called);
  if (!format_.content_open.exists() && has_response()) return calls_or_response();
  if (!format_.content_open.exists()) {
    // then no marker begins the text
    const bool initial = std::any_of(format_.calls.begin(), format_.calls.end(), is_initial);
    return initial ? ir_.choice({called, text_not_initial()}) : text_not_initial();
  }
  const ReplyMarker& open = format_.content_open;
  const NodeId marked = ir_.sequence({ending_of(ir_, open.before), ir_.literal(open.texts[0]), content()});
  if (!format_.content_close.exists()) return ir_.parted({marked, called});
  const NodeId unclosed = ir_.sequence({ending_of(ir_, open.before), ir_.literal(open.texts[0]), unclosed_content()});
  return ir_.parted({ir_.sequence({marked, ir_.choice({ir_.empty(), called})}), unclosed, called});
}

/// White space and what stands behind it. A pattern or a choice may begin with white space of its own, so that each
/// alternative has its own gap. JSON does not, and shares the gap with calls, so that an engine's lexer need not know
/// which of them comes.
NodeId ReplyGrammar::behind_gap(NodeId gap, NodeId behind) {
  const Node node = ir_.node(behind);
  if (!has_response() || is_json_response() || node.op != Op::choice) return ir_.sequence({gap, behind});
  std::vector<NodeId> ways;
  for (std::uint32_t i = 0; i < node.size; ++i) ways.push_back(ir_.sequence({gap, ir_.children(node)[i]}));
  return ir_.choice(ways);
}

/// Up to its close; `opened` by the prompt already.
NodeId ReplyGrammar::reasoning(NodeId behind, bool opened) {
  const ReplyMarker& open = format_.reasoning_open;
  const ReplyMarker& close = format_.reasoning_close;
  if (!close.exists()) {  // what opens content closes it
    const std::string text = format_.content_open.texts[0];
    std::vector<Stop> stops = forbidden(true);
    stops.insert(stops.begin(), {text, after_prefix(ir_, behind, text)});
    const NodeId rest = ir_.text(std::move(stops), false);
    return opened ? rest
                  : ir_.sequence(
                        {ending_of(ir_, open.before), ir_.literal(open.texts[0]), beginning_of(ir_, open.after), rest});
  }
  const NodeId end = behind_gap(beginning_of(ir_, close.after), behind);
  if (opened && !data_.options.reasoning) {
    data_.outline.prefix = close.texts[0];
    data_.outline.before_calls = beginning_of(ir_, close.after);
    return ir_.sequence({ir_.literal(close.texts[0]), end});
  }
  std::vector<Stop> stops{{close.texts[0], end}};
  for (std::size_t i = 1; i < close.texts.size(); ++i) stops.push_back({close.texts[i], kNone});
  if (format_.calls_end_reasoning && calls_allowed()) {
    for (Stop& call : openings(most_calls())) {
      if (!call.literal.starts_with(close.texts[0])) stops.push_back(std::move(call));
    }
    data_.outline.calls_end_reasoning = true;
  }
  for (Stop& other : forbidden(true)) stops.push_back(std::move(other));
  const NodeId text = ir_.text(std::move(stops), false);
  ir_.suggest(text, "reasoning");
  const NodeId whole = opened ? text : ir_.sequence({ending_of(ir_, open.before), ir_.literal(open.texts[0]), text});
  data_.outline.reasons = true;
  data_.outline.reasoning_begin = opened ? "" : open.texts[0];
  data_.outline.reasoning_end = close.texts[0];
  data_.outline.before_reasoning = opened ? ir_.empty() : ending_of(ir_, open.before);
  data_.outline.before_calls = beginning_of(ir_, close.after);
  for (const Stop& stop : forbidden(true)) data_.outline.not_in_reasoning.push_back(stop.literal);
  return whole;
}

/// The texts that close the calls of a section or a list: as it was taught, and with less white space before it; or
/// nothing, where engines stop at it.
std::vector<std::string> ReplyGrammar::closings(const CallForm& form) const {
  const std::string bracket = form.layout == CallLayout::list ? "]" : "";
  if (!form.close.exists()) return bracket.empty() ? std::vector<std::string>() : std::vector<std::string>{bracket};
  std::vector<std::string> all;
  for (std::size_t skipped = 0; skipped <= form.close.before.size(); ++skipped) {
    all.push_back(bracket + form.close.before.substr(skipped) + form.close.texts[0]);
  }
  if (!bracket.empty() && ends_reply(form.close)) all.push_back(bracket);
  return all;
}

/// For languages with tags.
void ReplyGrammar::outline_calls() {
  Outline& outline = data_.outline;
  const bool counted = data_.parallel && data_.options.max_calls > 1;  // tags cannot count
  outline.is_tagged = !format_.content_open.exists() && !has_response() && !counted &&
                      format_.reasoning_close.exists() == format_.reasoning_open.exists();
  outline.must_call = data_.options.choice == ToolChoice::required || data_.options.choice == ToolChoice::named;
  outline.text_behind = allows_text_behind();
  for (const Stop& stop : forbidden(false)) outline.not_in_text.push_back(stop.literal);
  std::vector<NodeId> leads, tails;
  for (const Group& group : groups_) {
    const CallForm& form = *group.form;
    const bool list = form.layout == CallLayout::list;
    Outline::Calls calls;
    calls.trigger = opening(form);
    calls.grouped = form.layout != CallLayout::single;
    calls.gap = gap_between(form);
    calls.gap_is_blank = !list && reply::is_blank(form.separator);
    outline.is_tagged = outline.is_tagged && !form.headed && !form.initial && !calls.trigger.empty();
    if (calls.grouped) {
      calls.open = opening(form) + form.open.after + (list ? "[" : "");
      calls.closes = closings(form);
    }
    if (list) calls.padding = arguments_.style(Style::Kind::json, Style::Space::lines).space();
    for (const std::size_t tool : group.tools)
      calls.each.push_back(ir_.sequence({call(form, tool, true), closing_apart(form)}));
    if (calls.grouped && calls.closes.empty()) calls.all = grouped_calls(group, false);
    leads.push_back(lead(form));
    tails.push_back(form.close.exists() ? beginning_of(ir_, form.close.after) : behind_call(form));
    outline.calls.push_back(std::move(calls));
  }
  if (leads.empty()) return;
  outline.calls_lead = ir_.choice(leads);
  outline.behind_calls = ir_.sequence({ir_.choice(tails), before_end()});
}

/// For engines that set a grammar in where a call begins.
void ReplyGrammar::make_lazy(const Start& from) {
  Lazy& lazy = data_.lazy;
  const NodeId all = calls(true);
  lazy.inside = from.inside;
  lazy.calls = from.inside.empty() ? all : ir_.parted({all, after_prefix(ir_, all, from.inside)});
  for (const Group& group : groups_) {
    std::string text = opening(*group.form);
    if (std::find(lazy.openings.begin(), lazy.openings.end(), text) == lazy.openings.end())
      lazy.openings.push_back(std::move(text));
  }
  lazy.in_reasoning = from.region == Region::reasoning;
  const bool may_reason = format_.reasoning_open.exists() && format_.reasoning_close.exists() && !from.reasoned;
  if (!may_reason || format_.calls_end_reasoning) return;
  lazy.reasoning_open = format_.reasoning_open.texts[0];
  lazy.reasoning_close = format_.reasoning_close.texts[0];
}

NodeId ReplyGrammar::make() {
  note_limits();
  const Start from = start();
  const Region region = from.region == Region::reasoning ? Region::answer : from.region;
  const NodeId gap = beginning_of(ir_, from.gap);
  const NodeId plain = from.gap.empty() ? answer(region) : behind_gap(gap, answer(region));
  data_.outline.before_calls = gap;
  if (calls_allowed() && data_.options.choice == ToolChoice::automatic) make_lazy(from);
  if (from.inside.empty() && region == Region::answer) outline_calls();
  NodeId whole = plain;
  const bool may_reason = data_.options.reasoning && format_.reasoning_open.exists() && !from.reasoned;
  if (from.region == Region::reasoning) {
    whole = reasoning(plain, true);
  } else if (may_reason && region == Region::answer) {
    whole = ir_.parted({reasoning(plain, false), plain});
  }
  if (!from.inside.empty()) {
    const NodeId rest = after_prefix(ir_, whole, from.inside);
    if (rest != ir_.never()) whole = ir_.parted({rest});
  }
  arguments_.make_rules();
  if (response_schema_) response_schema_->make_rules();
  return whole;
}

}  // namespace parlance::grammar
