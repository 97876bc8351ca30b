// Messages that are not in the prompt, and what of them. Begin reading at find_lost_messages.
#include <algorithm>

#include "base/nearest.h"
#include "base/reasoning_names.h"
#include "conversation/edit.h"
#include "conversation/learnt.h"
#include "conversation/media_parts.h"
#include "losses/bookkeeping.h"
#include "losses/text_search.h"
#include "value/string.h"

namespace parlance {
namespace {

/// Members that messages have in some API: a name near to one of them is taken for a slip.
constexpr std::string_view kMembers[] = {"role",    "content",   "tool_calls",        "tool_call_id", "name",
                                         "refusal", "reasoning", "reasoning_content", "thinking",     "images"};
/// Those that say something by themselves.
constexpr std::string_view kSaying[] = {"content",           "tool_calls", "refusal", "reasoning",
                                        "reasoning_content", "thinking",   "images"};

/// Members under which clients give what belongs into `content`, also where it has no words.
constexpr std::string_view kCarrying[] = {"image",
                                          "image_url",
                                          "audio",
                                          "input_audio",
                                          "video",
                                          "videos",
                                          "audios",
                                          "documents",
                                          "document",
                                          "files",
                                          "file",
                                          "video_url",
                                          "attachments",
                                          "tool_responses",
                                          "tool_results",
                                          "functionResponse",
                                          "function_response"};

/// Lists of reasoning as services have them (OpenRouter, LiteLLM), and what in a part of reasoning is no words: beside
/// bookkeeping, what only the service can read.
constexpr std::string_view kThoughts[] = {"reasoning_details", "thinking_blocks"};
constexpr std::string_view kNoThoughts[] = {"type", "format", "data", "encrypted_content"};

class MessageSearch {
 public:
  MessageSearch(TextSearch& search, std::vector<MediaPart>& media) : search_(search), media_(media) {}

  void run(Value list) {
    for (std::uint32_t i = 0; i < list.list->size; ++i) {
      if (is_text(member(list.list->items[i], "role"), "user")) last_user_ = i;
    }
    const Place messages{nullptr, "messages"};
    for (number_ = 0; number_ < list.list->size; ++number_) {
      const Value& one = list.list->items[number_];
      if (one.kind == Kind::dict) {
        message(one, messages[number_]);
      } else if (has_content(one)) {
        Tally all = search_.tally();
        search_.leaves(false, one, "message", messages[number_], all);
      }
    }
  }

 private:
  void message(Value of, const Place& place) {
    const bool is_assistant = is_text(member(of, "role"), "assistant");
    cuts_ = !is_assistant ? Cuts::no : number_ <= last_user_ ? Cuts::over : Cuts::going_on;
    Tally all = search_.tally();
    for (const DictEntry& entry : entries(of)) {
      const std::string_view key = leaf_text(entry.key);
      const Place here = place[key];
      if (key == "content") {
        content(entry.value, here, all);
      } else if (key == "tool_calls") {
        find_lost_calls(search_, entry.value, here, all);
      } else if (key == "images") {
        images(entry.value, here, all);
      } else if (key == "refusal") {
        refusal(entry.value, here, all);
      } else if (is_one_of(key, kIds)) {
        search_.id(entry.value, here);
      } else if (key == "is_error") {
        failed(entry.value, here);
      } else if (key != "role") {
        other(of, entry, here, all);
      }
    }
    if (all.all_lost() && search_.lost_since(all) > 1) search_.lose_whole(all, "message", search_.path_of(of, place));
    hint_at_no_calls(of, all);
  }

  /// A template that asks whether there are calls, and not how many, shows an empty list of them in place of content.
  void hint_at_no_calls(Value of, const Tally& all) {
    const Value calls = member_value(of, "tool_calls");
    if (!calls.is_sequence() || calls.list->size != 0) return;
    for (std::size_t i = all.first_loss; i < search_.said(); ++i) {
      Loss& loss = search_.at(i);
      if (loss.kind == LossKind::lost && loss.hint.empty())
        loss.hint = "tool_calls is an empty list: leave it out where there are no calls";
    }
  }

  /// A text; of another type it counts where it has words.
  void refusal(Value value, const Place& place, Tally& all) {
    if (value.is_string()) return search_.text(value, "message", place, all);
    if (has_data(value)) return search_.leaves(search_.is_reached(value), value, "message", place, all);
    if (has_content(value) && search_.left_out() && !search_.is_reached(value))
      search_.leave_out("message", search_.path_of(value, place));
  }

  /// Anthropic's word for a tool that failed: nothing is printed of it, so who mentions it is believed.
  void failed(Value value, const Place& place) {
    if (value.kind != Kind::boolean || value.integer == 0 || search_.mentions("is_error")) return;
    search_.note({LossKind::lost, "message", search_.path_of(value, place),
                  "the prompt does not say that the tool failed",
                  "the template reads no is_error; say so in the content"});
  }

