// Calls: one by one, in a section, in a list, behind a header. Begin reading at ReplyGrammar::calls.
#include <algorithm>

#include "grammar/reply_grammar.h"
#include "json/writer.h"
#include "reply/closers.h"
#include "reply/scan/text_codec.h"

namespace parlance::grammar {

using Part = CallPart::Kind;
using Role = CallMember::Role;

namespace {

constexpr std::uint32_t kMostCountedCalls = 64;  ///< calls

using reply::is_blank;

}  // namespace

std::string in_attribute(std::string_view text, TextEscape escape) {
  std::string out;
  for (const char c : text) {
    const bool tag = escape == TextEscape::xml && (c == '<' || c == '>');
    if (escape != TextEscape::none && c == '&')
      out += "&amp;";
    else if (escape != TextEscape::none && c == '"')
      out += "&quot;";
    else if (tag)
      out += c == '<' ? "&lt;" : "&gt;";
    else
      out += c;
  }
  return out;
}

/// The marker that calls of the form begin with; "" where there is none.
std::string ReplyGrammar::opening(const CallForm& form) const {
  if (form.headed) return {};
  if (form.layout != CallLayout::single) return form.open.exists() ? form.open.texts[0] : "";
  return form.call[0].kind == Part::literal ? form.call[0].literal.texts[0] : "";
}

NodeId ReplyGrammar::lead(const CallForm& form) {
  if (form.headed || lead_stands_) return ir_.empty();
  const ReplyMarker& marker = form.layout == CallLayout::single ? form.call[0].literal : form.open;
  return marker.exists() ? ending_of(ir_, marker.before) : ir_.empty();
}

/// What templates write between two calls: what separates them, or what stands behind one and before the other.
std::string ReplyGrammar::gap(const CallForm& form) {
  const CallPart& first = form.call.front();
  const CallPart& last = form.call.back();
  if (!form.separator.empty()) return form.separator;
  std::string text = last.kind == Part::literal && form.call.size() > 1 ? last.literal.after : "";
  if (form.layout == CallLayout::single && first.kind == Part::literal) text += first.literal.before;
  return text;
}

/// The same; white space may also be missing. Of a list, a comma in any case.
NodeId ReplyGrammar::gap_between(const CallForm& form) {
  if (form.layout == CallLayout::list) {
    const NodeId comma = arguments_.style(Style::Kind::json, Style::Space::lines).comma();
    const bool shown = form.separator.find(',') != std::string::npos;
    const NodeId gap = shown ? ir_.choice({ir_.literal(form.separator), comma}) : comma;
    return form.commas_optional ? ir_.choice({gap, ir_.literal(form.separator)}) : gap;
  }
  const bool single = form.layout == CallLayout::single;
  if (is_blank(form.separator)) return beginning_of(ir_, gap(form));
  return ir_.sequence({ir_.literal(form.separator), single ? lead(form) : ir_.empty()});
}

/// The same, behind what closes a call apart.
NodeId ReplyGrammar::between(const CallForm& form) {
  return ir_.sequence({is_blank(form.separator) ? closing_apart(form) : ir_.empty(), gap_between(form)});
}

/// Whether what closes calls is a token at which engines stop, so that it may never be written.
bool ReplyGrammar::ends_reply(const ReplyMarker& marker) const {
  const std::string& text = marker.texts[0];
  const bool last = std::find(format_.last.begin(), format_.last.end(), text) != format_.last.end();
  return last || std::any_of(format_.end.begin(), format_.end.end(), [&](const ReplyMarker& end) {
           return std::find(end.texts.begin(), end.texts.end(), text) != end.texts.end();
         });
}

/// Whether what closes a call is written between calls, and behind the last one perhaps: there engines stop at it.
bool ReplyGrammar::closes_apart(const CallForm& form) const {
  const bool has_end = form.call.size() > 1 && form.call.back().kind == Part::literal;
  return form.layout == CallLayout::single && has_end && ends_reply(form.call.back().literal);
}

NodeId ReplyGrammar::closing_apart(const CallForm& form) {
  if (!closes_apart(form)) return ir_.empty();
  const ReplyMarker& end = form.call.back().literal;
  return ir_.literal(end.before + end.texts[0]);
}

/// White space behind the last call.
NodeId ReplyGrammar::behind_call(const CallForm& form) {
  const CallPart& last = form.call.back();
  if (form.layout == CallLayout::list) return ir_.optional(ir_.literal(" "));
  const NodeId blank =
      last.kind == Part::literal && form.call.size() > 1 ? beginning_of(ir_, last.literal.after) : ir_.empty();
  return closes_apart(form) ? ir_.optional(ir_.sequence({closing_apart(form), blank})) : blank;
}

/// White space between what closes the last part of a reply and its end.
NodeId ReplyGrammar::before_end() {
  std::vector<NodeId> ways;
  for (const ReplyMarker& end : format_.end) {
    if (!end.before.empty()) ways.push_back(ending_of(ir_, end.before));
  }
  return ways.empty() ? ir_.empty() : ir_.choice(ways);
}

// ---- several calls

/// Where content ends: each opening, with the calls behind it; and turns that a headed call begins with.
std::vector<Stop> ReplyGrammar::openings(std::uint32_t left) {
  std::vector<Stop> stops;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const CallForm& form = *groups_[i].form;
    const std::string text = opening(form);
    if (form.headed || text.empty()) continue;
    const bool known = std::any_of(stops.begin(), stops.end(), [&](const Stop& stop) { return stop.literal == text; });
    if (known) continue;
    const bool single = form.layout == CallLayout::single;
    const std::size_t opens = stops.size();
    stops.push_back({text, allows_text_behind() ? call_and_text(groups_[i], left)
                           : single             ? single_calls(i, false)
                                                : grouped_calls(groups_[i], false)});
    // what parts two calls may part text and a call
    if (single && !is_blank(form.separator)) stops.push_back({form.separator + text, stops[opens].target});
  }
  const bool headed = std::any_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.form->headed; });
  for (const ReplyTurn& turn : format_.turns) {
    if (headed && turn.role == "assistant") stops.push_back({turn.open.texts[0], headed_calls()});
  }
  return stops;
}

