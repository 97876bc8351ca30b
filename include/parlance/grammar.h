// Grammars: what a model may write, so that its reply is well formed and its calls fit their tools.
//
//     parlance::GrammarOptions options;
//     options.tools = request_tools;                     // JSON, as in a request
//     options.choice = parlance::ToolChoice::required;
//     auto grammar = parlance::make_grammar(format, options);
//     if (!grammar) return report(grammar.error());
//     sampler.use(grammar->to_text(parlance::GrammarSyntax::gbnf));
//     for (const parlance::GrammarNote& note : grammar->notes()) log(note.path, note.keyword, note.why);
//
// The grammar comes from the same ReplyFormat as the reader: what it allows, ReplyParser reads without a malformed event.
// docs/grammar.md says what each keyword of JSON Schema becomes.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_format.h"
#include "parlance/result.h"
#include "parlance/tokenizer.h"

namespace parlance {

/// Whether a reply calls tools.
enum class ToolChoice : std::uint8_t {
  automatic,  ///< the model decides
  required,   ///< at least one call
  none,       ///< no call
  named,      ///< GrammarOptions::name is called
};

/// What an answer that is no call has to be: a request's `response_format`.
struct ResponseFormat {
  enum class Kind : std::uint8_t {
    text,         ///< any text
    json_object,  ///< some object of JSON
    json_schema,  ///< JSON by `schema`
    regex,        ///< all of it matches `pattern`, written as in JSON Schema
    choice,       ///< one of `choices`
  };
  Kind kind = Kind::text;
  std::string schema{};
  std::string pattern{};
  std::vector<std::string> choices{};
  std::string name = "<response_format>";  ///< what errors and notes call it
  bool operator==(const ResponseFormat&) const = default;
};

/// What a grammar allows.
struct GrammarOptions {
  std::string tools{};          ///< `tools` of a request, as JSON: OpenAI's objects, custom tools too, or the inner ones alone; "": none
  std::string tools_name = "<tools>";  ///< what errors call their text
  ToolChoice choice = ToolChoice::automatic;
  std::string name{};           ///< named: the tool
  bool parallel = true;         ///< false: at most one call. A format that allows one has only one in any case
  std::uint32_t max_calls = 0;  ///< at most so many calls; 0: any number. Up to 64 are counted, more are not, with a note
  ResponseFormat response{};    ///< reasoning may stand before it; calls in its place, as `choice` says
  bool reasoning = true;        ///< false: none, but what the prompt has opened is closed
  /// What the prompt of the reply ends with, from the assistant's turn on; nothing: ReplyFormat::prompt.
  std::optional<std::string> prompt{};
  /// True: all that the schemas allow: members that they do not name, any type where they name none, and any text where
  /// they name a `format`. False, which suits models better: that only where a schema asks for it.
  bool open = false;
  /// True: members of objects come in any order. Up to five are each written once; of more, each may come again, and of those
  /// that are required up to five are sure to come, as notes say. Arguments that are no JSON keep their order past five.
  bool any_order = false;
  /// True: where the model decides and calls are marked, text may also stand between calls and behind them; a note says where
  /// it may not.
  bool text_around_calls = false;
  /// Control tokens of the model's tokenizer (TokenizerFacts::added, control_tokens()). A marker of the format that is one is
  /// written as a token where an engine takes it no other way: in Lark. GBNF and structural tags match tokens by their text.
  std::vector<AddedToken> control{};
};

/// What a schema says that the grammar does not hold a model to, which allows more; or what it leaves out.
struct GrammarNote {
  std::string path;     ///< of the schema in the tools: "[0].function.parameters.properties.when"; "" for the whole
  std::string keyword;  ///< e.g. "uniqueItems"; "" for the schema as a whole
  std::string why;
  bool left_out = false;  ///< a tool, a member, a value, an order or text that no reply has; false: the grammar allows more
};

/// The languages of grammars.
enum class GrammarSyntax : std::uint8_t {
  gbnf,            ///< llama.cpp
  lark,            ///< llguidance
  structural_tag,  ///< xgrammar: JSON
  json_schema,     ///< for engines that know nothing else: a list of calls {"name": …, "arguments": …}
};
/// "gbnf", "lark", "structural-tag", "json-schema".
std::string_view name_of(GrammarSyntax syntax);
std::optional<GrammarSyntax> find_grammar_syntax(std::string_view name);

/// Where a lazy grammar sets in: an engine looks for it in all that was written so far.
struct GrammarTrigger {
  enum class Kind : std::uint8_t {
    word,     ///< this text, wherever it stands
    pattern,  ///< ECMAScript's regular expression of all that was written; its first group is where the grammar sets in
  };
  Kind kind = Kind::word;
  std::string value;
};

/// A grammar of calls alone, which sets in where one begins. Until then text is free, and costs nothing.
struct LazyGrammar {
  std::string grammar;  ///< GBNF, from the trigger's text on
  std::vector<GrammarTrigger> triggers;
};

/// A grammar of replies or of values.
///
/// A value, cheap to copy; never changed.   Threads: any.
class Grammar {
 public:
  /// The grammar as text. The same grammar gives the same text.
  std::string to_text(GrammarSyntax syntax) const;
  /// The grammar for llama.cpp's lazy way (`grammar_lazy`, `grammar_triggers`).
  /// Fails with: value where text is not free before a call (a call is demanded, or a response has a form), where there is no
  /// call, or where a call begins with no text of its own.
  Result<LazyGrammar> to_lazy() const;
  /// Where it allows more than the schemas do, or less, in the order in which that was found.
  const std::vector<GrammarNote>& notes() const;
  /// Whether the grammar allows this text, from its first byte to its last. Takes time and memory for the text's size times
  /// that of the rules in use: for tests and tools.
  bool accepts(std::string_view text) const;
  /// Whether it accepts no text at all, since no value fits the schema.
  bool is_empty() const;

  struct Data;
  explicit Grammar(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  /// The inside, for parlance's own modules.
  const Data& data() const { return *data_; }

 private:
  std::shared_ptr<const Data> data_;
};

/// The grammar of a reply in this format: from where the prompt ends to where the model stops.
///
/// What a grammar cannot say of a schema is allowed, and noted; what no value fits is left out, and so is its tool, with a note.
/// Time and memory are bounded, whatever the schemas say.
/// Fails with: json (place) when the tools are no JSON; conversation when they are no list of tools; value when a call is demanded and
/// there is no tool (or none of that name, or none that a value fits), when the format has no calls, when the response's
/// schema is no JSON or its pattern is not understood, or when no response fits.
Result<Grammar> make_grammar(const ReplyFormat& format, const GrammarOptions& options = {});

/// How values are written by a schema.
struct ValueGrammarOptions {
  bool open = false;                   ///< as GrammarOptions::open
  bool any_order = false;              ///< as GrammarOptions::any_order
  std::string_view name = "<schema>";  ///< what errors call the schema's text
};

/// The grammar of a JSON text by a schema, as for a request's `response_format`.
/// Fails with: json (place) when the schema is no JSON. A schema that no value fits gives a grammar that accepts nothing:
/// Grammar::is_empty().
Result<Grammar> make_value_grammar(std::string_view schema, const ValueGrammarOptions& options = {});

}  // namespace parlance
