// The law of masks that are derived, over every template of the tree and of the corpus with every conversation: where
// an assistant's turn begins and ends does not depend on what follows it, and it begins where the prompt for it ends.
//
//     mask_law --formats FOLDER [--corpus FOLDER] [--every N] [--only NAME] [--list yes]
//
// For each message of an assistant, of which the template writes anything:
//   begin    the messages before it are rendered with a generation prompt; where the prompt begins with that, a range
//            begins at its end
//   cut      the same of the conversation that is cut behind it; and as far as both prompts are the same text, the same
//            bytes are the assistant's. Left out are turns that the template writes in another way once more messages
//            follow: both prompts part within them, or one of them begins with what ends in the generation prompt and
//            the other does not.
//   follows  the same of that conversation with a system's and a user's message behind it
//   header   no range begins with what the template writes to make a model speak behind one word of a user, nor with a
//            text of the template that this begins with
//   others   no range holds text of a user's, system's or tool's message
//   own      the text of an assistant's message is in a range, also where the conversation ends with that message. Left
//            out are blanks, which a prompt may end with too, and what is written once more, as names of calls with
//            results
// kExceptions lists the templates that do not, each with its reason. Begin reading at main.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "conversation/conversation.h"
#include "token_material.h"
#include "value/dict.h"