/// Whether text may stand behind a call: it must be clear where the call ends, and that the text begins no other.
bool ReplyGrammar::allows_text_behind() const {
  const bool decides = data_.options.choice == ToolChoice::automatic && !has_response();
  const bool wanted = data_.options.text_around_calls || format_.text_behind_calls;
  if (!wanted || !decides || format_.content_open.exists()) return false;
  return std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    const CallForm& form = *group.form;
    if (form.headed || form.initial || opening(form).empty()) return false;
    return form.layout == CallLayout::single ? form.call.size() > 1 && form.call.back().kind == Part::literal
                                             : form.close.exists();
  });
}

/// What was asked for of the number of calls and the text around them, and cannot be had.
void ReplyGrammar::note_limits() {
  if (data_.options.max_calls > kMostCountedCalls) notes_.add({}, "max_calls", "more than 64 calls are not counted");
  note_text_behind();
}

/// Text around calls was asked for, there are calls, and there will be none around them.
void ReplyGrammar::note_text_behind() {
  if (!data_.options.text_around_calls || !calls_allowed() || allows_text_behind()) return;
  const bool decides = data_.options.choice == ToolChoice::automatic && !has_response();
  notes_.add({}, "",
             decides          ? "no text around calls: in this format it could not be told from them"
             : has_response() ? "no text around calls: the answer has a form"
                              : "no text around calls: calls are demanded, and stand alone",
             true);
}

/// How many calls a reply may have.
std::uint32_t ReplyGrammar::most_calls() const {
  if (!data_.parallel) return 1;
  const std::uint32_t most = data_.options.max_calls;
  return most == 0 || most > kMostCountedCalls ? kUnbounded : most;
}

/// Further calls behind the first.
NodeId ReplyGrammar::repeated(NodeId further) {
  const std::uint32_t most = most_calls();
  return ir_.repeat(further, 0, most == kUnbounded ? kUnbounded : most - 1);
}