  /// A member that is none of those above: reasoning under some name, or one that templates do not know. Its name may
  /// be misspelt, or it holds what belongs into `content`.
  void other(Value of, const DictEntry& entry, const Place& here, Tally& all) {
    const std::string_view key = leaf_text(entry.key);
    if (is_one_of(key, kSaysLearnt) && !entry.value.is_string()) return;
    const std::string path = search_.path_of(entry.value, here);
    if (is_reasoning_name(std::string_view(path).substr(path.rfind('.') + 1)) ||
        search_.is_given_reasoning(entry.value))
      return has_shown_twin(of, entry) ? void() : reasoning(entry.value, here);
    if (is_one_of(key, kThoughts))  // beside a text, it says once more what that says
      return has_reasoning(of, *here.parent) ? void() : reasoning(entry.value, here);
    if (!has_content(entry.value) || search_.is_any_reached(entry.value)) return;
    if (key == "parts" && says_the_same(entry.value, member_value(of, "content")))
      return;  // as clients of some APIs do
    const std::string hint = slip_of(of, key);
    if (!hint.empty() && !search_.mentions(key)) {
      all.add(true);
      search_.lose("message", path, hint);
    } else if (belongs_into_content(key, entry.value)) {
      search_.lose_member("message", entry.value, here, all, "chat templates read 'content'");
    } else if (search_.left_out()) {
      search_.leave_out("message", path);
    }
  }

  /// The hint at a name that is near to this one, and that the message has not.
  static std::string slip_of(Value of, std::string_view key) {
    if (is_bookkeeping(key)) return {};
    NearestName nearest(key);
    for (const std::string_view known : kMembers) {
      const Value* there = member(of, known);
      if (there == nullptr || !has_content(*there)) nearest.offer(known);
    }
    return nearest.hint();
  }

  static bool belongs_into_content(std::string_view key, Value value) {
    return !is_bookkeeping(key) && (has_data(value) || is_one_of(key, kCarrying));
  }

  /// Is there reasoning as one text, which a list beside it says once more? Passes may have given it any name.
  bool has_reasoning(Value of, const Place& place) const {
    return std::ranges::any_of(entries(of), [&](const DictEntry& entry) {
      const Place here = place[leaf_text(entry.key)];
      if (entry.value.is_string()) return has_words(entry.value) && is_from_reasoning(entry.value, here);
      return leaf_text(entry.key) == "content" && entry.value.is_sequence() &&
             std::ranges::any_of(items(entry.value),
                                 [&](Value part) { return part.kind == Kind::dict && has_reasoning(part, here); });
    });
  }
  bool is_from_reasoning(Value text, const Place& place) const {
    const std::string path = search_.path_of(text, place);
    return is_reasoning_name(std::string_view(path).substr(path.rfind('.') + 1));
  }

  /// Clients send reasoning under two names: one that shows is enough, and of two that do not the first is said.
  bool has_shown_twin(Value of, const DictEntry& entry) const {
    if (!entry.value.is_string() || !entry.value.is_leaf()) return false;
    const auto is_twin = [&](const DictEntry& one) {
      return is_reasoning_name(leaf_text(one.key)) && one.value.is_string() && one.value.is_leaf() &&
             leaf_text(one.value) == leaf_text(entry.value);
    };
    for (const DictEntry& one : entries(of)) {
      if (&one != &entry && is_twin(one) && (&one < &entry || search_.is_reached(one.value))) return true;
    }
    return false;
  }

  /// Reasoning of a turn that is over is left out by design; in the turn that goes on the model needs it. Passes may
  /// give it any name; where it is from tells.
  void reasoning(Value value, const Place& place) {
    const bool over = number_ <= last_user_;
    if (over && !search_.left_out()) return;
    if (value.is_sequence() || value.kind == Kind::dict) return thoughts(value, place, over);
    for_each_text(value, [&](Value text) { thought(text, place, over); });
  }

  /// Reasoning as a list of parts: their texts.
  void thoughts(Value value, const Place& place, bool over) {
    if (value.is_sequence()) {
      for (std::uint32_t i = 0; i < value.list->size; ++i) thoughts(value.list->items[i], place[i], over);
    } else if (value.kind == Kind::dict) {
      for (const DictEntry& entry : entries(value)) {
        const std::string_view name = leaf_text(entry.key);
        const bool has_words = !is_one_of(name, kNoThoughts) && !is_one_of(name, kIds) && !is_bookkeeping(name);
        if (has_words) thoughts(entry.value, place[name], over);
      }
    } else {
      for_each_text(value, [&](Value text) { unthought(search_.path_of(text, place), over); });
    }
  }