namespace parlance::testing {
namespace {

/// What is known not to hold, and why.
struct Exception {
  const char* of_template;
  const char* fault;
  const char* reason;
  std::size_t seen = 0;
};
Exception kExceptions[] = {
    {"ollama--gemma3-instruct.gotmpl", "masked only with what follows",
     "two replies in a row of which nothing is written: a turn of it looks like its header"},
    {"unsloth--gemma4_ollama.gotmpl", "masked only with what follows",
     "what closes the last turn is written behind the loop"},
    {"unsloth--llama_31_storm_ollama.gotmpl", "begins later or nowhere",
     "of an empty reply at the end only a line break behind the loop is left"},
    {"unsloth--gemma3_270m_ollama.gotmpl", "begins later or nowhere",
     "the same of a reply of white space, with which its generation prompt ends too"},
    {"unsloth--qwen3_ollama.gotmpl", "begins later or nowhere", "the same"},
    {"trl--diffusion_gemma_training.jinja", "begins with the header",
     "it writes no generation prompt behind results, but the header in history"},
    {"llama.cpp--NVIDIA-Nemotron-Nano-v2.jinja", "own text is outside",
     "it takes a reply at the end out of the messages, and refuses or writes otherwise what is left without a "
     "question"},
};

struct Counts {
  std::size_t turns = 0, refused = 0, cut = 0, begins = 0, rewritten = 0, empty = 0, merged = 0, known = 0, wrong = 0;
};

bool is_of(Value message, std::initializer_list<std::string_view> roles) {
  const DictEntry* role = message.kind == Kind::dict ? find_key(*message.dict, "role") : nullptr;
  return role != nullptr && role->value.is_leaf() &&
         std::find(roles.begin(), roles.end(), leaf_text(role->value)) != roles.end();
}

bool is_assistant(Value message) { return is_of(message, {"assistant"}); }

struct World {
  bool list = false;
  Counts counts;
  std::map<std::string, std::map<std::string, std::size_t>> faults;  ///< by template and kind
};

/// Of a request the first `count` messages, all where there is none, and whether others say more.
struct Part {
  std::optional<std::uint32_t> count;
  bool goes_on = false;
};

/// `chat` is what the prompt's spans refer to.
bool render(const Template& chat_template, const std::string& request, bool as_is, Part part,
            std::optional<bool> generation_prompt, Rendering& into, Conversation&& chat = {}) {
  if (!chat.read(request, {.normalise = !as_is})) return false;
  if (part.count) keep_messages(inside_of(chat), *part.count);
  if (part.goes_on &&
      (!chat.add({.role = "system", .content = "Now be brief."}) || !chat.add({.role = "user", .content = "Who?"})))
    return false;
  Result<Rendering> made = chat_template.render(chat, {.add_generation_prompt = generation_prompt,
                                                       .as_is = as_is,
                                                       .now = kClock,
                                                       .want_assistant = true,
                                                       .ignore_tags = true});
  if (!made) return false;
  into = std::move(*made);
  return true;
}

/// The bytes below `end` that are the assistant's.
std::vector<bool> masked(const Rendering& prompt, std::size_t end) {
  std::vector<bool> mask(end);
  for (const TextRange& range : prompt.assistant()) {
    for (std::size_t i = range.begin; i < std::min<std::size_t>(range.end, end); ++i) mask[i] = true;
  }
  return mask;
}

std::size_t common(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first -
                                  a.begin());
}

void complain(World& world, const Template& chat_template, const std::string& what, const std::string& request,
              std::size_t message, std::string_view text, std::size_t at) {
  for (Exception& known : kExceptions) {
    if (chat_template.name() != known.of_template || what != known.fault) continue;
    ++known.seen;
    ++world.counts.known;
    return;
  }
  ++world.counts.wrong;
  const std::size_t seen = world.faults[chat_template.name()][what]++;
  if (!world.list || seen >= 2) return;
  const std::size_t from = at > 60 ? at - 60 : 0;
  std::printf("%s: %s, message %zu\n  <<%s>>|<<%s>>\n  %.200s\n", chat_template.name().c_str(), what.c_str(), message,
              std::string(text.substr(from, at - from)).c_str(), std::string(text.substr(at, 60)).c_str(),
              request.c_str());
}

bool is_blank(const std::string& header) { return header.find_first_not_of(" \n\t") == header.npos; }

/// Is there a range that begins where the prompt before it ends?
void check_begin(World& world, const Template& chat_template, const std::string& request, std::size_t i,
                 const Rendering& whole, std::size_t at, bool adds_none, const std::string& header) {
  ++world.counts.begins;
  // Behind an assistant a template may write no generation prompt, and the header with the turn.
  if (adds_none && !is_blank(header) && whole.text().substr(at).starts_with(header)) at += header.size();
  const auto& ranges = whole.assistant();
  if (std::any_of(ranges.begin(), ranges.end(), [&](const TextRange& r) { return r.begin == at; })) return;
  const bool inside =
      std::any_of(ranges.begin(), ranges.end(), [&](const TextRange& r) { return r.begin < at && at < r.end; });
  complain(world, chat_template, inside ? "begins earlier" : "begins later or nowhere", request, i, whole.text(), at);
}

/// Do the prompts part within the range that holds the byte `at`?
bool is_written_otherwise(const Rendering& prompt, std::size_t at, std::size_t same) {
  return std::any_of(prompt.assistant().begin(), prompt.assistant().end(),
                     [&](const TextRange& r) { return r.begin <= at && at < r.end && same < r.end; });
}

void check_own(World& world, const Template& chat_template, const std::string& request, bool as_is,
               std::optional<std::uint32_t> count) {
  Conversation chat;
  Rendering prompt;
  if (!render(chat_template, request, as_is, {count}, false, prompt, std::move(chat))) return;
  const std::span<const Value> messages = items(chat.messages());
  const std::vector<bool> mask = masked(prompt, prompt.text().size());
  std::set<std::string> inside;
  for (const Span& span : prompt.spans()) {
    const bool is_given = span.origin == Origin::input || span.origin == Origin::derived;
    const auto message = static_cast<std::size_t>(span.message);
    if (!is_given || span.message < 0 || message >= messages.size() || !is_assistant(messages[message])) continue;
    const std::string path = path_of_span(chat, span);
    const std::size_t blanks = prompt.text().substr(span.begin, span.end - span.begin).find_first_not_of(" \n\t\r");
    if (path.ends_with("].role") || blanks == std::string_view::npos) continue;
    const auto begins = [&span](const TextRange& r) { return span.begin < r.begin && r.begin < span.end; };
    const bool is_of_prompt = std::any_of(prompt.assistant().begin(), prompt.assistant().end(), begins);
    if (mask[span.begin + blanks] || is_of_prompt) inside.insert(path);
    if (inside.contains(path)) continue;
    complain(world, chat_template, "own text is outside", request, message, prompt.text(), span.begin);
    return;
  }
}

/// A prompt with a turn, and whether it begins with the prompt for that turn.
struct WithTurn {
  const Rendering& prompt;
  bool is_exact;
};

/// Are the same bytes the assistant's in a prompt that goes on behind a turn and in one that ends with it?
void compare(World& world, const Template& chat_template, const std::string& request, std::size_t i,
             const WithTurn& whole, const WithTurn& cut) {
  if (whole.is_exact != cut.is_exact) {
    ++world.counts.rewritten;
    return;
  }
  ++world.counts.cut;
  const std::size_t same = common(whole.prompt.text(), cut.prompt.text());
  const std::vector<bool> a = masked(whole.prompt, same), b = masked(cut.prompt, same);
  if (a == b) return;
  const std::size_t other = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  if (is_written_otherwise(whole.prompt, other, same) || is_written_otherwise(cut.prompt, other, same)) {
    ++world.counts.rewritten;
    return;
  }
  complain(world, chat_template, a[other] ? "masked only with what follows" : "masked only at the end", request, i,
           whole.prompt.text(), other);
}

void check_turn(World& world, const Template& chat_template, const std::string& request, bool as_is, std::uint32_t i,
                const Rendering& whole, bool follows_assistant, const std::string& header) {
  Rendering before, without, cut;
  const bool has_before = render(chat_template, request, as_is, {i}, true, before);
  if (chat_template.syntax() == Syntax::go && follows_assistant) {
    ++world.counts.merged;  // Ollama makes one message of both
    return;
  }
  const bool adds_none = has_before && (i == 0 || follows_assistant) &&
                         render(chat_template, request, as_is, {i}, false, without) && before.text() == without.text();
  if (!render(chat_template, request, as_is, {i + 1}, false, cut)) {
    ++world.counts.refused;
    return;
  }
  check_own(world, chat_template, request, as_is, i + 1);
  const std::size_t at = before.text().size();
  const bool is_of_whole = has_before && whole.text().starts_with(before.text());
  const bool is_of_cut = has_before && cut.text().starts_with(before.text());
  if (is_of_cut && cut.text().size() == at) {
    ++world.counts.empty;
    return;
  }
  if (is_of_whole && at < whole.text().size())
    check_begin(world, chat_template, request, i, whole, at, adds_none, header);
  if (is_of_cut) check_begin(world, chat_template, request, i, cut, at, adds_none, header);
  compare(world, chat_template, request, i, {whole, is_of_whole}, {cut, is_of_cut});
  Rendering follows;
  if (!render(chat_template, request, as_is, {i + 1, true}, false, follows)) return;
  const bool is_of_follows = has_before && follows.text().starts_with(before.text());
  compare(world, chat_template, request, i, {follows, is_of_follows}, {cut, is_of_cut});
}

/// What a generation prompt adds to one word of a user, in a request that is else the same.
std::string generation_prompt(const Template& chat_template, const std::string& request, bool as_is) {
  std::string texts[2];
  for (const bool wanted : {false, true}) {
    Conversation chat;
    if (!chat.read(request, {.normalise = !as_is})) return {};
    keep_messages(inside_of(chat), 0);
    if (!chat.add({.role = "user", .content = "Hi"})) return {};
    const Result<Rendering> made =
        chat_template.render(chat, {.add_generation_prompt = wanted, .as_is = as_is, .now = kClock});
    if (!made) return {};
    texts[wanted] = made->text();
  }
  return texts[1].starts_with(texts[0]) ? texts[1].substr(texts[0].size()) : "";
}

/// Does a range begin with a text of the template's that the header begins with, behind which the header opens a
/// thought, say?
void check_half_header(World& world, const Template& chat_template, const std::string& request, const Rendering& whole,
                       const std::string& header) {
  for (const TextRange& range : whole.assistant()) {
    const auto span = std::find_if(whole.spans().begin(), whole.spans().end(),
                                   [&](const Span& one) { return one.begin == range.begin; });
    if (span == whole.spans().end() || span->origin != Origin::literal) continue;
    const std::string_view text = whole.text().substr(span->begin, span->end - span->begin);
    // Told already where it is the whole header; and text behind the whole header may look like its beginning.
    const bool is_whole =
        whole.text().substr(range.begin).starts_with(header) || whole.text().substr(0, range.begin).ends_with(header);
    if (!is_blank(std::string(text)) && header.starts_with(text) && !is_whole)
      complain(world, chat_template, "begins with half of the header", request, 0, whole.text(), range.begin);
  }
}

void check_header(World& world, const Template& chat_template, const std::string& request, const Rendering& whole,
                  const std::string& header) {
  if (is_blank(header)) return;
  for (const TextRange& range : whole.assistant()) {
    // A reply may begin with the words of the header's end.
    const bool begins =
        whole.text().substr(range.begin).starts_with(header) && !whole.text().substr(0, range.begin).ends_with(header);
    if (!begins) continue;
    complain(world, chat_template, "begins with the header", request, 0, whole.text(), range.begin);
  }
  check_half_header(world, chat_template, request, whole, header);
}

void check_others(World& world, const Template& chat_template, const std::string& request,
                  std::span<const Value> messages, const Rendering& whole) {
  auto range = whole.assistant().begin();
  for (const Span& span : whole.spans()) {
    while (range != whole.assistant().end() && range->end <= span.begin) ++range;
    if (range == whole.assistant().end()) return;
    const bool is_given = span.origin == Origin::input || span.origin == Origin::derived;
    const auto message = static_cast<std::size_t>(span.message);
    if (!is_given || span.message < 0 || message >= messages.size() || span.end <= range->begin) continue;
    if (!is_of(messages[message], {"user", "system", "tool"})) continue;
    complain(world, chat_template, "holds text of others", request, message, whole.text(), span.begin);
  }
}

void check(World& world, const Template& chat_template, const std::string& request, bool as_is) {
  Conversation chat;
  if (!chat.read(request, {.normalise = !as_is}) || !chat.messages().is_sequence()) return;
  Rendering whole;
  if (!render(chat_template, request, as_is, {}, false, whole)) return;
  const std::string header = generation_prompt(chat_template, request, as_is);
  check_header(world, chat_template, request, whole, header);
  const std::span<const Value> messages = items(chat.messages());
  check_others(world, chat_template, request, messages, whole);
  check_own(world, chat_template, request, as_is, {});
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    if (!is_assistant(messages[i])) continue;
    ++world.counts.turns;
    check_turn(world, chat_template, request, as_is, i, whole, i > 0 && is_assistant(messages[i - 1]), header);
  }
}

}  // namespace
}  // namespace parlance::testing