/// Text, and calls in it as long as there may be more.
NodeId ReplyGrammar::text_behind(std::uint32_t left) {
  if (const auto known = text_behind_.find(left); known != text_behind_.end()) return known->second;
  const RuleId rule = ir_.add_rule("behind-calls");
  const NodeId node = text_behind_[left] = ir_.rule(rule);
  std::vector<Stop> stops = left > 0 ? openings(left) : std::vector<Stop>();
  // Right behind a call a reader takes what closes it, once more, for a mistake.
  for (const CallForm& form : format_.calls) {
    const bool is_literal = form.call.back().kind == CallPart::Kind::literal;
    for (const ReplyMarker* closer : {&form.close, is_literal ? &form.call.back().literal : nullptr}) {
      if (closer == nullptr) continue;
      for (const std::string_view text : reply::closers_once_more(*closer)) stops.push_back({std::string(text), kNone});
    }
  }
  ir_.set_body(rule, free_text(stops, true));
  return node;
}

/// Behind the opening of a group's calls: one call or one section, then text again. Calls of several sections are not
/// counted together: where calls are, there is one section.
NodeId ReplyGrammar::call_and_text(const Group& group, std::uint32_t left) {
  const bool counted = left != kUnbounded;
  if (group.form->layout != CallLayout::single) {
    return ir_.sequence({grouped_calls(group, false), text_behind(counted ? 0 : left)});
  }
  std::vector<NodeId> ways;  // groups with the same opening
  for (const Group& other : groups_) {
    const bool same = other.form->layout == CallLayout::single && opening(*other.form) == opening(*group.form);
    if (same) ways.push_back(ir_.sequence({call_of_group(other, false), closing_apart(*other.form)}));
  }
  return ir_.sequence({ir_.factored(ways), text_behind(counted ? left - 1 : left)});
}

NodeId ReplyGrammar::calls(bool with_opening) {
  std::vector<NodeId> ways;
  bool single = false, headed = false;
  for (const Group& group : groups_) {
    single = single || (!group.form->headed && group.form->layout == CallLayout::single);
    headed = headed || group.form->headed;
    if (group.form->layout != CallLayout::single)
      ways.push_back(ir_.sequence({lead(*group.form), grouped_calls(group, with_opening)}));
  }
  if (single) ways.push_back(ir_.sequence({lead_of_singles(), single_calls(groups_.size(), with_opening)}));
  for (const ReplyTurn& turn : format_.turns) {
    if (headed && turn.role == "assistant")
      ways.push_back(ir_.sequence({ir_.literal(turn.open.texts[0]), headed_calls()}));
  }
  return ir_.choice(ways);
}

NodeId ReplyGrammar::lead_of_singles() {
  std::vector<NodeId> ways;
  for (const Group& group : groups_) {
    if (!group.form->headed && group.form->layout == CallLayout::single) ways.push_back(lead(*group.form));
  }
  return ir_.choice(ways);
}

/// One call of any group that stands by itself.
NodeId ReplyGrammar::any_single(bool with_opening) {
  std::vector<NodeId> ways;
  for (const Group& group : groups_) {
    const bool single = !group.form->headed && group.form->layout == CallLayout::single;
    if (single) ways.push_back(call_of_group(group, with_opening));
  }
  return ir_.factored(ways);
}

/// Calls one behind the other. The first is of a group, or of any (behind the last group).
NodeId ReplyGrammar::single_calls(std::size_t first, bool with_opening) {
  NodeId one = kNone;
  if (first == groups_.size()) {
    one = any_single(with_opening);
  } else {
    std::vector<NodeId> ways;  // groups with the same opening
    for (const Group& group : groups_) {
      const bool same = !group.form->headed && group.form->layout == CallLayout::single &&
                        opening(*group.form) == opening(*groups_[first].form);
      if (same) ways.push_back(call_of_group(group, with_opening));
    }
    one = ir_.factored(ways);
  }
  const auto single = [](const Group& group) {
    return !group.form->headed && group.form->layout == CallLayout::single;
  };
  const auto found = first == groups_.size() ? std::find_if(groups_.begin(), groups_.end(), single)
                                             : groups_.begin() + static_cast<std::ptrdiff_t>(first);
  if (found == groups_.end()) return one;
  const CallForm& form = *found->form;
  const NodeId behind = ir_.sequence({behind_call(form), before_end()});
  const NodeId more = most_calls() > 1 ? repeated(ir_.sequence({between(form), any_single(true)})) : ir_.empty();
  return ir_.sequence({one, more, behind});
}

