// Grammars: constrain what a model may write, so that its reply is well formed and its calls match their tools'
// schemas.
//
//     parlance::GrammarOptions options;
//     options.tools = request_tools;                     // JSON, as in a request
//     options.choice = parlance::ToolChoice::required;
//     auto grammar = parlance::make_grammar(format, options);
//     if (!grammar) return report(grammar.error());
//     sampler.use(grammar->to_text(parlance::GrammarSyntax::gbnf));
//     for (const parlance::GrammarNote& note : grammar->notes()) log(note.path, note.keyword, note.why);
//
// Grammar and reader are made from the same ReplyFormat: ReplyParser reads whatever the grammar allows without a
// malformed event. docs/grammar.md says how each keyword of JSON Schema is enforced.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  named,      ///< at least one call, of the tool GrammarOptions::name
};

/// The form of the content of a reply without calls: a request's `response_format`.
struct ResponseFormat {
  enum class Kind : std::uint8_t {
    text,         ///< any text
    json_object,  ///< any JSON object
    json_schema,  ///< JSON that `schema` allows
    regex,        ///< the whole text matches `pattern`, a regular expression as in JSON Schema
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
  /// `tools` of a request, as JSON: OpenAI's objects, custom tools too, or the inner objects alone; "": no tools.
  std::string tools{};
  std::string tools_name = "<tools>";  ///< what errors call their text
  ToolChoice choice = ToolChoice::automatic;
  std::string name{};           ///< named: the tool
  bool parallel = true;         ///< false: at most one call. Without effect if the format allows only one
  std::uint32_t max_calls = 0;  ///< at most this many calls; 0: any number. Above 64: no limit, and a note says so
  ResponseFormat response{};    ///< reasoning may come before it, and calls in its place if `choice` allows
  bool reasoning = true;        ///< false: no reasoning; if the prompt has opened it, the reply must close it at once
  /// The end of the prompt, from the assistant's turn on; unset: ReplyFormat::prompt.
  std::optional<std::string> prompt{};
  /// True: allow everything that the schemas do not forbid: members that they do not declare, any type if they declare
  /// none, any string for a `format`. False, which suits models better: allow these only if a schema asks for them.
  bool open = false;
  /// True: members of objects may come in any order. With up to five members each is written exactly once. With more, a
  /// member may repeat, and only five of the required ones are enforced; notes say so. Arguments that are not JSON may
  /// change their order only up to five members.
  bool any_order = false;
  /// True: allow text between and after calls, with ToolChoice::automatic and if calls have markers. If text is not
  /// possible there, a note says so.
  bool text_around_calls = false;
  /// Control tokens of the model's tokenizer (TokenizerFacts::added, control_tokens()). Lark needs them: a marker of
  /// the format that is a control token must be written as a token there. GBNF and structural tags match tokens by
  /// their text.
  std::vector<AddedToken> control{};
  bool operator==(const GrammarOptions&) const = default;
};

/// A place where the grammar allows more than a schema, or excludes something.
struct GrammarNote {
  std::string path;     ///< of the schema in the tools: "[0].function.parameters.properties.when"; "" for the whole
  std::string keyword;  ///< e.g. "uniqueItems"; "" for the schema as a whole
  std::string why;
  bool left_out = false;  ///< true: the grammar excludes this tool, member, value, order or text; false: it allows more
};

/// The languages of grammars.
enum class GrammarSyntax : std::uint8_t {
  gbnf,            ///< llama.cpp
  lark,            ///< llguidance
  structural_tag,  ///< xgrammar: JSON
  json_schema,     ///< for engines that know nothing else: a list of calls {"name": …, "arguments": …}
};
inline constexpr std::size_t kGrammarSyntaxes = 4;
/// "gbnf", "lark", "structural-tag", "json-schema", in the order of GrammarSyntax.
std::span<const std::string_view> grammar_syntax_names();
std::string_view name_of(GrammarSyntax syntax);
/// "llama.cpp", "llguidance", "xgrammar"; "" for json_schema, which belongs to no single engine.
std::string_view engine_of(GrammarSyntax syntax);
std::optional<GrammarSyntax> find_grammar_syntax(std::string_view name);

/// What activates a lazy grammar: the engine searches the reply so far for it.
struct GrammarTrigger {
  enum class Kind : std::uint8_t {
    word,     ///< this text, anywhere
    pattern,  ///< an ECMAScript regular expression over the whole reply so far; the grammar starts at its first group
  };
  Kind kind = Kind::word;
  std::string value;
};

/// A grammar of calls only. It becomes active when a call begins; until then it does not constrain text, and costs
/// nothing.
struct LazyGrammar {
  std::string grammar;  ///< GBNF, from the trigger's text on
  std::vector<GrammarTrigger> triggers;
  /// Texts that the engine must print even if they are control tokens, each once: the opening markers of calls, and the
  /// tokens of GrammarOptions::control in calls and around reasoning. llama-server refuses a trigger token that is not
  /// in this list.
  std::vector<std::string> preserved;
};

struct ValueGrammarOptions;

/// A grammar of replies or of values.
///
/// An immutable value, cheap to copy; a moved-from grammar is unchanged. Threads: any.
class Grammar {
 public:
  Grammar(const Grammar&) noexcept = default;
  Grammar& operator=(const Grammar&) noexcept = default;
  ~Grammar() = default;

