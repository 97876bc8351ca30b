// From a template to a ReplyFormat, by experiment. Begin reading at derive; docs/tour.md tells the steps.
//
// Why by experiment: a template writes past replies into the prompt as the model was trained to write them. So its
// output shows the format, however its text is written. A model's name, or words searched in the template's text, would
// break with the next model and with every edit of a template.
//
// The order matters. The turn comes first, since all others are looked for inside of it; calls before reasoning, since
// a template also cuts an answer at the markers of calls, and those cuts are not reasoning's; content last, since only
// then it is known which markers are not its own. What was found must then read back every turn that was rendered.
#include "parlance/derive.h"

#include <algorithm>

#include "probe/call_convention.h"
#include "probe/calls.h"
#include "probe/capabilities.h"
#include "probe/effort.h"
#include "probe/fit.h"
#include "probe/generate.h"
#include "probe/held.h"
#include "probe/lenient_forms.h"
#include "probe/media.h"
#include "probe/message_forms.h"
#include "probe/prompt_diff.h"
#include "probe/prompt_example.h"
#include "probe/quirks.h"
#include "probe/reasoning.h"
#include "probe/response_template_hint.h"
#include "probe/tag_values.h"
#include "probe/turn.h"
#include "probe/verify.h"

namespace parlance {
namespace probe {
namespace {

class Derivation {
 public:
  Derivation(const Template& chat_template, const DeriveOptions& options) : prober_(chat_template, options) {}
  Result<DerivedFormat> run() {
    CallProbe call;
    turn_ = find_facts(prober_, &call);
    const std::vector<ThinkingSwitch> switches = find_switches(prober_);
    if (turn_.found) {
      take_turn(switches);
      if (call.shows != Shows::no) take_calls(call);
      take_reasoning(call.shows != Shows::no);
      take_content();
    } else {
      out_.missing.push_back("no answer of the assistant could be rendered: " + why_no_answer(prober_));
      out_.limit = prober_.limit();
    }
    if (!call.problem.empty()) out_.missing.push_back("calls: no conversation with one renders: " + call.problem);
    find_capabilities(prober_, turn_, out_);
    out_.capabilities.efforts = efforts_of(switches, prober_.facts().syntax);
    out_.capabilities.calls = call.shows != Shows::no;
    if (const std::optional<ReplyFormat>& known = prober_.options().format) take_known(*known);
    find_shapes(prober_, out_.capabilities, kNeedsAll);
    constexpr std::string_view kShown[] = {"image_url", "input_audio", "video_url"};  // as most clients send them
    Needs media = content_of_role("user");
    for (const std::string_view type : kShown) media |= media_of_type(type);
    find_media(prober_, out_.capabilities, media);
    finish(call);
    if (prober_.options().format) hold_all();
    if (!prober_.options().format) {
      if (Result<void> added = take_what_is_told(); !added) return added.error();
      take_hint(prober_, {turn_, reasoning_, cuts_, call.next}, out_);
    }
    for (const std::string& name : prober_.stand_ins()) {
      out_.notes.push_back("the template needs the variable '" + name +
                           "', which was not given: a text stood in for it");
    }
    if (prober_.makes_changes()) {
      out_.notes.push_back(
          "the template changes lists or dicts that it made, which was allowed here: transformers' sandbox refuses it");
    }
    out_.renders = prober_.count();
    return std::move(out_);
  }

 private:
  void show(std::string field, std::string experiment, std::string_view bytes) {
    out_.evidence.push_back({std::move(field), std::move(experiment), shortened(bytes)});
  }

  void take_turn(const std::vector<ThinkingSwitch>& switches) {
    out_.format.prompt = turn_.prompt;
    show("prompt", "a prompt for a reply beside an answer", turn_.prompt);
    out_.starts = find_starts(prober_, turn_, switches);
  }