NodeId ReplyGrammar::grouped_calls(const Group& group, bool with_opening) {
  const CallForm& form = *group.form;
  const bool list = form.layout == CallLayout::list;
  const Style& json = arguments_.style(Style::Kind::json, Style::Space::lines);
  const NodeId one = call_of_group(group, true);
  const NodeId gap = list ? gap_between(form) : between(form);
  NodeId all = ir_.sequence({one, repeated(ir_.sequence({gap, one}))});
  if (list) all = ir_.sequence({json.open('['), all, json.close(']')});
  const ReplyMarker& close = form.close;
  const NodeId closing =
      close.exists()
          ? ir_.sequence({ending_of(ir_, close.before), ir_.literal(close.texts[0]), beginning_of(ir_, close.after)})
          : behind_call(form);
  const NodeId end = close.exists() && ends_reply(close) ? ir_.optional(closing) : closing;
  const std::string open = (with_opening ? opening(form) : "") + form.open.after;
  return ir_.sequence({ir_.literal(open), all, end, before_end()});
}

/// The blank that a model may write before a header, and before the text behind it.
NodeId ReplyGrammar::dummy_prefix(const ReplyTurn& turn) {
  return turn.dummy_prefix ? ir_.optional(ir_.literal(" ")) : ir_.empty();
}

/// Behind a turn's marker: the name, the end of the header, the call; then further turns.
NodeId ReplyGrammar::headed_calls() {
  const ReplyTurn* turn = nullptr;
  for (const ReplyTurn& t : format_.turns) {
    if (t.role == "assistant" && turn == nullptr) turn = &t;
  }
  std::vector<NodeId> ways;
  for (const Group& group : groups_) {
    if (!group.form->headed || turn == nullptr) continue;
    for (const std::size_t tool : group.tools) {
      const NodeId head = ir_.literal(data_.tools[tool].name + turn->header_close);
      ways.push_back(ir_.sequence({dummy_prefix(*turn), head, dummy_prefix(*turn), call(*group.form, tool, true)}));
    }
  }
  const NodeId one = ir_.choice(ways);
  if (most_calls() == 1 || turn == nullptr) return one;
  return ir_.sequence({one, repeated(ir_.sequence({ir_.literal(turn->open.before + turn->open.texts[0]), one}))});
}

// ---- one call

NodeId ReplyGrammar::call_of_group(const Group& group, bool with_opening) {
  std::vector<NodeId> ways;
  for (const std::size_t tool : group.tools) ways.push_back(call(*group.form, tool, with_opening));
  // Of a name that a reply begins with an engine's lexer must see the whole, to tell it from text.
  const bool named = group.form->initial && group.form->call[0].kind == Part::name;
  const NodeId node = named ? ir_.choice(ways) : ir_.factored(ways);
  ir_.suggest(node, "call");
  return node;
}

/// Where there are no arguments, templates write the line end that each argument's tag begins with all the same.
NodeId ReplyGrammar::with_blank_in_place(const CallArguments& codec, NodeId node) {
  const bool tags = codec.codec == CallArguments::Codec::tags;
  const bool may_lack =
      node == ir_.empty() ||
      (ir_.node(node).op == Op::choice && std::ranges::count(ir_.children(ir_.node(node)), ir_.empty()) > 0) ||
      (ir_.node(node).op == Op::repeat && ir_.node(node).min == 0);
  return tags && may_lack ? ir_.choice({node, ir_.literal(codec.tags.open.before)}) : node;
}

