// A prompt that takes over what is known from the last one is the prompt that a whole render gives, byte by byte, with
// the same spans at its end, after the same steps, within the same limits: on every template and conversation of the
// corpus and of the tree, and on long chats of all kinds of messages, which grow by one to three messages at a time;
// also if other messages were there in between and were taken back.
//
//     growing_law --formats FOLDER [--families FOLDER] [--corpus FOLDER] [--every N] [--seeds N] [--list yes]
//
// --list prints for each template how many of the known messages were left out. Begin reading at check_growth.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "conversation/conversation.h"
#include "growing.h"
#include "json/json.h"
#include "token_material.h"
#include "value/dict.h"

namespace parlance::testing {
namespace {

std::string json_of(Value v) {
  Arena arena;
  Limits limits;
  Runtime rt(arena, limits);
  std::string json;
  return append_json(rt, json, v) ? json : "null";
}

struct Chat {
  std::string variables;  ///< JSON, with no messages
  std::vector<Message> messages;
};

/// A request's messages one by one, with all their members; none if there is a message that is no object.
Chat chat_of(const std::string& request) {
  Document document;
  Chat chat;
  if (!document.parse(request) || document.root().kind != Kind::dict) return chat;
  chat.variables = "{\"messages\": []";
  for (const DictEntry& entry : entries(document.root())) {
    const std::string_view name = leaf_text(entry.key);
    if (name == "messages" || name == "continue_final_message") continue;
    append_json_string(chat.variables += ", ", name);
    chat.variables += ": " + json_of(entry.value);
  }
  chat.variables += "}";
  for (const Value& item : document.root()["messages"].items()) {
    if (item.kind != Kind::dict) return {};
    Message message{.role = std::string(item["role"].text()), .content = ""};
    for (const DictEntry& member : entries(item)) {
      message.members.push_back({std::string(leaf_text(member.key)), json_of(member.value)});
    }
    chat.messages.push_back(std::move(message));
  }
  return chat;
}

std::string some_text(std::mt19937_64& random) {
  static const char* const kPieces[] = {"word ", "<think>a</think>", "\n", "é ", "<tool_response>", "|", "\"x\" "};
  std::string text;
  for (std::size_t i = 0; i < 1 + random() % 6; ++i) text += kPieces[random() % std::size(kPieces)];
  return text;
}

/// `kind`: 0 takes turns strictly, 1 has steps with tools and reasoning, 2 is anything.
Chat long_chat(std::uint64_t seed, int kind) {
  std::mt19937_64 random(seed);
  Chat chat;
  chat.variables =
      R"({"messages": [], "bos_token": "<s>", "eos_token": "</s>", "tools": [{"type": "function", "function":
    {"name": "look", "description": "Looks", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}}]})";
  if (seed % 2 == 0) chat.variables = R"({"messages": [], "bos_token": "<s>", "eos_token": "</s>"})";
  if (random() % 2 == 0) chat.messages.push_back({.role = "system", .content = "Be brief."});
  std::size_t step = 0;
  while (chat.messages.size() < 40) {
    static constexpr const char* kRoles[] = {"user", "assistant", "tool", "system"};
    const std::string role = kind == 0   ? kRoles[step % 2]
                             : kind == 1 ? (step % 7 == 0   ? "user"
                                            : step % 2 == 1 ? "assistant"
                                                            : "tool")
                                         : kRoles[random() % std::size(kRoles)];
    Message message{.role = role, .content = some_text(random)};
    if (role == "assistant" && random() % 2 == 0) message.reasoning_content = some_text(random);
    if (role == "assistant" && kind != 0 && step % 7 != 6) {
      message.tool_calls = {{.id = "call_" + std::to_string(step), .name = "look", .arguments_json = R"({"at": "x"})"}};
    }
    if (role == "tool") message.tool_call_id = "call_" + std::to_string(step - 1);
    chat.messages.push_back(std::move(message));
    ++step;
  }
  return chat;
}

struct Counts {
  std::size_t chats = 0, renders = 0, wrong = 0;
  std::uint64_t left_out = 0;  ///< messages,
  std::uint64_t known = 0;     ///< of so many
};