  void take_calls(const CallProbe& probe) {
    const Shot& one = prober_.take({.content = {}, .calls = plain_calls(1), .next = probe.next});
    const Shot& two = prober_.take({.content = {}, .calls = plain_calls(2), .next = probe.next});
    std::optional<FoundCalls> found = find_calls(turn_, one, two);
    if (!found) {
      out_.missing.push_back("a call shows, but not how it is written");
      return;
    }
    next_opener_ = is_blank(found->ending) ? next_opener() : "";
    if (!found->problem.empty()) out_.missing.push_back(found->problem);
    if (found->bare)
      out_.missing.push_back(
          "calls are a guess: the template prints texts in calls without quotes, and models write literals");
    bare_calls_ = found->bare;
    out_.format.parallel = found->calls > 1;
    out_.capabilities.call_ids_shown = found->ids_shown;
    call_ending_ = found->ending;
    show("calls[0]", found->calls > 1 ? "two calls beside each other" : "a call",
         body_of(turn_, found->calls > 1 ? two : one).text);
    out_.format.calls.push_back(std::move(found->form));
    mark_distinctive(out_.format.calls.front());
    out_.format.calls.front().sorted = sorts_arguments(prober_, turn_, probe.next);
    refine_tags(prober_, turn_, out_.format.calls.front(), probe.next);
    frame_calls(probe);
    frame_end_of_calls();
  }

  /// White space between what closes calls and the end of the turn is framing of what closes them.
  void frame_end_of_calls() {
    CallForm& form = out_.format.calls.front();
    ReplyMarker* close = form.close.exists()                                ? &form.close
                         : form.call.back().kind == CallPart::Kind::literal ? &form.call.back().literal
                                                                            : nullptr;
    if (close == nullptr || &form.call.front().literal == close) return;
    const std::string_view blank =
        std::string_view(call_ending_).substr(0, call_ending_.size() - trimmed_left(call_ending_).size());
    if (!close->after.starts_with(blank)) close->after = std::string(blank);
  }

  /// What begins with no tag, nor with the beginning of one, may also stand in an answer: only the name of a tool
  /// tells, or that a list of calls follows.
  static void mark_distinctive(CallForm& form) {
    const ReplyMarker& opener = form.open.exists() ? form.open : form.call.front().literal;
    const bool list = form.layout == CallLayout::list && form.call.front().kind == CallPart::Kind::object;
    form.declared_only = opener.exists() && !list && !is_distinctive(opener.texts.front());
  }

  /// Where nothing closes a turn with calls: the opener of the turn that answers them.
  std::string next_opener() {
    const Shot& last = prober_.take({.content = {}, .calls = plain_calls(1)});
    const Shot& answered = prober_.take({.content = {}, .calls = plain_calls(1), .next = Next::result});
    if (!last || !answered || !answered.text.starts_with(last.text)) return {};
    return std::string(first_tag(std::string_view(answered.text).substr(last.text.size())));
  }

  /// The white space between an answer and a call belongs to the call's opener: a line's end, where the template drops
  /// the answer.
  void frame_calls(const CallProbe& probe) {
    CallForm& form = out_.format.calls.front();
    ReplyMarker* opener = form.open.exists()                                  ? &form.open
                          : form.call.front().kind == CallPart::Kind::literal ? &form.call.front().literal
                                                                              : nullptr;
    if (opener == nullptr) return;
    const Shot& both = prober_.take({.calls = plain_calls(1), .next = probe.next});
    const std::string_view body = both ? body_of(turn_, both).text : std::string_view();
    const std::size_t said = body.find(kContent);
    if (said == std::string_view::npos) {
      if (opener->before.empty() && !tags_of(opener->texts.front()).empty()) opener->before = "\n";
      return;
    }
    const std::size_t behind = said + kContent.size();
    out_.format.text_behind_calls = body.find(kValuesA[0]) < said;
    if (frames_content(opener->texts.front(), body.substr(0, said), body.substr(behind)) &&
        form.call.front().kind != CallPart::Kind::literal) {
      CallForm bare;
      bare.call = form.call;
      bare.initial = true;
      out_.format.calls.push_back(std::move(bare));
      return;
    }
    std::size_t blank = behind;
    while (blank < body.size() && is_space(body[blank])) ++blank;
    if (!body.substr(blank).starts_with(opener->texts.front())) return;
    const std::string_view framing = body.substr(behind, blank - behind);
    // else more stands there without an answer
    if (!opener->before.ends_with(framing)) opener->before = std::string(framing);
  }

