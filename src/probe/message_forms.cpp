// How a template wants messages handed over. Begin reading at find_shapes.
#include "probe/message_forms.h"

#include <algorithm>

#include "json/writer.h"
#include "probe/media.h"
#include "probe/reasoning.h"

namespace parlance::probe {
namespace {

constexpr std::string_view kUsualName = "reasoning_content";
constexpr const char* kNoTools = "null";  ///< as the pass defaults hands over that there are none
constexpr std::string_view kLongId = "call_zq-0000-0001";

class Shapes {
 public:
  Shapes(Prober& prober, TemplateCapabilities& can) : prober_(prober), can_(can) {}

  const Shot& take_content(std::string_view role, const std::string& content_json) {
    return take_content(role, content_json, Around::nothing);
  }

  void find(Needs needs) {
    for (const std::string_view role : kContentRoles) {
      if ((needs & content_of_role(role)) != 0) find_content(role);
    }
    if ((needs & kNeedsOrders) != 0) find_orders();
    if ((needs & kNeedsTools) != 0) {
      const std::string user = said("user", kUser);
      can_.empty_tools_needed = !take({user}, kNoTools) && take({user}, "[]");
    }
    if ((needs & kNeedsCalls) != 0 && can_.calls) find_calls();
    if ((needs & kNeedsReasoning) != 0) find_reasoning();
  }

 private:
  /// Text that a template may trim: where it does so in one shape and not in the other, they are not alike.
  static std::string padded(std::string_view text) { return " \n " + std::string(text) + " \n "; }
  static std::string as_part(std::string_view text) { return Json('[').item(text_part(text)).take(); }

  std::string message(std::string_view role, std::string_view content_json) const {
    return Json('{').text("role", role).raw("content", content_json).take();
  }
  /// Content in the shape that shows.
  std::string said(std::string_view role, std::string_view text) const {
    return message(role, prober_.convention.parts ? as_part(text) : json_string(text));
  }
  const Shot& take(std::initializer_list<std::string> messages, const std::string& tools = {}) {
    Json list('['), request('{');
    for (const std::string& one : messages) list.item(one);
    request.raw("messages", list.take());
    if (!tools.empty()) request.raw("tools", tools);
    return prober_.take_json(request.take(), false);
  }

  enum class Around : std::uint8_t { nothing, tools, calls, words_and_calls };

  /// A conversation with this content of a message of the role. Templates handle content apart where tools are
  /// declared, or calls stand beside it.
  const Shot& take_content(std::string_view role, const std::string& content_json, Around around) {
    const bool words = around == Around::words_and_calls;
    if (role == "tool") {
      return prober_.take({.content = words ? std::optional<std::string>(kContent) : std::nullopt,
                           .calls = plain_calls(1),
                           .last_message = answer_json(role, content_json)});
    }
    if (role == "assistant" && around == Around::calls) {
      return prober_.take({.content = {}, .content_json = content_json, .calls = plain_calls(1), .next = Next::result});
    }
    if (role == "assistant") return take({said("user", kUser), message(role, content_json), said("user", kNextUser)});
    const std::string tools = around == Around::tools ? tools_json() : "";
    return role == "user" ? take({message(role, content_json)}, tools)
                          : take({message(role, content_json), said("user", kUser)}, tools);
  }

  /// What is true of both; where the second does not show in any shape, of the first.
  static ContentShape both(ContentShape one, const ContentShape& other) {
    if (!other.text && !other.parts) return one;
    if (!one.text && !one.parts) return other;
    one.text = one.text && other.text;
    one.parts = one.parts && other.parts;
    one.alike = one.alike && other.alike;
    return one;
  }

  /// A text part between members that nobody reads, which show where the template prints the list, or what it cuts from
  /// what Python or JSON writes of it.
  static std::string marked_part(std::string_view text) {
    const std::string part =
        Json('{').text("zq_front", kFront).text("type", "text").text("text", text).text("zq_back", kBack).take();
    return Json('[').item(part).take();
  }

  // A template that does not know parts may print the list as Python does; then "type" shows once more than with text.
  ContentShape content_shape(std::string_view role, Around around) {
    const std::string_view word = word_of(role);
    const std::string text = padded(word);
    const Shot& plain = take_content(role, json_string(text), around);
    const Shot& parts = take_content(role, marked_part(text), around);
    ContentShape shape{std::string(role)};
    shape.text = shows(plain, word) || reads_text(role, around);
    shape.parts = shows(parts, word) && !shows(parts, kFront) && !shows(parts, kBack) &&
                  count_of(parts.text, "type") <= (plain ? count_of(plain.text, "type") : 0);
    shape.alike = shape.text && shape.parts && plain.text == parts.text;
    return shape;
  }

