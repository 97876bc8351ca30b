// What a template does to an assistant's turn, found by experiment: how replies are written, and what a template can.
//
//     auto derived = parlance::derive(*chat_template);
//     if (!derived) return report(derived.error());
//     if (derived->verdict != parlance::Verdict::none) parlance::ReplyParser parser(derived->format);
//
// Sixty to two hundred small conversations are rendered and looked at, with the origin of each byte; no name of a model and no
// text of the template is believed. What was found reads the probes' own turns, and what prompts open, before it is called verified.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/reply_format.h"
#include "parlance/result.h"
#include "parlance/template.h"

namespace parlance {

/// How far what was derived can be relied upon.
enum class Verdict : std::uint8_t {
  none,      ///< no assistant turn could be rendered: replies are plain text; `missing` says why
  partial,   ///< something was not found, or contradicts the format; `missing` says what
  verified,  ///< all that the template shows is read back as it was given, and all that its prompts open is known
};
std::string_view name_of(Verdict verdict);

/// A field of the format and the experiment that showed it.
struct DerivedField {
  std::string field;       ///< "calls[0].call"
  std::string experiment;  ///< "two calls beside one"
  std::string shown;       ///< the bytes that told, shortened
};

/// An experiment that was held against the format.
struct TriedExperiment {
  std::string kind;  ///< "answers", "reasoning", "calls", "settings" (turns under one of thinking), "prompt ends", "cuts"
  std::string name;  ///< "a text with quotes", "enable_thinking = true: a call"
};

/// What a prompt ends with under one setting of a variable that switches thinking.
struct ThinkingStart {
  std::string variable;  ///< "enable_thinking"
  std::string value;     ///< as JSON: "true"
  std::string prompt;    ///< as ReplyFormat::prompt
  bool in_reasoning = false;
};

/// The shapes in which content of a role shows: as a string, as a list of one text part; `alike`: with the same bytes.
struct ContentShape {
  std::string role;
  bool text = false;
  bool parts = false;
  bool alike = false;
};

/// Under which name a part of content that is no text shows.
struct MediaShape {
  std::string role;
  std::string type;      ///< as requests have it: "image_url"
  std::string shown_as;  ///< as the template knows it: "image"; "" where it shows under no name
};

/// Which ids of calls a template takes.
enum class CallIds : std::uint8_t {
  free,   ///< any, or it does not look at them
  nine,   ///< nine letters and digits; it raises for others
  named,  ///< it shows a tool's name only as part of the id: functions.NAME:0
};
std::string_view name_of(CallIds ids);

/// A variable that an effort of reasoning sets.
struct EffortVariable {
  std::string name;
  std::string value;        ///< as JSON
};

/// What to set where a request asks for this much reasoning.
struct EffortSetting {
  std::string effort;  ///< "none", "minimal", "low", "medium", "high", "xhigh" or "max"
  std::vector<EffortVariable> variables;  ///< none: the template has nothing that comes near
};

/// What a template can do, found by rendering. An unset text means that no experiment rendered.
struct TemplateCapabilities {
  /// Role and what becomes of a message with it, as the first message or behind the call that it answers, in whichever shape of
  /// content shows: "renders"; "dropped" where no shape shows and the template does not mind; else "raises".
  std::vector<std::pair<std::string, std::string>> roles;
  /// Order of messages and what becomes of them, in the shape of content that shows: "system", "developer" (as the first
  /// message), "systems in a row", "developer behind system", "later system",
  /// "system and later system", "later developer", "users in a row"; "dropped" where one of the two texts is.
  std::vector<std::pair<std::string, std::string>> orders;
  std::vector<ContentShape> contents; ///< by role, where any shape shows
  std::vector<MediaShape> media;      ///< images, sounds and films by role
  bool text_content = false;          ///< content as a string shows
  bool parts_content = false;         ///< content as a list of text parts shows
  bool tools = false;                 ///< tools of the request show in the prompt
  bool calls = false;                 ///< calls of the history show
  bool parallel_calls = false;        ///< two in one message show
  bool content_with_calls = false;    ///< content beside calls shows
  bool calls_behind_content = true;   ///< a call beside content can be told from it
  bool object_arguments = false;      ///< arguments as an object show as they are
  bool text_arguments = false;        ///< arguments as a string that holds JSON show as they are
  bool escapes_text = true;           ///< quotes and line ends in arguments can be told from what ends a text
  bool text_arguments_needed = false; ///< arguments as an object raise, are dropped, or show as Python prints a dict
  CallIds call_ids = CallIds::free;
  bool call_ids_shown = false;
  bool call_ids_needed = false;       ///< a call without an id raises
  bool absent_content_needed = false; ///< a call shows only beside no content
  bool null_content_needed = false;   ///< a call shows only beside content that is null
  bool reasoning_with_text = false;   ///< reasoning of the last turn shows beside an answer
  bool reasoning_with_calls = false;
  bool reasoning_with_last_calls = false;  ///< also before the calls' results are there
  bool reasoning_in_history = false;  ///< reasoning of a turn before the last user's shows
  /// The member that carries it: "reasoning_content"; "content[].type=thinking" for a part of content of that type.
  std::string reasoning_key;
  std::string reasoning_member;       ///< the same where reasoning shows without any text round it, too
  bool reasoning_excludes_content = false;  ///< beside calls the template raises for both, and shows either
  bool reasoning_names_alike = true;  ///< it shows alike as `reasoning_content`, `reasoning` and `thinking`
  std::vector<EffortSetting> efforts; ///< by effort, from none to max; empty: no variable changes how much the model reasons
};

/// Chooses the normalisation passes with which one template shows what a request says, so that both spellings of the same
/// history give the same bytes: arguments as an object or as JSON text, content as text or as one text part, empty, null
/// or missing content beside calls, reasoning under any of its names, a developer's message or the system's, ids that the
/// template refuses. And an effort of reasoning, in whichever API's words a request asks for it, becomes the variables that
/// the template reads. Where the template can do with both, nothing is added.
///
/// Adds to `options.extra_passes` and changes nothing else: `options.skip_passes` still keeps a pass from running, and a
/// request that is read as it is stays so. What the passes change is in Conversation::notes().
///
///     const ReadOptions reading = parlance::adapt(derived->capabilities);
///     auto chat = parlance::Conversation::from_json(request, reading);
ReadOptions adapt(const TemplateCapabilities& can, ReadOptions options = {});

/// What derive() found.
struct DerivedFormat {
  ReplyFormat format;
  Verdict verdict = Verdict::none;
  std::vector<std::string> missing;      ///< what keeps it from verified, as sentences
  /// Where no answer could be rendered: the limit (limit_*) that the first of the experiments met that met one. With higher limits
  /// there may be a format.
  std::optional<Error> limit;
  std::vector<std::string> notes;        ///< what a template loses, as sentences
  std::vector<DerivedField> evidence;
  std::vector<TriedExperiment> tried;  ///< what was held against the format: verified is what all of it agrees with
  std::vector<ThinkingStart> starts;
  TemplateCapabilities capabilities;
  std::size_t renders = 0;               ///< experiments made
  /// All of it as a JSON object; `format` is what ReplyFormat::from_json reads.
  std::string to_json() const;
};

/// What derive() may use besides the template.
///
///     field           default  effect
///     format          none     the format of replies, where it is known: it is tried instead of one that is derived
///     response_template  ""  the model's own, as JSON (ModelSource): used in place of what is derived if it is verified, or
///                            what is derived is not; what it says otherwise becomes notes, also that it is broken
///     special_tokens  none     variables of the model, name and text: bos_token, eos_token, …
///     variables       none     what requests say besides messages and tools, name and JSON: chat_template_kwargs
///     limits          see Limits  bounds of the experiments: all together have the steps, and each at most a 64th of the
///                                 steps and of the memory, and a prompt of at most 1 MiB; no more are made once
///                                 what is kept of them has 16 MiB
struct DeriveOptions {
  std::optional<ReplyFormat> format{};
  std::string response_template{};
  std::vector<std::pair<std::string, std::string>> special_tokens{};
  std::vector<std::pair<std::string, std::string>> variables{};
  Limits limits{};
};

/// Derives how a template's model writes replies. Takes some milliseconds; keep what it gives.
///
/// A template that raises, or reaches a limit, shows nothing: its verdict is none, which is no failure.
/// Fails with value, json where parlance's own data/quirks are broken.
/// Threads: any. Source of the method: rendering pairs of conversations that differ in one thing.
Result<DerivedFormat> derive(const Template& chat_template, const DeriveOptions& options = {});

}  // namespace parlance