  /// Whether what seems to open calls is round the answer beside them, which has no such marks elsewhere: then models
  /// open calls with nothing.
  bool frames_content(std::string_view opener, std::string_view before, std::string_view behind) const {
    before = trimmed(before);
    if (before.empty() || !is_blank(turn_.before_content) || !opener.starts_with(before) ||
        opener.size() == before.size())
      return false;
    return trimmed_left(behind).starts_with(trimmed(opener.substr(before.size())));
  }

  /// Whether both begin with the same tag, as headers do: then each ends what stands before it.
  bool calls_begin_as_reasoning() const {
    const ReplyFormat& format = out_.format;
    if (format.calls.empty() || !format.reasoning_open.exists()) return false;
    const ReplyMarker& opener =
        format.calls.front().open.exists() ? format.calls.front().open : format.calls.front().call.front().literal;
    const std::string_view tag = first_tag(format.reasoning_open.texts.front());
    const std::size_t end = tag.find('>');
    return opener.exists() && end != tag.npos && end + 1 < tag.size() &&
           opener.texts.front().starts_with(tag.substr(0, end + 1));
  }

  void take_reasoning(bool calls_show) {
    cuts_ = find_cuts(prober_);
    drop_cuts_at_calls();
    reasoning_ = find_reasoning(prober_, turn_, {out_.starts, cuts_, calls_show});
    const FoundReasoning& found = reasoning_;
    ReplyFormat& format = out_.format;
    format.reasoning_open = found.open;
    format.reasoning_close = found.close;
    out_.capabilities.reasoning_key = found.key;
    out_.capabilities.reasoning_with_text = found.with_text;
    out_.capabilities.reasoning_with_calls = found.with_calls;
    out_.capabilities.reasoning_with_last_calls = found.with_last_calls;
    out_.capabilities.reasoning_in_history = found.in_history;
    if (found.close.exists()) show("reasoning", found.experiment, found.shown);
    if (found.open_is_guessed) {
      out_.missing.push_back("what opens reasoning is a guess: turns of the history are cut at '" +
                             found.close.texts.front() + "', and nothing shows '" + found.open.texts.front() + "'");
    }
    for (ThinkingStart& start : out_.starts)
      start.in_reasoning = ends_in_reasoning(start.prompt, found.open, found.close);
    const bool opened =
        std::any_of(out_.starts.begin(), out_.starts.end(), [](const ThinkingStart& s) { return s.in_reasoning; });
    format.calls_end_reasoning =
        found.calls_inside || calls_begin_as_reasoning() || (!out_.starts.empty() && out_.starts.front().in_reasoning);
    format.calls_end_opened_reasoning = opened && !format.calls_end_reasoning;
  }

  /// A template that takes calls out of an answer's text cuts it at their markers, which are no reasoning's.
  void drop_cuts_at_calls() {
    const std::vector<std::string> markers = markers_of_calls(out_.format);
    std::erase_if(
        cuts_, [&](const Cut& cut) { return std::find(markers.begin(), markers.end(), cut.close) != markers.end(); });
  }