  /// The texts of which a pass or the conversion of another API's request joined one, as far as they are missing.
  template <typename Function>
  void for_each_text(Value value, Function function) {
    if (!value.is_string()) return;
    for_each_piece(value, [&](std::string_view piece) {
      const Value text = Value::view(piece);
      if (has_words(text) && !search_.is_reached(text)) function(text);
    });
  }

  /// A pass may have joined content to reasoning, which is no reasoning for that.
  void thought(Value value, const Place& place, bool over) {
    std::string path = search_.path_of(value, place);
    if (is_reasoning_name(std::string_view(path).substr(path.rfind('.') + 1)) || search_.is_given_reasoning(value))
      return unthought(std::move(path), over);
    if (search_.is_first(path)) search_.lose("message", std::move(path));
  }

  void unthought(std::string path, bool over) {
    if (!search_.is_first(path)) return;  // given under two names
    if (over) {
      search_.leave_out("reasoning", std::move(path));
    } else {
      search_.lose("message", std::move(path), "the template does not show reasoning here");
    }
  }

  void content(Value value, const Place& place, Tally& all) {
    if (value.kind == Kind::dict) {
      note_python(value, place, all);
      return search_.members(value, "message", place, all);
    }
    if (value.kind != Kind::list) return search_.text(value, "message", place, all, cuts_);
    Tally parts = search_.tally();
    for (std::uint32_t i = 0; i < value.list->size; ++i) part(value.list->items[i], i, place[i], parts);
    if (parts.all_lost() && search_.lost_since(parts) > 1) {
      search_.lose_whole(parts, "message", search_.path_of(value, place));
    }
    all.add(parts);
  }

  void part(Value value, std::uint32_t number, const Place& place, Tally& parts) {
    if (value.is_string()) return search_.text(value, "part", place, parts, cuts_);
    if (value.is_none()) return;
    const Value* type = value.kind == Kind::dict ? member(value, "type") : nullptr;
    if (is_printed_as_data(value, type)) return printed_as_data(value, place, parts);
    note_python(value, place, parts);
    if (value.kind != Kind::dict) return search_.leaves(false, value, "part", place, parts);
    const bool has_type = type != nullptr && type->is_leaf();
    const bool is_known =
        has_type && (is_one_of(leaf_text(*type), kTextTypes) || find_media_type(leaf_text(*type)) != nullptr);
    const bool is_media = has_type && find_media_type(leaf_text(*type)) != nullptr;
    const Value* const said = member(value, "text");
    const bool has_text = said != nullptr && said->is_string();
    if (is_text(type, "thinking") || is_text(type, "reasoning")) return reasoning(value, place);
    if (has_text) search_.text(*said, "part", place["text"], parts, cuts_);
    if (has_text && !is_media) return members_of_part(value, "text", has_type && !is_known, place, parts);
    if (!has_type) return search_.members(value, "part", place, parts);
    // A refusal is words, so they are looked for. Without the part a template may print something else in its place,
    // which the test of media takes for an effect.
    if (const Value* words = member(value, "refusal");
        is_text(type, "refusal") && words != nullptr && words->is_string())
      return search_.text(*words, "part", place["refusal"], parts, cuts_);
    if (is_known && !is_media) return members_of_part(value, {}, false, place, parts);
    const bool is_printed = std::ranges::any_of(entries(value), [&](const DictEntry& one) {
      return &one.value != type && &one.value != said && search_.is_any_reached(one.value);
    });
    if (is_printed && !is_known) return members_of_part(value, {}, true, place, parts);
    if (is_media) captions(value, leaf_text(*type), place, parts);
    parts.add(false);  // until it is known
    if (is_printed) return;
    media_.push_back({number_, "content", number, path_of_media(value, *type, place), std::string(leaf_text(*type))});
  }

  /// Of a part whose type nobody knows, `all` that it says belongs into the prompt; of others what has words. `but` was
  /// looked for.
  void members_of_part(Value value, std::string_view but, bool all, const Place& place, Tally& parts) {
    for (const DictEntry& entry : entries(value)) {
      const std::string_view name = leaf_text(entry.key);
      if (name == "type" || name == but || !has_content(entry.value)) continue;
      if (is_one_of(name, kIds)) {
        search_.id(entry.value, place[name]);
      } else if (all || search_.is_any_reached(entry.value)) {
        search_.leaves(search_.is_key_reached(value, entry.key), entry.value, "part", place[name], parts);
      } else if (!is_bookkeeping(name) && has_data(entry.value)) {
        search_.lose_member("part", entry.value, place[name], parts);
      }
    }
  }

