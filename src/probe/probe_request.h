// Scene: one small conversation to render as an experiment; Shot: what came of it; Prober: renders, and remembers.
//
// All texts of a scene are words that no template has ("zq answers this"), so that finding one in a prompt proves that
// the message reached it. Searching for likely words would also find the template's own text.
//
// Each experiment changes one thing in the last one. What two prompts have in common is then the template's, and where
// they differ is what the change shows. Many questions need the same scene, so a prober keeps what it has rendered.
// Begin reading at Prober::take.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parlance/derive.h"
#include "parlance/template.h"

namespace parlance::probe {

inline constexpr std::string_view kUser = "zq asks something";
inline constexpr std::string_view kNextUser = "zq asks more";
inline constexpr std::string_view kContent = "zq answers this";
inline constexpr std::string_view kReasoning = "zq reasons so";
inline constexpr std::string_view kResult = "zq result text";
/// Not the call's: a template that shows the name only in the turn of the result does not show it in the call.
inline constexpr std::string_view kResultName = "zq_answering";
inline constexpr std::string_view kSystem = "zq system text";
inline constexpr std::string_view kTools[] = {"zq_first", "zq_second", "zq_third"};
inline constexpr std::string_view kIds[] = {"zqcall001", "zqcall002", "zqcall003"};
inline constexpr std::string_view kKeyA = "zqkey_a";
inline constexpr std::string_view kKeyB = "zqkey_b";
inline constexpr std::string_view kUnknownToken = "<zq_token>";
/// The values of a probe's arguments, by call.
inline constexpr std::string_view kValuesA[] = {"zqval_a1", "zqval_a2", "zqval_a3"};
inline constexpr std::string_view kValuesB[] = {"zqval_b1", "zqval_b2", "zqval_b3"};

struct SceneCall {
  std::string name;
  std::string id;
  std::string arguments;  ///< a JSON object
};

/// How a template wants calls and content to be handed over.
struct Convention {
  enum class Content : std::uint8_t { empty, null, absent, text };
  enum class Ids : std::uint8_t {
    free,   ///< nine letters and digits, which all templates take
    named,  ///< functions.NAME:0, for templates that show the name only there
    none,
  };
  bool text_arguments = false;
  Content beside_calls = Content::empty;
  Ids ids = Ids::free;
  bool parts = false;        ///< content as a list of one text part
  bool tools = true;         ///< tools may be declared where nobody calls one
  bool tools_called = true;  ///< and where somebody does
  bool operator==(const Convention&) const = default;
};

/// What follows the assistant's turn.
enum class Next : std::uint8_t { nothing, result, user };

struct Scene {
  bool assistant = true;                                      ///< there is an assistant's turn
  std::optional<std::string> content{std::string(kContent)};  ///< JSON is made of it; none: as the convention says
  std::string content_json{};                                 ///< instead of content
  std::string reasoning{};
  std::string reasoning_key{};
  std::vector<SceneCall> calls{};
  Next next = Next::nothing;
  bool generation = false;
  bool tools = true;
  bool earlier_turn = false;                                     ///< an exchange with calls stands before
  std::string last_message{};                                    ///< one more behind all others, as JSON
  std::vector<std::pair<std::string, std::string>> variables{};  ///< name, JSON
};

/// The tools that all probes declare: the first takes arguments of each type, so that what depends on a schema shows,
/// the others the two texts alone, since most of what a probe costs is writing them.
const std::string& tools_json();
/// The same with these schemas of their two texts, as JSON.
std::string tools_with_texts(std::string_view of_a, std::string_view of_b);
/// The calls of most probes: `count` of them, two text arguments each.
std::vector<SceneCall> plain_calls(std::size_t count);

/// A part of a prompt, and which byte of the template each byte is (0: none).
struct Stretch {
  std::string_view text;
  std::span<const std::uint32_t> places;
  Stretch from(std::size_t begin) const { return {text.substr(begin), places.subspan(begin)}; }
  Stretch first(std::size_t size) const { return {text.substr(0, size), places.subspan(0, size)}; }
  Stretch part(std::size_t begin, std::size_t end) const { return from(begin).first(end - begin); }
  std::size_t size() const { return text.size(); }
};

struct Shot {
  bool rendered = false;
  std::string problem;         ///< what a template raised
  std::optional<Error> error;  ///< the same with its place, where a render failed
  bool refused = false;        ///< by raise_exception, which is an answer; else something went wrong
  std::string text;
  /// A part of the text that is the template's own from a byte on.
  struct Literal {
    std::uint32_t begin, end, place;
  };
  std::vector<Literal> literals;
  std::size_t tail_from = 0;  ///< behind the user's text
  explicit operator bool() const { return rendered; }
  Stretch whole() const;
  Stretch tail() const { return whole().from(tail_from); }

