// Passes that fit a conversation to what one template can show; adapt() (parlance/derive.h) chooses among them.
//
// Each takes a message and returns it, changed or not, or works on all messages at once. None loses text: what cannot
// be handed over otherwise stays as it is, or fails.
#pragma once
#include <string>
#include <vector>

#include "conversation/pass.h"

namespace parlance::passes {

// ---- content and reasoning: content.cpp

Value content_parts(Normaliser& n, Value message);
Value one_part(Normaliser& n, Value message);
Value text_parts(Normaliser& n, Value message);
Value calls_null_content(Normaliser& n, Value message);
Value calls_no_content(Normaliser& n, Value message);
Value reasoning_names(Normaliser& n, Value message);
Value reasoning_key(Normaliser& n, Value message);
void join_reasoning(Normaliser& n);
Value reasoning_part(Normaliser& n, Value message);

// ---- the effort of reasoning: effort.cpp

/// What a request may ask for.
inline constexpr std::string_view kEfforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
/// How much reasoning a request asks for, in OpenAI's words: its `reasoning_effort` or `reasoning.effort`, Ollama's
/// `think` ("none" where that is false), or "none" for Anthropic's `thinking` of the type disabled and OpenRouter's
/// `reasoning` with `"enabled": false`; "" where it does not say.
std::string_view effort_asked_for(Value variables);
/// What a `think` or `enabled` that is true asks for: reasoning, and no level of it.
inline constexpr std::string_view kAnyEffort = "any";
/// One member of a request that asks for an effort.
struct EffortSaid {
  std::string_view name;    ///< "reasoning"
  std::string_view effort;  ///< "low"; kAnyEffort
  std::string path;         ///< in the request: "reasoning.effort", "chat_template_kwargs.think"
};
/// The effort that the member or variable `name` asks for with this value; "" for none.
std::string_view effort_said(std::string_view name, Value given);
/// All that the request says of an effort and nobody outside of it overrules. The first is heeded.
std::vector<EffortSaid> efforts_said(const ConversationState& state);
/// Where the request asks for the effort that is heeded; the variable's name where it does not.
std::string place_of_effort(const ConversationState& state);
/// Whether two efforts cannot both be heeded.
bool contradict(std::string_view effort, std::string_view other);
/// Whether another member of the request asks for an effort that contradicts what `name` says, and is heeded.
bool is_overruled(const ConversationState& state, std::string_view name);
/// Whether these variables ask for an effort, be it any.
bool says_effort(Value variables);
/// What says nothing of an effort is taken away where it is null, and noted where it is no word.
void unsaid_effort(Normaliser& n);
void reasoning_effort(Normaliser& n);
/// Notes that say where an effort is not taken as it was asked for.
std::vector<std::string> notes_of_effort(const Conversation& conversation);
/// To be called where a variable gets another value than the passes gave it: notes it if that was for the effort of
/// reasoning.
void note_overruled_effort(ConversationState& state, std::string_view variable, std::string_view json);

// ---- images, sounds, films: media_parts.cpp

Value image_parts(Normaliser& n, Value message);
Value text_only(Normaliser& n, Value message);
Value part_types(Normaliser& n, Value message);
Value no_place(Normaliser& n, Value message);
/// As no_place does, where content becomes one text: a part of a type that no experiment knows, and without a text.
void refuse_unknown_part(Normaliser& n, Value message, Value part);

// ---- nulls of tables: null_columns.cpp

void null_columns(Normaliser& n);

// ---- calls: calls.cpp

Value arguments_text(Normaliser& n, Value message);
void order_results(Normaliser& n);
void missing_ids(Normaliser& n);
void short_ids(Normaliser& n);
void named_ids(Normaliser& n);
/// For templates that go through the tools without asking whether there are any.
void empty_tools(Normaliser& n);

// ---- roles and turns: turns.cpp

void join_turns(Normaliser& n);
Value developer_role(Normaliser& n, Value message);
void join_systems(Normaliser& n);
void gather_systems(Normaliser& n);
void late_system(Normaliser& n);
void first_system(Normaliser& n);
void join_users(Normaliser& n);

}  // namespace parlance::passes
