// What Session promises, on every template and conversation of the corpus and of the tree: the appended ids are those
// of a full render wherever the prefix is stable, and it refuses exactly where it is not.
//
//     session_law --formats FOLDER [--corpus FOLDER] [--tokenizer PATH] [--list yes]
//
// Each conversation is cut before each of its assistant's messages: what is before is the prompt, the message is
// sampled as the template would write it, and the session is extended by the rest. --list prints a line for each
// template. Begin reading at check_cut.
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "json/json.h"
#include "parlance/session.h"
#include "token_material.h"
#include "value/dict.h"

namespace parlance::testing {
namespace {

/// A conversation's variables, with as many of its messages as asked for.
class Cuttable {
 public:
  explicit Cuttable(const std::string& json) {
    if (!document_.parse(json) || document_.root().kind != Kind::dict) return;
    const DictEntry* messages = find_key(*document_.root().dict, "messages");
    if (messages != nullptr && messages->value.is_sequence()) messages_ = messages->value;
  }
  std::size_t size() const { return messages_.is_sequence() ? messages_.list->size : 0; }
  bool is_assistant(std::size_t number) const {
    const Value message = messages_.list->items[number];
    const DictEntry* role = message.kind == Kind::dict ? find_key(*message.dict, "role") : nullptr;
    return role != nullptr && role->value.is_leaf() && leaf_text(role->value) == "assistant";
  }
  /// What ends in an assistant's message gets no generation prompt, everything else does.
  Conversation first(std::size_t count, bool as_is) const {
    std::string json = "{\"messages\": [";
    for (std::size_t i = 0; i < count; ++i) append(json += i == 0 ? "" : ", ", messages_.list->items[i]);
    json += "]";
    for (const DictEntry& entry : entries(document_.root())) {
      const std::string_view name = leaf_text(entry.key);
      if (name == "messages" || name == "add_generation_prompt" || name == "continue_final_message") continue;
      append_json_string(json += ", ", name);
      append(json += ": ", entry.value);
    }
    Conversation chat;
    if (!chat.read(json + "}", {.normalise = !as_is})) std::abort();
    return chat;
  }

 private:
  static void append(std::string& out, Value v) {
    Arena arena;
    Limits limits;
    Runtime rt(arena, limits);
    if (!append_json(rt, out, v)) out += "null";
  }