  /// The grammar as text. The same grammar gives the same text.
  std::string to_text(GrammarSyntax syntax) const;
  /// What is wrong with the grammar in this syntax alone: without a tokenizer's control tokens, the marks of a Lark
  /// grammar are text. "" for nothing.
  std::string warning(GrammarSyntax syntax) const;
  /// The grammar in llama.cpp's lazy form (`grammar_lazy`, `grammar_triggers`).
  /// Fails with: value if a call is required or the response has a form (then text before a call is constrained too),
  /// if there are no calls, or if calls have no opening marker.
  Result<LazyGrammar> to_lazy() const;
  /// The places where the grammar allows more than the schemas, or less, in the order in which they were found.
  const std::vector<GrammarNote>& notes() const&;
  std::vector<GrammarNote> notes() const&&;
  /// Whether the grammar accepts this whole text, for tests and tools: a byte of it takes 2 to 10 µs and up to 5 KiB.
  /// Where a pattern can match in many ways, as `.*b.*` can, time and memory grow with the square of the text's size.
  bool accepts(std::string_view text) const;
  /// Whether the grammar accepts no text at all, because no value fits the schema.
  bool is_empty() const;
  /// The form of the content for which it was made.
  ResponseFormat::Kind response() const;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  friend Result<Grammar> make_grammar(const ReplyFormat& format, const GrammarOptions& options);
  friend Result<Grammar> make_value_grammar(std::string_view schema, const ValueGrammarOptions& options);
  struct Data;
  explicit Grammar(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  const Data& inside() const { return *data_; }

  std::shared_ptr<const Data> data_;
};

/// The grammar of a reply in this format, from the end of the prompt to where the model stops.
///
/// If the grammar cannot express a keyword of a schema, it allows more, with a note. It leaves out a part of a schema
/// that no value fits, and if necessary the whole tool, with a note. Time and memory are bounded for any schema.
/// Fails with: json (place) if the tools are not JSON; conversation if they are not a list of tools; value if
/// ReplyFormat::validate() refuses the format, if a call is required but there is no tool (or no tool of that name, or
/// no tool whose schema a value fits) or the format has no calls, if the response's schema is not JSON or its pattern
/// is not supported, or if no response fits.
Result<Grammar> make_grammar(const ReplyFormat& format, const GrammarOptions& options = {});

/// A grammar and its text in one syntax.
struct PrintedGrammar {
  Grammar grammar;
  std::shared_ptr<const std::string> text;
};

/// A cache of grammars and their texts. Most requests to a server have the same tools as an earlier one, and so share
/// its grammar. Requests share a grammar if format and options are equal, member by member. Errors are not cached.
///
///     parlance::GrammarCache grammars;                               // one for all requests, of all threads
///     auto text = grammars.text(reply->format.source(), *options, parlance::GrammarSyntax::gbnf);
///     if (!text) return fail(text.error());
///     sampler.use(**text);
///
/// Threads: any. A thread that makes a grammar does not block the others. If two make the same grammar, one is kept.
class GrammarCache {
 public:
  /// Keeps at most so many grammars, and about so many bytes of grammars and texts, and drops the least recently used.
  /// A grammar larger than that is made each time.
  explicit GrammarCache(std::size_t most_grammars = 64, std::size_t most_bytes = std::size_t{64} << 20);
  GrammarCache(GrammarCache&&) noexcept;
  GrammarCache& operator=(GrammarCache&&) noexcept;
  ~GrammarCache();

  /// Like make_grammar(), and fails as it does.
  Result<Grammar> get(const ReplyFormat& format, const GrammarOptions& options);
  /// The text of that grammar (Grammar::to_text()), made once.
  Result<std::shared_ptr<const std::string>> text(const ReplyFormat& format, const GrammarOptions& options,
                                                  GrammarSyntax syntax);

  /// Both, in one search: the text for the engine, the grammar for its notes.
  Result<PrintedGrammar> printed(const ReplyFormat& format, const GrammarOptions& options, GrammarSyntax syntax);

  struct Use {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;  ///< grammars made
    std::size_t grammars = 0;  ///< kept now
    std::size_t bytes = 0;     ///< approximate size of these
  };
  Use use() const;
  /// Drops all grammars. Grammars and texts that callers hold stay valid.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Options of make_value_grammar().
struct ValueGrammarOptions {
  bool open = false;              ///< as GrammarOptions::open
  bool any_order = false;         ///< as GrammarOptions::any_order
  std::string name = "<schema>";  ///< the name of the schema's text in errors
};

/// The grammar of a JSON text that a schema allows, as for a request's `response_format`.
/// Fails with: json (place) if the schema is not JSON. If no value fits the schema, the grammar accepts nothing: see
/// Grammar::is_empty().
Result<Grammar> make_value_grammar(std::string_view schema, const ValueGrammarOptions& options = {});

}  // namespace parlance