/// The parts in order. `with_opening` is false where the first marker's text stands already.
NodeId ReplyGrammar::call(const CallForm& form, std::size_t tool, bool with_opening) {
  const std::string& name = data_.tools[tool].name;
  std::vector<NodeId> parts;
  bool closed = false;  // by an argument that ends with the literal behind it
  for (std::size_t i = 0; i < form.call.size(); ++i) {
    const CallPart& part = form.call[i];
    parts.push_back(beginning_of(ir_, part.before));
    const ReplyMarker* next =
        i + 1 < form.call.size() && form.call[i + 1].kind == Part::literal ? &form.call[i + 1].literal : nullptr;
    switch (part.kind) {
      case Part::literal: {
        const bool opens = i == 0 && form.layout == CallLayout::single;
        const std::string text =
            opens ? (with_opening ? part.literal.texts[0] : "") : part.literal.before + part.literal.texts[0];
        const bool last = i + 1 == form.call.size();
        if (!(last && closes_apart(form)))
          parts.push_back(ir_.literal((closed ? "" : text) + (last ? "" : part.literal.after)));
        closed = false;
        break;
      }
      case Part::name: parts.push_back(ir_.literal(in_attribute(name, part.escape))); break;
      case Part::id: parts.push_back(id(part.pattern, name)); break;
      case Part::skip: break;
      case Part::object: parts.push_back(object(form, part.members, part.arguments, tool)); break;
      case Part::arguments:
        closed = part.arguments.codec == CallArguments::Codec::code && next != nullptr;
        parts.push_back(with_blank_in_place(part.arguments, arguments_.of(part.arguments, tool, next)));
        break;
    }
  }
  return ir_.sequence(parts);
}

/// Nine letters or digits are an id for every format; in a computed one, digits stand for the count.
NodeId ReplyGrammar::id(const std::string& pattern, std::string_view name) {
  if (pattern.empty()) return ir_.repeat(ir_.chars({{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}), 9, 9);
  std::vector<NodeId> parts;
  for (std::size_t i = 0; i < pattern.size();) {
    const std::string_view rest = std::string_view(pattern).substr(i);
    const bool count = rest.starts_with("{0}") || rest.starts_with("{1}");
    const bool names = rest.starts_with("{name}");
    if (count) parts.push_back(ir_.repeat(ir_.chars({{'0', '9'}}), 1, 4));
    if (names) parts.push_back(ir_.literal(name));
    if (!count && !names) parts.push_back(ir_.literal(rest.substr(0, 1)));
    i += count ? 3 : names ? 6 : 1;
  }
  return ir_.sequence(parts);
}

NodeId ReplyGrammar::object(const CallForm& form, const std::vector<CallMember>& members, const CallArguments& codec,
                            std::size_t tool) {
  const Style& json = arguments_.style(Style::Kind::json, Style::Space::lines);
  const std::string& name = data_.tools[tool].name;
  std::vector<NodeId> parts{json.open('{')};
  std::vector<Role> written;
  for (const CallMember& member : members) {
    const bool again = member.role != Role::constant && member.role != Role::inner &&
                       std::find(written.begin(), written.end(), member.role) != written.end();
    const bool apart =
        member.role == Role::inner && std::find(written.begin(), written.end(), Role::name) != written.end();
    if (again || apart) continue;  // another key for the same
    if (!written.empty()) parts.push_back(json.comma());
    written.push_back(member.role);
    parts.push_back(*json.key(member.role == Role::any_name ? name : member.key));
    switch (member.role) {
      case Role::name: parts.push_back(ir_.literal(json_string(name))); break;
      case Role::id:
        parts.push_back(ir_.sequence({ir_.literal("\""), id(form.id_pattern, name), ir_.literal("\"")}));
        break;
      case Role::constant: parts.push_back(ir_.literal(member.constant)); break;
      case Role::inner: parts.push_back(object(form, member.members, codec, tool)); break;
      case Role::arguments:
      case Role::any_name: parts.push_back(arguments_.of(codec, tool, nullptr)); break;
    }
  }
  parts.push_back(json.close('}'));
  return ir_.sequence(parts);
}

}  // namespace parlance::grammar
