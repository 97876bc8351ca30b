// What a session promises behind a sampled reply: whichever form of the reply goes on, the new text is the end of a
// render of the whole conversation, with the calls, and has the results in it; else it is refused. On every template of
// the corpus and of the tree, and on two that write results by the calls before them.
//
//     behind_law --formats FOLDER [--corpus FOLDER] [--tokenizer PATH]
//
// A reply is sampled as the template writes its calls, with text before them and behind, where a template may have
// another order. Begin reading at check_template.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "parlance/sampled_reply.h"
#include "token_material.h"

namespace parlance::testing {
namespace {

/// Writes results within the turn of the calls that they answer, and the content behind both.
constexpr const char* kWithin =
    "{% for m in messages %}{% if m.role == 'tool' %}{% continue %}{% endif %}<|im_start|>{{ m.role }}\n"
    "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}</tool_call>"
    "{% for r in messages[loop.index0 + 1:] if r.role == 'tool' and r.tool_call_id == c.id %}"
    "<tool_response>{{ c.function.name }}={{ r.content }}</tool_response>{% endfor %}{% endfor %}"
    "{{ m.content }}{% if not (m.tool_calls and messages[-1].role == 'tool') %}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt and messages[-1].role != 'tool' %}<|im_start|>assistant\n{% endif %}";
/// Looks a result's name up among the calls.
constexpr const char* kByName =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'tool' %}{% set id = m.tool_call_id %}"
    "{% for a in messages %}{% for c in a.tool_calls or [] if c.id == id %}{{ c.function.name }}{% endfor %}{% endfor "
    "%}="
    "{% endif %}{{ m.content | trim }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

struct Counts {
  std::size_t extended = 0;
  std::size_t refused = 0;
  std::size_t unusable = 0;  ///< the template does not write such a conversation, or shows no results
  std::size_t wrong = 0;
};

const Message kAsks = {.role = "user", .content = "Hi"};

std::vector<ToolCall> calls(std::size_t count) {
  std::vector<ToolCall> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back({"abcdefgh" + std::to_string(i), i == 0 ? "look" : "see", "{}"});
  return made;
}

std::vector<Message> results(std::size_t count) {
  std::vector<Message> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(
        {.role = "tool", .content = "RESULT" + std::to_string(i), .tool_call_id = "abcdefgh" + std::to_string(i)});
  return made;
}

Conversation conversation(const std::vector<Message>& messages) {
  Conversation chat;
  for (const Message& message : messages)
    if (!chat.add(message)) std::abort();
  const char* const tool = R"({"type":"function","function":{"name":"NAME","description":"d","parameters":)"
                           R"({"type":"object","properties":{}}}})";
  std::string look = tool, see = tool;
  look.replace(look.find("NAME"), 4, "look");
  see.replace(see.find("NAME"), 4, "see");
  if (!chat.set_json("tools", "[" + look + "," + see + "]")) std::abort();
  return chat;
}

std::optional<std::string> text_of(const Template& chat_template, const std::vector<Message>& messages, bool opens) {
  Result<Rendering> made =
      chat_template.render(conversation(messages), {.add_generation_prompt = opens, .now = kClock});
  return made ? std::optional<std::string>(made->text()) : std::nullopt;
}

std::vector<TokenId> encoded(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<EncodedToken> tokens;
  if (!tokenizer.encode(text, nullptr, tokens)) std::abort();
  std::vector<TokenId> ids;
  for (const EncodedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

std::string spelt(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.token_text(id);
  return text;
}

/// Whether a session is as before where the reply without its calls is refused, also by one who takes whatever the
/// template writes for what was sampled.
bool forgets_refused(Session session, Message reply, std::span<const Message> more) {
  std::vector<Message> meant = {reply}, other = {reply};
  meant.insert(meant.end(), more.begin(), more.end());
  other.front().tool_calls.clear();
  other.insert(other.end(), more.begin(), more.end());
  const auto same = [](const TwoWritings& both) -> std::optional<std::size_t> {
    if (both.written.empty()) return std::nullopt;
    return both.written.front().text.size();
  };
  const std::string before = session.save();
  return session.extend(other, {}, same, meant) || session.save() == before;
}

/// "" or what is wrong.
std::string fault_of(const Template& chat_template, const Tokenizer& tokenizer, const Message& reply,
                     std::string_view sampled, Counts& counts) {
  const std::vector<Message> more = results(reply.tool_calls.size());
  std::vector<Message> all = {kAsks, reply};
  all.insert(all.end(), more.begin(), more.end());
  const std::optional<std::string> whole = text_of(chat_template, all, true);
  Result<Session> session =
      Session::begin(chat_template, tokenizer, conversation({kAsks}), {.render = {.now = kClock}, .tokenize = {}});
  if (!session || !whole || whole->find(more.back().content) == std::string::npos) return ++counts.unusable, "";
  session->append_sampled(encoded(tokenizer, sampled));
  if (!forgets_refused(session->copy(), reply, more)) return "what was refused has changed the session";
  const Result<Extension> extension = extend_behind(*session, reply, sampled, more);
  if (!extension) {
    ++counts.refused;
    return extension.error().code() == ErrorCode::history_rewritten ? "" : extension.error().display();
  }
  ++counts.extended;
  const std::string added = spelt(tokenizer, extension->ids);
  for (const Message& one : more)
    if (added.find(one.content) == std::string::npos) return "a result is lost: " + added;
  return whole->ends_with(added) ? "" : "new is\n" + added + "\n=== instead of the end of ===\n" + *whole;
}

/// What both begin with, up to a mark that they may differ in.
std::string common_begin(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  std::string both(a.begin(), end);
  while (both.ends_with('<')) both.pop_back();
  return both;
}

/// Text that the model says before its calls or behind them, or blanks.
void check_reply(const Template& chat_template, const Tokenizer& tokenizer, std::string_view call, Message reply,
                 Counts& counts) {
  const std::string written(call), thought = "<think>\nHm.\n</think>\n\n";
  struct Case {
    std::string sampled, content, reasoning;
  };
  const Case cases[] = {{written, "", ""},
                        {"Wait." + written, "Wait.", ""},
                        {written + "Wait.", "Wait.", ""},
                        {"\n" + written, "\n", ""},
                        {thought + "Wait." + written, "Wait.", "Hm."}};
  for (const Case& one : cases) {
    reply.content = one.content;
    reply.reasoning_content = one.reasoning;
    const std::string fault = fault_of(chat_template, tokenizer, reply, one.sampled, counts);
    if (fault.empty() || counts.wrong++ >= 3) continue;
    std::printf("%s, behind %s: %s\n", chat_template.name().c_str(), one.sampled.c_str(), fault.c_str());
  }
}

/// Replies that end where the template ends them, and where results may follow within the turn.
void check_template(const Template& chat_template, const Tokenizer& tokenizer, std::size_t count, Counts& counts) {
  const Message reply = {.role = "assistant", .content = "", .tool_calls = calls(count)};
  std::vector<Message> all = {kAsks, reply};
  const std::optional<std::string> before = text_of(chat_template, {kAsks}, true);
  const std::optional<std::string> after = text_of(chat_template, all, false);
  for (Message& result : results(count)) all.push_back(std::move(result));
  const std::optional<std::string> whole = text_of(chat_template, all, true);
  if (!before || !after || !whole || !after->starts_with(*before) || !whole->starts_with(*before)) {
    ++counts.unusable;
    return;
  }
  for (const std::string& text : {*after, common_begin(*after, *whole)})
    check_reply(chat_template, tokenizer, std::string_view(text).substr(before->size()), reply, counts);
}

Material own_templates() {
  Material made;
  for (const char* text : {kWithin, kByName})
    made.templates.push_back(*Template::compile(text, {.name = "one of the law's own"}));
  return made;
}

}  // namespace
}  // namespace parlance::testing

int main(int argc, char** argv) {
  using namespace parlance::testing;
  auto options = options_of(argc, argv);
  const std::unique_ptr<parlance::Tokenizer> tokenizer = chosen_tokenizer(options["--tokenizer"]);
  std::vector<Material> materials = {own_templates(), own_material(options["--formats"])};
  add_corpus(materials, options["--corpus"]);
  Counts counts;
  for (const Material& material : materials)
    for (const parlance::Template& chat_template : material.templates)
      for (const std::size_t count : {1, 2}) check_template(chat_template, *tokenizer, count, counts);
  std::printf("%zu extended, %zu refused, %zu unusable; %zu wrong\n", counts.extended, counts.refused, counts.unusable,
              counts.wrong);
  return counts.wrong == 0 && counts.extended > 0 && counts.refused > 0 ? 0 : 1;
}
