// A prompt that takes over what is known from the last one is the prompt that a whole render gives, byte by byte, with
// the same spans at its end, after the same steps, within the same limits: on every template and conversation of the
// corpus and of the tree, and on long chats of all kinds of messages, which grow by one to three messages at a time;
// also if other messages were there in between and were taken back.
//
//     growing_law --formats FOLDER [--families FOLDER] [--corpus FOLDER] [--every N] [--seeds N] [--random N] [--list
//     yes]
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
    {"name": "look", "description": "Looks", "parameters": {"type": "object", "properties": {"at": {"type": )"
      R"("string"}}}}}]})";
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

/// What some chats grow past. (Near the limit of memory nothing is left out.)
Limits small_limits(std::uint64_t seed) {
  Limits limits;
  if (seed % 2 == 0) limits.steps = 500 + seed % 20'011;
  if (seed % 2 == 1) limits.output_bytes = 100 + seed % 5'003;
  return limits;
}

void check_growth(const Template& chat_template, const Chat& chat, bool as_is, std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  Conversation grown;
  if (!grown.read(chat.variables, {.normalise = !as_is})) return;
  RenderOptions options{.as_is = as_is, .now = kClock};
  if (seed % 3 != 0) options.add_generation_prompt = seed % 3 == 1;
  if (random() % 4 == 0) options.limits = small_limits(random());
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
    if (fault.empty()) fault = growing.render(grown);
    if (fault.empty()) continue;
    if (counts.wrong++ < 3) {
      std::printf("%s, %zu messages: %s\n", chat_template.name().c_str(), next, fault.c_str());
    }
    return;
  }
  counts.left_out += growing.left_out();
}

/// Writes templates at random, of what loops over messages do and of what shows when it should not be left out.
class TemplateMaker {
 public:
  explicit TemplateMaker(std::uint64_t seed) : random_(seed) {}
  std::string make() {
    std::string text = "{% set ns = namespace(a=" + number() + ", b=" + number() + ", c='') %}{% set n = " + number() +
                       " %}{% set v = " + value() + " %}{% set all = messages" + (chance(3) ? "[1:]" : "") + " %}";
    for (const char* name : {"f", "g"}) {
      text += std::string("{% macro ") + name + "(m, x=" + (chance(2) ? "n" : "1") + ") %}" + body(2, false) +
              "{% endmacro %}";
    }
    for (int i = 0; i < 2; ++i) {
      const std::string loop =
          std::string("{% for m in ") + (chance(2) ? "messages" : "all") + " %}" + body(3, true) + "{% endfor %}";
      text += chance(6) ? "{% if " + condition(false) + " %}" + loop + "{% endif %}" : loop;
    }
    return text + "{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ v }}";
  }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  template <std::size_t kSize>
  std::string one_of(const char* const (&list)[kSize]) {
    return list[random_() % kSize];
  }
  std::string number() {
    static constexpr const char* kNumbers[] = {"0",  "3",    "messages|length",     "messages|length - 2",
                                               "-1", "1000", "messages|length // 2"};
    return one_of(kNumbers);
  }
  std::string value() {
    static constexpr const char* kValues[] = {"'x'", "messages|length", "messages[-1].role", "none", "messages[0]", "n",
                                              "ns",  "[1, 2]"};
    return one_of(kValues);
  }
  std::string expression(bool in_loop) {
    static constexpr const char* kAnywhere[] = {"m.content",
                                                "m.role",
                                                "ns.a",
                                                "ns.b",
                                                "ns.c",
                                                "n",
                                                "v",
                                                "messages[0].role",
                                                "tools|length",
                                                "m.content|upper",
                                                "bos_token",
                                                "messages[2].role",
                                                "ns['a']",
                                                "x"};
    static constexpr const char* kInLoop[] = {"loop.index0",
                                              "loop.first",
                                              "loop.last",
                                              "messages[loop.index0 - 1].role",
                                              "(messages[loop.index0 + 1] or m).role",
                                              "(all[loop.index0 + 1] or m).content",
                                              "(all[loop.index] or m).role",
                                              "f(m)",
                                              "g(m, loop.index)",
                                              "g(ns)",
                                              "loop.previtem is defined",
                                              "(all[loop.index0] or m).role",
                                              "loop.nextitem is defined",
                                              "w"};
    static constexpr const char* kRarely[] = {"loop.length", "messages|length", "messages[-1].role", "loop.revindex",
                                              "'ab'|random"};
    if (in_loop && chance(30)) return one_of(kRarely);
    return in_loop && chance(2) ? one_of(kInLoop) : one_of(kAnywhere);
  }
  std::string condition(bool in_loop) {
    static constexpr const char* kBounds[] = {"ns.a",           "ns.b", "n",          "messages|length",
                                              "all|length - 1", "2",    "ns['b'] + 1"};
    static constexpr const char* kCompare[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    if (!in_loop) return expression(false) + " == " + expression(false);
    if (chance(3)) return "m.role == 'user'";
    if (chance(4)) return one_of(kBounds) + one_of(kCompare) + "loop.index0";
    if (chance(3)) return expression(true);
    return (chance(2) ? "loop.index0" : "loop.index") + one_of(kCompare) + one_of(kBounds);
  }
  std::string statement(int depth, bool in_loop) {
    switch (random_() % 9) {
      case 0:
      case 1:
        return "{% if " + condition(in_loop) + " %}" + (depth > 0 ? body(depth - 1, in_loop) : "!") + "{% endif %}";
      case 2:
        return std::string("{% set ns.") + (chance(2) ? "a" : "b") + " = " +
               (in_loop && chance(2) ? "loop.index0" : "3") + " %}";
      case 3: return "{% set ns.c = m.content %}";
      case 4: return "{% set " + std::string(chance(2) ? "v" : "w") + " = " + expression(in_loop) + " %}";
      case 5: return "{% for t in tools %}{{ loop.index }}{{ " + expression(false) + " }}{% endfor %}";
      case 6:
        if (!in_loop || !chance(4)) return "{{ " + expression(in_loop) + " }}";
        return chance(2) ? "{% for later in messages[loop.index:] %}{{ later.role[0] }}{% endfor %}"
                         : "{% if loop.index0 > 9 %}{% break %}{% endif %}";
      default: return "{{ " + expression(in_loop) + " }}";
    }
  }
  std::string body(int depth, bool in_loop) {
    std::string text;
    for (std::size_t i = 1 + random_() % 4; i > 0; --i) text += statement(depth, in_loop) + (chance(3) ? "," : "");
    return text;
  }

  std::mt19937_64 random_;
};

/// Random templates, which mostly do not fail.
Counts run_random(std::uint64_t count) {
  Counts counts;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const std::string text = TemplateMaker(seed).make();
    const Result<Template> made = Template::compile(text, {.name = text});
    if (!made) {
      ++counts.wrong;
      std::printf("%s\n%s\n", text.c_str(), made.error().display().c_str());
      continue;
    }
    for (std::uint64_t i = 0; i < 3; ++i)
      check_growth(*made, long_chat(seed, static_cast<int>(i)), true, seed + i, counts);
  }
  return counts;
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
  auto options = options_of(argc, argv);
  std::vector<Material> materials = {own_material(options["--formats"])};
  add_templates(materials.front(), options["--families"]);
  add_corpus(materials, options["--corpus"]);
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
  const Counts random = run_random(options["--random"].empty() ? 400 : std::stoul(options["--random"]));
  std::printf("random templates: %zu renders, %llu of %llu known messages left out, %zu wrong\n", random.renders,
              static_cast<unsigned long long>(random.left_out), static_cast<unsigned long long>(random.known),
              random.wrong);
  all.wrong += random.wrong;
  std::printf("%zu chats, %zu renders: %llu of %llu known messages left out, with %zu of %zu templates; %zu wrong\n",
              all.chats, all.renders, static_cast<unsigned long long>(all.left_out),
              static_cast<unsigned long long>(all.known), resuming, templates, all.wrong);
  return all.wrong == 0 && resuming > 0 && all.left_out * 10 > all.known && random.left_out * 10 > random.known ? 0 : 1;
}