int main(int argc, char** argv) {
  using namespace parlance::testing;
  auto options = options_of(argc, argv);
  World world;
  world.list = !options["--list"].empty();
  const std::size_t every = options["--every"].empty() ? 1 : std::stoul(options["--every"]);
  std::vector<Material> materials;
  materials.push_back(own_material(options["--formats"]));
  add_corpus(materials, options["--corpus"]);
  for (const Material& material : materials) {
    const bool own = &material == &materials.front();
    for (std::size_t i = 0; i < material.templates.size(); i += own ? 1 : every) {
      if (!options["--only"].empty() && material.templates[i].name().find(options["--only"]) == std::string::npos)
        continue;
      for (const std::string& request : material.requests) check(world, material.templates[i], request, material.as_is);
    }
  }
  for (const auto& [name, kinds] : world.faults) {
    for (const auto& [kind, count] : kinds) std::printf("%-50s %5zu %s\n", name.c_str(), count, kind.c_str());
  }
  const bool all = !options["--corpus"].empty() && every == 1 && options["--only"].empty();
  for (const Exception& known : kExceptions) {
    if (all && known.seen == 0)
      std::printf("no exception any more: %s, %s\n", known.of_template, known.fault), ++world.counts.wrong;
    if (known.seen > 0) std::printf("%5zu %s: %s: %s\n", known.seen, known.of_template, known.fault, known.reason);
  }
  const Counts& c = world.counts;
  std::printf(
      "%zu turns: %zu cut, %zu times behind their prompt, %zu rewritten once more follow, %zu empty, %zu merged, %zu "
      "refused; %zu known exceptions, %zu wrong\n",
      c.turns, c.cut, c.begins, c.rewritten, c.empty, c.merged, c.refused, c.known, c.wrong);
  return c.wrong == 0 && c.turns > 0 ? 0 : 1;
}