  Document document_;
  Value messages_;
};

struct Counts {
  std::size_t cuts = 0;      ///< a prompt, a reply, and more
  std::size_t extended = 0;  ///< the prefix is stable, ids as of a full render
  std::size_t respelt = 0;   ///< the text is stable, its tokens across the border are not
  std::size_t refused = 0;
  std::size_t unusable = 0;    ///< the template refuses one of the conversations
  std::size_t long_steps = 0;  ///< of long chats that were extended to their end
  std::size_t wrong = 0;
};

struct Prompt {
  Conversation chat;
  Rendering rendering;
  PromptTokens tokens;
};

Result<Prompt> make_prompt(const Template& chat_template, const Tokenizer& tokenizer, Conversation chat,
                           const RenderOptions& options) {
  Prompt prompt{std::move(chat), {}, {}};
  RenderOptions with_mask = options;
  with_mask.want_assistant = true;
  Result<Rendering> rendering = chat_template.render(prompt.chat, with_mask);
  if (!rendering) return rendering.error();
  prompt.rendering = std::move(*rendering);
  Result<PromptTokens> tokens = tokenize(prompt.rendering, prompt.chat, tokenizer);
  if (!tokens) return tokens.error();
  prompt.tokens = std::move(*tokens);
  return prompt;
}

bool starts_with(const std::vector<TokenId>& ids, const std::vector<TokenId>& with) {
  return with.size() <= ids.size() && std::equal(with.begin(), with.end(), ids.begin());
}

std::string texts(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::string text;
  for (TokenId id : ids) text += tokenizer.token_text(id);
  return text;
}

std::vector<TokenId> ids_between(const Prompt& prompt, std::size_t begin, std::size_t end) {
  return {prompt.tokens.ids.begin() + static_cast<std::ptrdiff_t>(begin),
          prompt.tokens.ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// What the model says: the turn as the template writes it, as far as the assistant's mask goes; or as it stands in the
/// whole, up to its first control token; some other words if neither begins as the template's own generation prompt
/// does.
std::vector<TokenId> sampled_ids(const Prompt& before, const Result<Prompt>& turn, const Prompt& whole,
                                 const Tokenizer& tokenizer) {
  const std::size_t begin = before.tokens.ids.size();
  if (turn && starts_with(turn->tokens.ids, before.tokens.ids)) {
    std::size_t end = turn->tokens.ids.size();
    while (end > begin && !turn->tokens.tokens[end - 1].trained) --end;
    return ids_between(*turn, begin, end == begin ? turn->tokens.ids.size() : end);
  }
  if (starts_with(whole.tokens.ids, before.tokens.ids)) {
    std::size_t end = begin;
    while (end < whole.tokens.ids.size() && !whole.tokens.tokens[end++].control) {
    }
    return ids_between(whole, begin, end);
  }
  std::vector<EncodedToken> words;
  if (!tokenizer.encode("Something else.", nullptr, words)) std::abort();
  std::vector<TokenId> ids;
  for (const EncodedToken& token : words) ids.push_back(token.id);
  return ids;
}

void check_extension(const Tokenizer& tokenizer, const Prompt& whole, const std::vector<TokenId>& known,
                     const Result<Extension>& extension, Counts& counts, std::string& fault) {
  const bool is_stable = starts_with(whole.tokens.ids, known);
  if (!extension) {
    if (extension.error().code() != ErrorCode::history_rewritten) fault = extension.error().display();
    if (is_stable) fault = "refused, though the prefix is stable: " + extension.error().display();
    const bool names_a_place = extension.error().where().line != 0 || !extension.error().input_path().empty();
    if (!names_a_place) fault = "a refusal without a place: " + extension.error().display();
    ++counts.refused;
    return;
  }
  std::vector<TokenId> all = known;
  all.insert(all.end(), extension->ids.begin(), extension->ids.end());
  if (is_stable && all != whole.tokens.ids) fault = "other ids than those of a full render";
  if (!is_stable && extension->canonical) fault = "extended, though the prefix is not stable";
  if (!is_stable && texts(tokenizer, all) != texts(tokenizer, whole.tokens.ids)) {
    fault = "another text: " + texts(tokenizer, all) + "\n===\n" + texts(tokenizer, whole.tokens.ids);
  }
  ++(is_stable ? counts.extended : counts.respelt);
}

bool is_same(const Result<Extension>& a, const Result<Extension>& b) {
  if (!a || !b) return !a && !b && a.error().display() == b.error().display();
  return a->ids == b->ids && a->canonical == b->canonical;
}

void check_cut(const Template& chat_template, const Tokenizer& tokenizer, const Cuttable& chat, std::size_t cut,
               bool as_is, Counts& counts) {
  const RenderOptions options{.as_is = false, .now = kClock};
  const SessionOptions session_options{.render = options, .tokenize = {}};
  const Result<Prompt> whole = make_prompt(chat_template, tokenizer, chat.first(chat.size(), as_is), options);
  const Result<Prompt> before = make_prompt(chat_template, tokenizer, chat.first(cut, as_is), options);
  if (!whole || !before) {
    ++counts.unusable;
    return;
  }
  const Result<Prompt> turn = make_prompt(chat_template, tokenizer, chat.first(cut + 1, as_is), options);
  const std::vector<TokenId> sampled = sampled_ids(*before, turn, *whole, tokenizer);
  std::vector<TokenId> known = before->tokens.ids;
  known.insert(known.end(), sampled.begin(), sampled.end());
  Result<Session> session = Session::begin(chat_template, tokenizer, chat.first(cut, as_is), session_options);
  if (!session) std::abort();
  session->append_sampled(sampled);
  std::string fault;
  ++counts.cuts;
  Session copied = session->copy();
  Result<Session> restored = Session::restore(chat_template, tokenizer, session->save(), session_options);
  if (!restored) std::abort();
  const Result<Extension> extension = session->extend(chat.first(chat.size(), as_is));
  check_extension(tokenizer, *whole, known, extension, counts, fault);
  if (!is_same(extension, copied.extend(chat.first(chat.size(), as_is)))) fault = "a copy extends otherwise";
  if (!is_same(extension, restored->extend(chat.first(chat.size(), as_is)))) fault = "a saved one extends otherwise";
  Counts unused;
  check_extension(tokenizer, *whole, known,
                  extend_ids(known, chat_template, tokenizer, chat.first(chat.size(), as_is), session_options), unused,
                  fault);
  if (fault.empty()) return;
  if (counts.wrong++ < 3)
    std::printf("%s, %zu messages cut at %zu: %s\n", chat_template.name().c_str(), chat.size(), cut, fault.c_str());
}

Counts run_template(const Template& chat_template, const Tokenizer& tokenizer, const std::vector<std::string>& requests,
                    bool as_is) {
  Counts counts;
  for (const std::string& request : requests) {
    const Cuttable chat(request);
    for (std::size_t cut = 1; cut + 1 < chat.size(); ++cut) {
      if (chat.is_assistant(cut)) check_cut(chat_template, tokenizer, chat, cut, as_is, counts);
    }
  }
  return counts;
}

std::string some_text(std::mt19937_64& random) {
  static const char* const kPieces[] = {"word", " the", "  ",       "\n",   "\n\n",    "Hello", " été",
                                        "你好", "🙂",   " 42",      "3.14", "don't",   "\t",    "_x",
                                        "<",    "|",    "THE END.", " a",   "e\u0301", "    ",  "{\"k\": [1, 2]}",
                                        "ﬁ",    "...",  "-"};
  std::string text;
  for (int i = 0; i < 25; ++i) text += kPieces[random() % std::size(kPieces)];
  return text;
}

/// A long chat, extended message by message: where the template has no control tokens of the tokenizer's, encoding
/// begins anew in the middle of text.
void check_long(const Template& chat_template, const Tokenizer& tokenizer, Counts& counts) {
  std::mt19937_64 random(std::hash<std::string>()(chat_template.name()));
  const SessionOptions options{.render = {.add_generation_prompt = false, .now = kClock}, .tokenize = {}};
  Conversation chat;
  if (!chat.add({.role = "user", .content = some_text(random)})) std::abort();
  Result<Session> session = Session::begin(chat_template, tokenizer, std::move(chat), options);
  if (!session) return;
  std::size_t steps = 0;
  for (int turn = 1; turn < 60; ++turn) {
    const std::vector<Message> next = {{.role = turn % 2 == 1 ? "assistant" : "user", .content = some_text(random)}};
    const Result<Extension> extension = session->extend(next);
    if (!extension) return;  // what of it is right is told by check_cut
    ++steps;
    if (turn % 10 == 4) session = session->copy();
    if (turn % 10 == 7) session = Session::restore(chat_template, tokenizer, session->save(), options);
    if (turn % 10 != 9) continue;
    const Result<Rendering> whole = chat_template.render(session->conversation(), options.render);
    const Result<PromptTokens> tokens = tokenize(*whole, session->conversation(), tokenizer);
    const std::vector<TokenId> ids(session->ids().begin(), session->ids().end());
    const bool same = ids == tokens->ids;
    const bool as_said = extension->canonical == same && texts(tokenizer, ids) == texts(tokenizer, tokens->ids);
    if (!as_said && counts.wrong++ < 3)
      std::printf("%s: a long chat has other ids at turn %d\n", chat_template.name().c_str(), turn);
  }
  counts.long_steps += steps;
}

const char* kind_of(const Counts& counts) {
  if (counts.cuts == 0) return "no such conversation";
  if (counts.refused == 0) return "always";
  return counts.refused == counts.cuts ? "never" : "sometimes";
}

}  // namespace
}  // namespace parlance::testing

int main(int argc, char** argv) {
  using namespace parlance::testing;
  auto options = options_of(argc, argv);
  const std::unique_ptr<parlance::Tokenizer> tokenizer = chosen_tokenizer(options["--tokenizer"]);
  std::vector<Material> materials = {own_material(options["--formats"])};
  add_corpus(materials, options["--corpus"]);
  // of the corpus, one template in so many
  const std::size_t every = options["--every"].empty() ? 1 : std::stoul(options["--every"]);
  Counts all;
  std::map<std::string, std::size_t> kinds;
  for (const Material& material : materials) {
    const bool own = &material == &materials.front();
    for (std::size_t i = 0; i < material.templates.size(); i += own ? 1 : every) {
      const parlance::Template& chat_template = material.templates[i];
      Counts c = run_template(chat_template, *tokenizer, material.requests, material.as_is);
      check_long(chat_template, *tokenizer, c);
      ++kinds[kind_of(c)];
      if (!options["--list"].empty()) {
        std::printf("%-60s %-10s %zu cuts, %zu extended, %zu respelt, %zu refused, %zu unusable\n",
                    chat_template.name().c_str(), kind_of(c), c.cuts, c.extended, c.respelt, c.refused, c.unusable);
      }
      all.cuts += c.cuts, all.extended += c.extended, all.respelt += c.respelt, all.refused += c.refused;
      all.unusable += c.unusable, all.long_steps += c.long_steps, all.wrong += c.wrong;
    }
  }
  std::printf("%zu cuts: %zu extended, %zu respelt, %zu refused; %zu unusable; %zu steps of long chats; %zu wrong\n",
              all.cuts, all.extended, all.respelt, all.refused, all.unusable, all.long_steps, all.wrong);
  for (const auto& [kind, count] : kinds) std::printf("  %zu templates extend: %s\n", count, kind.c_str());
  return all.wrong == 0 && all.extended > 0 && all.refused > 0 ? 0 : 1;
}