  /// What stands round an answer, once the markers of reasoning are known; and the ends.
  void take_content() {
    ReplyFormat& format = out_.format;
    std::string_view before = turn_.before_content;
    for (const ReplyMarker* marker : {&format.reasoning_open, &format.reasoning_close}) strip(before, *marker);
    if (!is_blank(before)) set_content_open(before);
    std::string_view rest = turn_.after_content;
    if (format.content_open.exists() && tags_of(rest).size() > 1) {
      const std::string_view tag = first_tag(rest);
      const std::size_t end = static_cast<std::size_t>(tag.data() - rest.data()) + tag.size();
      format.content_close = marker_of(rest.substr(0, end));
      rest = rest.substr(end);
    }
    clean_calls();
    join_content_and_call();
    for (CallForm& form : format.calls) tolerate(form);
    const std::string_view last = first_tag(rest);
    if (!format.content_close.exists() && format.reasoning_close.exists() &&
        last == format.reasoning_close.texts.front()) {
      format.content_close = marker_of(last);  // it closes each part of a turn, and more may follow
      rest = rest.substr(static_cast<std::size_t>(last.data() - rest.data()) + last.size());
    }
    add_end(rest);
    for (const std::string& end : turn_.ends) add_end(end);
    add_end(call_ending_);
    if (!begins_marker(next_opener_)) add_end(next_opener_);
    if (!format.end.empty())
      show("end", "an answer as the last turn and before another", format.end.front().texts.front());
  }

  /// Whether a marker of the turn itself begins so: then it does not tell that the turn is over.
  bool begins_marker(std::string_view text) const {
    const ReplyFormat& format = out_.format;
    std::vector<const ReplyMarker*> markers = {&format.reasoning_open, &format.content_open};
    for (const CallForm& form : format.calls) markers.insert(markers.end(), {&form.open, &form.call.front().literal});
    return std::any_of(markers.begin(), markers.end(), [&](const ReplyMarker* marker) {
      return marker->exists() && marker->texts.front().starts_with(text);
    });
  }

  /// Cuts off what stands up to the end of `marker`, if it is there.
  static void strip(std::string_view& text, const ReplyMarker& marker) {
    if (!marker.exists()) return;
    const std::size_t at = text.find(marker.texts.front());
    if (at != std::string_view::npos) text = text.substr(at + marker.texts.front().size());
  }

  /// A marker before an answer may go on from the opener of the turn, which then is part of it.
  void set_content_open(std::string_view before) {
    ReplyFormat& format = out_.format;
    const std::string whole = turn_.opener + std::string(before);
    const bool is_tag = before.front() == '<' || before.front() == '[';
    const std::size_t space = turn_.opener.find_last_of(" \n\t");
    const std::size_t run = space == std::string::npos ? 0 : space + 1;
    const std::size_t chain =
        is_tag ? last_chain_begin(whole) : std::max(run, std::min(last_chain_begin(turn_.opener), turn_.opener.size()));
    const bool joined =
        chain < turn_.opener.size() && !is_space(turn_.opener.back()) && (!is_tag || turn_.opener.back() != '>');
    format.content_open = marker_of(joined ? std::string_view(whole).substr(chain) : trimmed_left(before));
    show("content.open", "an answer", before);
    if (!reasoning_.before_content.empty() && reasoning_.before_content != format.content_open.texts.front()) {
      format.content_open.texts.push_back(reasoning_.before_content);
    }
  }

  /// An answer and a call that begin alike, by whom they address, begin with the same text: the longer one.
  void join_content_and_call() {
    ReplyFormat& format = out_.format;
    if (!format.content_open.exists() || format.calls.empty()) return;
    ReplyMarker& opener =
        format.calls.front().open.exists() ? format.calls.front().open : format.calls.front().call.front().literal;
    if (!opener.exists()) return;
    const std::string call = opener.texts.front();
    const std::string content = format.content_open.texts.front();
    for (std::size_t cut = 1; cut < call.size(); ++cut) {
      const std::string_view shared = std::string_view(call).substr(cut);
      if (shared.size() < 3 || !std::string_view(content).starts_with(shared)) continue;
      format.content_open.texts = {call.substr(0, cut) + content, content};
      opener.texts.emplace_back(shared);
      return;
    }
  }