  static std::string_view word_of(std::string_view role) {
    return role == "user" ? kUser : role == "assistant" ? kContent : role == "tool" ? kResult : kSystem;
  }

  /// Does the template show something of a string, cut or changed? It takes strings then, and parts are none to it that
  /// it was written for.
  bool reads_text(std::string_view role, Around around) {
    const std::string_view word = word_of(role);
    const Shot& one = take_content(role, json_string(padded(word)), around);
    return one && one.text != take_content(role, json_string(padded(other_words(word))), around).text;
  }

  void find_content(std::string_view role) {
    const Around second = role == "assistant" ? Around::calls
                          : role == "tool"    ? Around::words_and_calls
                                              : Around::tools;
    ContentShape shape = both(content_shape(role, Around::nothing), content_shape(role, second));
    if (shape.text || shape.parts) can_.contents.push_back(std::move(shape));
  }

  using Messages = std::initializer_list<std::string>;

  /// Do words of a conversation reach the prompt, as they are or cut or changed?
  bool reaches(Messages messages, const Shot& shot, std::string_view word) {
    if (shows(shot, word)) return true;
    Json list('[');
    for (std::string one : messages) {
      if (const std::size_t at = one.find(word); at != one.npos) one.replace(at, word.size(), other_words(word));
      list.item(one);
    }
    const Shot& other = prober_.take_json(Json('{').raw("messages", list.take()).take(), false);
    return other && other.text != shot.text;
  }

  MessageFate fate(Messages messages, std::initializer_list<std::string_view> words) {
    const Shot& shot = take(messages);
    if (!shot) return MessageFate::raises;
    const bool all =
        std::all_of(words.begin(), words.end(), [&](std::string_view word) { return reaches(messages, shot, word); });
    return all ? MessageFate::renders : MessageFate::dropped;
  }

  // Both messages in question must show. A template may render such an order and leave one of the two out.
  void find_orders() {
    using Order = MessageOrder;
    const auto set = [&](Order order, MessageFate found) { can_.orders[static_cast<std::size_t>(order)] = found; };
    const std::string user = said("user", kUser);
    const std::string next = said("user", kNextUser);
    const std::string answer = said("assistant", kContent);
    const std::string other = said("system", kOther);
    const std::string system = said("system", kSystem), developer = said("developer", kSystem);
    set(Order::system, fate({system, user}, {kSystem}));
    set(Order::developer, fate({developer, user}, {kSystem}));
    set(Order::systems_in_a_row, fate({other, system, user}, {kOther, kSystem}));
    set(Order::developer_behind_system, fate({other, developer, user}, {kOther, kSystem}));
    set(Order::system_and_later_system, fate({other, user, answer, system, next}, {kOther, kSystem}));
    set(Order::later_system, fate({user, answer, system, next}, {kSystem, kNextUser}));
    set(Order::later_developer, fate({user, answer, developer, next}, {kSystem, kNextUser}));
    set(Order::users_in_a_row, fate({user, next}, {kUser, kNextUser}));
  }

  /// A call and its result, with or without ids; the convention decides on the rest.
  const Shot& take_call(const SceneCall& call) {
    return prober_.take({.content = {}, .calls = {call}, .next = Next::result});
  }

  void find_calls() {
    using Ids = Convention::Ids;
    const Convention found = prober_.convention;
    SceneCall call = plain_calls(1).front();
    const bool short_shows = shows(take_call(call), kValuesA[0]);
    call.id = kLongId;
    const bool long_shows = shows(take_call(call), kValuesA[0]);
    can_.call_ids = found.ids == Ids::named      ? CallIds::named
                    : short_shows && !long_shows ? CallIds::nine
                                                 : CallIds::free;
    prober_.convention.ids = Ids::none;
    can_.call_ids_needed = found.ids != Ids::none && short_shows && !shows(take_call(call), kValuesA[0]);
    prober_.convention = found;
    using Content = Convention::Content;
    can_.absent_content_needed = found.beside_calls == Content::absent;
    find_arguments();
  }

  /// Arguments handed over as an object show as Python writes a dict where the template wants text.
  void find_arguments() {
    const Convention found = prober_.convention;
    const auto call_shows = [&](bool text, std::string_view what) {
      prober_.convention.text_arguments = text;
      return shows(prober_.take({.content = {}, .calls = plain_calls(1), .next = Next::result}), what);
    };
    const std::string repr = "{'" + std::string(kKeyA) + "': '" + std::string(kValuesA[0]) + "'";
    can_.text_arguments_needed = can_.text_arguments && (!can_.object_arguments || call_shows(false, repr));
    prober_.convention = found;
  }