void check_growth(const Template& chat_template, const Chat& chat, bool as_is, std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  Conversation grown;
  if (!grown.read(chat.variables, {.normalise = !as_is})) return;
  RenderOptions options{.as_is = as_is, .now = kClock};
  if (seed % 3 != 0) options.add_generation_prompt = seed % 3 == 1;
  Growing growing(chat_template, options);
  ++counts.chats;
  for (std::size_t next = 0; next < chat.messages.size();) {
    std::string fault;
    counts.known += next;
    for (std::size_t more = 1 + random() % 3; more > 0 && next < chat.messages.size(); --more, ++next) {
      if (!grown.add(chat.messages[next])) return;
    }
    if (random() % 4 == 0) {  // other messages, of which nothing must be left
      const auto count = static_cast<std::uint32_t>(grown.messages().items().size());
      if (!grown.add(chat.messages[random() % chat.messages.size()]) || !grown.add(chat.messages.front())) return;
      fault = growing.render_in_vain(grown);
      keep_messages(inside_of(grown), count);
    }
    growing.kept = random() % 4 == 0 ? random() % 200 : 0;
    ++counts.renders;
    if (fault.empty()) fault = random() % 8 == 0 ? growing.render_with_limits(grown) : growing.render(grown);
    if (fault.empty()) continue;
    if (counts.wrong++ < 3) {
      std::printf("%s, %zu messages: %s\n", chat_template.name().c_str(), next, fault.c_str());
    }
    return;
  }
  counts.left_out += growing.left_out();
}

Counts run_template(const Template& chat_template, const Material& material, std::uint64_t seeds) {
  Counts counts;
  std::uint64_t seed = std::hash<std::string>()(chat_template.name());
  for (const std::string& request : material.requests) {
    const Chat chat = chat_of(request);
    if (chat.messages.size() > 1) check_growth(chat_template, chat, material.as_is, seed++, counts);
  }
  for (std::uint64_t i = 0; i < seeds; ++i) {
    check_growth(chat_template, long_chat(i / 3, static_cast<int>(i % 3)), material.as_is, seed++, counts);
  }
  return counts;
}

}  // namespace
}  // namespace parlance::testing

int main(int argc, char** argv) {
  using namespace parlance::testing;
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  std::vector<Material> materials = {own_material(options["--formats"])};
  add_templates(materials.front(), options["--families"]);
  if (!options["--corpus"].empty()) {
    materials.push_back(corpus_material(options["--corpus"], false));
    materials.push_back(corpus_material(options["--corpus"], true));
  }
  const std::size_t every = options["--every"].empty() ? 1 : std::stoul(options["--every"]);
  const std::uint64_t seeds = options["--seeds"].empty() ? 12 : std::stoul(options["--seeds"]);
  Counts all;
  std::size_t resuming = 0, templates = 0;
  for (const Material& material : materials) {
    const bool own = &material == &materials.front();
    for (std::size_t i = 0; i < material.templates.size(); i += own ? 1 : every) {
      const Counts c = run_template(material.templates[i], material, seeds);
      if (!options["--list"].empty()) {
        std::printf("%-60s %6.1f %% of %llu messages in %zu renders\n", material.templates[i].name().c_str(),
                    c.known == 0 ? 0.0 : 100.0 * static_cast<double>(c.left_out) / static_cast<double>(c.known),
                    static_cast<unsigned long long>(c.known), c.renders);
      }
      ++templates;
      resuming += c.left_out > 0;
      all.chats += c.chats, all.renders += c.renders, all.wrong += c.wrong;
      all.left_out += c.left_out, all.known += c.known;
    }
  }
  std::printf("%zu chats, %zu renders: %llu of %llu known messages left out, with %zu of %zu templates; %zu wrong\n",
              all.chats, all.renders, static_cast<unsigned long long>(all.left_out),
              static_cast<unsigned long long>(all.known), resuming, templates, all.wrong);
  return all.wrong == 0 && resuming > 0 && all.left_out * 10 > all.known ? 0 : 1;
}