  /// Empty reasoning and empty content before calls are not the calls' own.
  void clean_calls() {
    const ReplyFormat& format = out_.format;
    if (format.calls.empty()) return;
    CallForm& form = out_.format.calls.front();
    ReplyMarker& opener = form.open.exists() ? form.open : form.call.front().literal;
    if (!opener.exists()) return;
    std::string_view text = opener.texts.front();
    for (const ReplyMarker* marker :
         {&format.reasoning_open, &format.reasoning_close, &format.content_open, &format.content_close}) {
      if (!marker->exists()) continue;
      const std::string& first = marker->texts.front();
      if (trimmed_left(text).starts_with(first) && trimmed_left(text).size() > first.size())
        text = trimmed_left(text).substr(first.size());
    }
    if (text.size() == opener.texts.front().size()) return;
    const std::string after = opener.after;
    opener = marker_of(text);
    opener.after = after;
  }

  /// Whether a text begins the assistant's turn, and markers in it: then another such turn may be the same reply.
  bool begins_turn(std::string_view text) const { return turn_.opener.starts_with(text) && begins_marker(text); }

  /// The first tag of `text`; where the turn itself begins so, with the word behind it.
  std::string_view end_of_turn(std::string_view text) const {
    const std::string_view tag = first_tag(text);
    if (tag.empty() || !begins_turn(tag)) return tag;
    const std::size_t from = static_cast<std::size_t>(tag.data() - text.data());
    std::size_t end = from + tag.size();
    while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') ++end;
    return text.substr(from, end - from);
  }

  void add_end(std::string_view text) {
    const std::string_view tag = end_of_turn(text);
    if (out_.format.reasoning_close.exists() && tag == out_.format.reasoning_close.texts.front()) {
      if (!out_.format.content_close.exists()) out_.format.content_close = marker_of(tag);
      return;
    }
    if (out_.format.content_close.exists() && tag == out_.format.content_close.texts.front()) return;
    end_unknown_ = end_unknown_ || tag.find(kUnknownToken) != std::string_view::npos;
    if (tag.empty() || tag.find(kUnknownToken) != std::string_view::npos || tag.find("zq") != std::string_view::npos)
      return;
    if (begins_turn(tag)) {  // it ends the turn only where nothing follows
      std::vector<std::string>& last = out_.format.last;
      if (std::find(last.begin(), last.end(), tag) == last.end()) last.emplace_back(tag);
      return;
    }
    for (const ReplyMarker& known : out_.format.end) {
      if (known.texts.front() == tag) return;
    }
    ReplyMarker marker;
    marker.texts = {std::string(tag)};
    marker.before = std::string(text.substr(0, static_cast<std::size_t>(tag.data() - text.data())));
    add_look_alikes(marker);
    out_.format.end.push_back(marker);
  }

  /// What nothing rendered shows: an example in the prompt's words, and the quirks that are known.
  Result<void> take_what_is_told() {
    if (!turn_.found) return {};
    const Shot& prompt = prober_.take({.assistant = false, .generation = true});
    if (out_.format.calls.empty() && prompt) {
      if (std::optional<CallForm> form = find_prose(prompt.text)) {
        tolerate(*form);
        out_.format.calls.push_back(std::move(*form));
        show("calls[0]", "an example in the prompt", "");
        out_.missing.push_back("calls are a guess: the template shows none, and tells of them in words");
      }
    }
    if (!out_.format.reasoning_close.exists()) take_told_reasoning();
    const QuirkFacts facts{prompt.text, end_unknown_ || out_.format.end.empty(),
                           [&](const ReplyFormat& format) { return first_loss(format); }};
    if (Result<void> added = add_quirks(out_, facts); !added) return added;
    hold_all();
    return {};
  }

  /// What turns were not written of: once all markers are known, those that quirks add among them.
  void hold_all() {
    if (!turn_.found) return;
    for (ThinkingStart& start : out_.starts)
      start.in_reasoning = ends_in_reasoning(start.prompt, out_.format.reasoning_open, out_.format.reasoning_close);
    hold(turn_, cuts_, out_);
    if (!out_.missing.empty()) out_.verdict = Verdict::partial;
  }