  /// Words beside an image or a sound, such as its title.
  void captions(Value value, std::string_view type, const Place& place, Tally& parts) {
    constexpr std::string_view kOfMedia[] = {"text",     "url",      "path",     "base64",    "data",
                                             "source",   "detail",   "format",   "mime_type", "media_type",
                                             "mimeType", "filename", "file_data"};
    for (const DictEntry& entry : entries(value)) {
      const std::string_view name = leaf_text(entry.key);
      const bool is_own = name == type || find_media_type(name) != nullptr || is_one_of(name, kOfMedia);
      if (is_own || is_one_of(name, kIds) || is_bookkeeping(name) || !has_data(entry.value)) continue;
      if (!search_.is_any_reached(entry.value)) search_.lose_member("part", entry.value, place[name], parts);
    }
  }

  /// A pass may have made the part of an image that stands elsewhere: of Ollama's `images`.
  std::string path_of_media(Value part, Value type, const Place& place) const {
    const Value link = member_value(part, leaf_text(type));
    const std::string given = link.is_string() ? search_.path_of(link, place) : std::string();
    return given.find(".images[") != given.npos ? given : search_.path_of(part, place);
  }

  /// As Ollama's API has them: beside the content.
  void images(Value value, const Place& place, Tally& all) {
    if (value.kind != Kind::list)
      return has_content(value) ? search_.leaves(false, value, "message", place, all) : void();
    for (std::uint32_t i = 0; i < value.list->size; ++i) {
      media_.push_back({number_, "images", i, search_.path_of(value.list->items[i], place[i]), "image"});
    }
  }

  /// Of a part that a pass made the type is no text of the request, but the part has the place of what it was made of.
  bool is_printed_as_data(Value part, const Value* type) const {
    return type != nullptr && type->is_string() && (search_.is_reached(*type) || search_.is_reached(part));
  }

  void printed_as_data(Value value, const Place& place, Tally& parts) {
    parts.add(false);
    search_.note({LossKind::lost, "data", search_.path_of(value, place),
                  "printed as data, with braces and the names of members",
                  "the template does not support content that is a list of such parts"});
  }

  /// An object or a list, such as a tool's result or what is in a part. Templates may print it as JSON on purpose, but
  /// not as Python does.
  void note_python(Value value, const Place& place, Tally& around) {
    if (!search_.is_python(value)) return;
    around.add(false);
    search_.note({LossKind::lost, "data", search_.path_of(value, place), "printed as Python writes data, not as JSON",
                  "the template takes text as content: give the data as JSON text"});
  }

  TextSearch& search_;
  std::vector<MediaPart>& media_;
  std::uint32_t number_ = 0;  ///< of the message
  std::uint32_t last_user_ = 0;
  Cuts cuts_ = Cuts::no;
};

/// What else text parts say, and passes drop as they make one text of the content.
class DroppedSearch {
 public:
  explicit DroppedSearch(TextSearch& search) : search_(search), said_(search.said_paths()) {}

  void run(Value messages) {
    if (!messages.is_sequence()) return;
    const Place place{nullptr, "messages"};
    for (std::uint32_t i = 0; i < messages.list->size; ++i) {
      const Value content = member_value(messages.list->items[i], "content");
      if (content.kind != Kind::list) continue;
      const Place message = place[i], list = message["content"];
      for (std::uint32_t number = 0; number < content.list->size; ++number)
        part(content.list->items[number], list[number]);
    }
  }

 private:
  void part(Value part, const Place& place) {
    const Value* type = member(part, "type");
    const bool has_text = type == nullptr || (type->is_leaf() && is_one_of(leaf_text(*type), kTextTypes));
    if (part.kind != Kind::dict || !has_text || member(part, "text") == nullptr) return;
    for (const DictEntry& entry : entries(part)) {
      const std::string_view name = leaf_text(entry.key);
      if (name == "text" || is_one_of(name, kIds) || is_bookkeeping(name) || !has_data(entry.value)) continue;
      std::string path = search_.path_of(entry.value, place[name]);
      if (!search_.is_any_reached(entry.value) && !is_said(path)) search_.lose("part", std::move(path));
    }
  }

  /// Does a loss speak of this path, or of what is around it?
  bool is_said(std::string_view path) const {
    for (std::size_t end = path.size(); end != 0 && end != path.npos; end = path.find_last_of(".[", end - 1)) {
      if (said_.find(path.substr(0, end)) != said_.end()) return true;
    }
    return false;
  }

  TextSearch& search_;
  const std::set<std::string, std::less<>> said_;
};

}  // namespace

void find_lost_messages(TextSearch& search, Value messages, std::vector<MediaPart>& media) {
  if (messages.is_sequence()) {
    MessageSearch(search, media).run(messages);
    return DroppedSearch(search).run(search.given("messages"));
  }
  if (!has_content(messages)) return;
  Tally all = search.tally();
  search.leaves(false, messages, "message", {nullptr, "messages"}, all);
  if (all.all_lost()) search.lose_whole(all, "message", "messages");
}

}  // namespace parlance