 private:
  mutable std::vector<std::uint32_t> places_;  ///< beside text, once they are asked for: few experiments need them
};
/// Does the prompt have the word? False where the template raised.
inline bool shows(const Shot& shot, std::string_view word) { return shot && shot.text.find(word) != std::string::npos; }

/// Renders scenes with one template.
class Prober {
 public:
  Prober(const Template& chat_template, const DeriveOptions& options)
      : template_(chat_template), options_(options), facts_(chat_template.facts()) {}
  /// What was rendered once is not rendered again. Lifetime: the prober's.
  const Shot& take(const Scene& scene);
  const Shot& take_json(std::string request, bool generation);
  /// The same, and nothing is kept, nor are its steps counted: for trials that are many.
  Shot take_once(const Scene& scene);
  std::size_t count() const { return count_; }
  /// The limit that a render met, the first that did.
  const std::optional<Error>& limit() const { return limit_; }
  const TemplateFacts& facts() const { return facts_; }
  const Template& chat_template() const { return template_; }
  const DeriveOptions& options() const { return options_; }
  /// Whether the template changes lists or dicts, which transformers' sandbox refuses and other programs run.
  bool makes_changes() const { return changing_.has_value(); }
  /// Variables that the template needs and nobody gave: a text stands in for each.
  const std::vector<std::string>& stand_ins() const { return stand_ins_; }
  Convention convention{};

 private:
  void fill(Shot& shot, std::string_view request, bool generation);
  Result<void> render(Conversation& chat, const RenderOptions& rendering, Rendering& prompt);
  Result<void> run(const Template& one, const Conversation& chat, RenderOptions rendering, Rendering& prompt);
  Result<void> render_once(const Conversation& chat, const RenderOptions& rendering, Rendering& prompt);
  void set_variables(Conversation& chat) const;

  const Template& template_;
  const DeriveOptions& options_;
  const TemplateFacts facts_;
  std::unordered_map<std::string, Shot> shots_;  ///< by the request, and whether it asks for a reply
  std::optional<Template> changing_;             ///< the same, allowed to change what it makes, once it tried
  std::vector<std::string> stand_ins_;
  Conversation chat_;  ///< these three are used again and again
  Rendering prompt_;
  Workspace workspace_;
  std::size_t count_ = 0;
  std::size_t kept_ = 0;     ///< bytes of shots_
  std::uint64_t steps_ = 0;  ///< that all renders took
  std::optional<Error> limit_;
};

/// Where reasoning stands in content, as a reasoning_key: `content[].type=T` for a part of the type T in a list,
/// `content.blocks[].type=T` for a block of it in an object.
inline constexpr std::string_view kPartKey = "content[].type=";
inline constexpr std::string_view kBlockKey = "content.blocks[].type=";
/// Content that holds reasoning so, as JSON; "" for the name of a member. Without content there are no further parts.
std::string content_with_reasoning(std::string_view key, std::string_view reasoning,
                                   const std::optional<std::string>& content);

/// The request of a scene, as JSON.
std::string request_of(const Scene& scene, const Convention& convention);
/// Calls as an assistant's message has them, as JSON.
std::string calls_json(const std::vector<SceneCall>& calls, const Convention& convention);
/// A part of content that is a text, as JSON.
std::string text_part(std::string_view text);
/// Other words of the same lengths, no letter of which is in its place: a template that cuts a text or changes its
/// letters renders them otherwise, one that does not read it renders the same.
std::string other_words(std::string_view text);
/// How often a word occurs.
std::size_t count_of(std::string_view text, std::string_view word);
/// A message that answers the first of plain_calls, as JSON.
std::string answer_json(std::string_view role, std::string_view content_json);

}  // namespace parlance::probe