  /// Tags that a prompt names in its words, under some setting of thinking.
  void take_told_reasoning() {
    for (const ThinkingStart& start : out_.starts) {
      Scene scene{.assistant = false, .generation = true, .tools = false};
      if (!start.variable.empty()) scene.variables = {{start.variable, start.value}};
      const Shot& shot = prober_.take(scene);  // templates that declare tools may say nothing else
      const std::optional<ToldTags> told =
          find_told_tags(std::string_view(shot.text).substr(0, shot.text.rfind(kUser)));
      if (!told) continue;
      ReplyFormat format = out_.format;
      format.reasoning_open = told->reasoning_open;
      format.reasoning_close = told->reasoning_close;
      if (!format.content_open.exists()) {
        format.content_open = told->content_open;
        format.content_close = told->content_close;
      }
      if (!first_loss(format).empty()) continue;
      out_.format = std::move(format);
      show("reasoning", "the prompt's words", out_.format.reasoning_open.texts.front());
      out_.missing.push_back("reasoning is a guess: the template shows none, and tells of it in words");
      return;
    }
  }

  /// What another format does not read back that ours does; "" if nothing.
  std::string first_loss(const ReplyFormat& format) const {
    if (const Result<void> valid = format.validate(); !valid) return std::string(valid.error().message());
    DerivedFormat tried;
    tried.format = format;
    tried.capabilities = out_.capabilities;
    read_turns(written_, turn_, tried);
    const auto is_new = [&](const std::string& one) {
      return std::find(out_.missing.begin(), out_.missing.end(), one) == out_.missing.end();
    };
    const auto found = std::find_if(tried.missing.begin(), tried.missing.end(), is_new);
    return found == tried.missing.end() ? std::string() : *found;
  }

  void take_known(const ReplyFormat& known) {
    out_.format = known;
    if (turn_.found) out_.missing.clear();
    out_.evidence = {{"all", "given", ""}};
  }

  void finish(const CallProbe& call) {
    if (!turn_.found) return;
    out_.verdict = Verdict::verified;
    for (std::string& sentence : fit(out_.format)) out_.missing.push_back(std::move(sentence));
    if (out_.format.validate()) {
      written_ = write_all(prober_, {turn_, reasoning_, cuts_, call.next}, out_);
      if (bare_calls_) std::erase_if(written_, [](const WrittenTurn& one) { return !one.scene.calls.empty(); });
      read_all(written_, turn_, out_);
    }
    if (!out_.missing.empty()) out_.verdict = Verdict::partial;
  }

  Prober prober_;
  TurnFacts turn_;
  DerivedFormat out_;
  std::string call_ending_;
  std::string next_opener_;  ///< of the turn that answers calls, where nothing else ends theirs
  FoundReasoning reasoning_;
  std::vector<Cut> cuts_;
  bool bare_calls_ = false;           ///< nobody can read back what the template writes of calls
  bool end_unknown_ = false;          ///< a special token that nobody told ends turns
  std::vector<WrittenTurn> written_;  ///< what was read back
};

}  // namespace
}  // namespace probe

std::string_view name_of(Verdict verdict) {
  constexpr std::string_view kNames[] = {"none", "partial", "verified"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view name_of(CallIds ids) {
  constexpr std::string_view kNames[] = {"free", "nine", "named"};
  return kNames[static_cast<std::size_t>(ids)];
}

std::string_view name_of(MessageFate fate) {
  constexpr std::string_view kNames[] = {"untried", "renders", "dropped", "raises"};
  return kNames[static_cast<std::size_t>(fate)];
}

std::string_view name_of(MessageOrder order) {
  constexpr std::string_view kNames[] = {
      "system",       "developer",       "systems in a row", "developer behind system", "system and later system",
      "later system", "later developer", "users in a row"};
  static_assert(std::size(kNames) == kMessageOrders);
  return kNames[static_cast<std::size_t>(order)];
}

Result<DerivedFormat> derive(const Template& chat_template, const DeriveOptions& options) {
  if (options.format)
    if (Result<void> valid = options.format->validate(); !valid) return valid.error();
  return probe::Derivation(chat_template, options).run();
}

}  // namespace parlance