  /// An assistant's message with reasoning under a name, and also under the usual one.
  std::string answer_with(std::string_view name, bool calls, bool also_usual, bool content = false) const {
    Json json('{');
    json.text("role", "assistant").text("content", calls && !content ? "" : kContent);
    if (also_usual && name != kUsualName) json.text(kUsualName, kReasoning);
    json.text(name, kReasoning);
    if (calls) json.raw("tool_calls", calls_json(plain_calls(1), prober_.convention));
    return json.take();
  }

  const Shot& take_reasoning(std::string_view name, bool calls, bool also_usual, bool content = false) {
    return take({said("user", kUser), answer_with(name, calls, also_usual, content)});
  }

  /// The part of content as which reasoning shows, and not as Python prints a list.
  bool shows_as_part(std::string_view type) {
    const std::string part = Json('{').text("type", type).text(type, kReasoning).text("text", kReasoning).take();
    const std::string content = Json('[').item(part).item(text_part(kContent)).take();
    const Shot& shot = take({said("user", kUser), message("assistant", content)});
    const Shot& without = take({said("user", kUser), said("assistant", kContent)});
    return shows(shot, kReasoning) && count_of(shot.text, "type") <= count_of(without.text, "type");
  }

  /// Under which name reasoning shows; "" for none.
  std::string shown_reasoning() {
    const std::string& found = can_.reasoning_key;
    if (found.starts_with(kBlockKey)) return {};  // no pass makes blocks
    if (found.starts_with(kPartKey)) {
      if (shows_as_part(std::string_view(found).substr(kPartKey.size()))) return found;
    } else if (!found.empty()) {
      return found;
    }
    for (const std::string& name : reasoning_keys(prober_.facts())) {
      if (shows(take_reasoning(name, false, false), kReasoning) || shows(take_reasoning(name, true, false), kReasoning))
        return name;
    }
    return {};
  }

  static bool same(const Shot& one, const Shot& other) {
    return one.rendered == other.rendered && one.text == other.text;
  }

  /// Does reasoning show alike under each name that clients use, as the pass reasoning-names hands it over?
  void find_reasoning() {
    can_.reasoning_member = shown_reasoning();
    if (can_.reasoning_member.empty()) return;
    for (const bool calls : {false, true}) {
      if (calls && !can_.calls) continue;
      const Shot& usual = take_reasoning(kUsualName, calls, true);
      bool alike = same(usual, take_reasoning(can_.reasoning_member, calls, false));
      for (const std::string_view name : {"reasoning", "thinking"})
        alike = alike && same(usual, take_reasoning(name, calls, true));
      can_.reasoning_names_alike = can_.reasoning_names_alike && alike;
    }
    can_.reasoning_excludes_content = can_.content_with_calls && take_reasoning(can_.reasoning_member, true, false) &&
                                      !take_reasoning(can_.reasoning_member, true, false, true);
  }

  static constexpr std::string_view kOther = "zq other system text";
  static constexpr std::string_view kFront = "zq stands before", kBack = "zq stands behind";

  Prober& prober_;
  TemplateCapabilities& can_;
};

}  // namespace

Needs content_of_role(std::string_view role) {
  constexpr Needs kFirst = 0x10;
  const auto found = std::find(std::begin(kContentRoles), std::end(kContentRoles), role);
  return found == std::end(kContentRoles) ? 0 : kFirst << (found - std::begin(kContentRoles));
}

const Shot& take_content(Prober& prober, std::string_view role, const std::string& content_json) {
  TemplateCapabilities none;
  return Shapes(prober, none).take_content(role, content_json);
}

void find_shapes(Prober& prober, TemplateCapabilities& can, Needs needs) {
  Shapes(prober, can).find(needs);
  if ((needs & (kNeedsMedia | kNeedsImages)) != 0) find_media(prober, can, needs);
}

Needs needs_of_text(const Template& chat_template, const DeriveOptions& options) {
  Prober prober(chat_template, options);
  const std::string message = Json('{').text("role", "user").text("content", kUser).take();
  const auto take = [&](std::string_view tools) -> const Shot& {
    const std::string messages = Json('[').item(message).take();
    return prober.take_json(Json('{').raw("messages", messages).raw("tools", tools).take(), false);
  };
  const Shot& bare = take(kNoTools);
  const Shot& shot = bare ? bare : take("[]");
  const Needs tools = !bare && shot ? kNeedsTools : 0;
  return tools | (!shot || shows(shot, kUser) ? 0 : kNeedsContents);
}

}  // namespace parlance::probe
