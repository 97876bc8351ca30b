// Openings: what is asked, what is kept of the answers, and for which requests. Begin reading at Openings::begin_of;
// learn_from_probes says what a store learns.
#include "render/openings.h"

#include <algorithm>
#include <array>
#include <memory>

#include "render/beginnings.h"
#include "render/openings_probes.h"
#include "render/rendering.h"

namespace parlance {

/// Nothing where the answer is not certain: then one render more tells it. Leads that disagree are such a case.
std::optional<std::uint64_t> Openings::begin_of(const Conversation& conversation, const Rendering& prompt,
                                                const jinja::Turn& turn, std::int32_t message,
                                                std::string_view role) const {
  const auto known =
      std::find_if(situations_.begin(), situations_.end(), [&](const Learned& s) { return s.role == role; });
  if (known == situations_.end()) return {};
  std::optional<std::uint64_t> found;
  for (const Lead& lead : known->leads) {
    const std::optional<std::uint64_t> end = lead.end_in(prompt.text(), turn);
    if (end && found && *end != *found) return {};
    if (end) found = end;
  }
  // As where a template writes no generation prompt behind some messages, but the header in their history.
  if (found && begins_with_header(prompt.text().substr(*found, turn.end - *found))) return {};
  if (found || !known->is_sure || known->header.text.empty()) return found;
  const std::string_view text = prompt.text().substr(turn.begin, turn.end - turn.begin);
  if (known->header.match(text) == 0 && alone_ && alone_->match(text) != 0) return {};
  return header_end(known->header, prompt, turn, own_text(conversation, prompt, message, turn));
}

bool Openings::begins_with_header(std::string_view text) const {
  const std::size_t shared = alone_ ? alone_->match(text) : 0;
  return text.substr(0, shared).find_first_not_of(" \n\t") < shared;
}

Openings::Learned& Openings::learned_behind(std::string_view role) {
  const auto found =
      std::find_if(situations_.begin(), situations_.end(), [&](const Learned& s) { return s.role == role; });
  if (found != situations_.end()) return *found;
  Learned& made = situations_.emplace_back();
  made.role = role;
  return made;
}

void Openings::learn(const Conversation& conversation, const OpeningRenderer& render) {
  if (!conversation.messages().is_sequence()) return;
  const std::span<const Value> messages = items(conversation.messages());
  Rendering prompt;
  std::vector<jinja::Turn> turns;
  if (!render(conversation, messages, false, prompt, &turns)) return;
  const BeginningRenderer render_part = [&](std::span<const Value> part, bool generation_prompt, Rendering& into) {
    return render(conversation, part, generation_prompt, into, nullptr);
  };
  Beginnings beginnings(conversation, render_part, prompt);
  if (!alone_) alone_ = beginnings.alone();
  for (jinja::Turn turn : turns) {
    const auto message = std::find_if(messages.begin(), messages.end(), [&](Value m) { return m.dict == turn.item; });
    turn.end = std::min<std::uint64_t>(turn.end, prompt.text().size());
    if (message == messages.end() || turn.begin >= turn.end || role_of(*turn.item) != "assistant") continue;
    Header behind = own_behind(prompt, turn.end);
    closing_ = closing_ ? in_common(std::move(behind), *closing_) : std::move(behind);
    const auto number = static_cast<std::int32_t>(message - messages.begin());
    Learned& learned = learned_behind(role_before(messages, number));
    Beginnings::Answer answer = beginnings.ask(turn, number);
    if (answer.begin) {
      if (behind_lead(learned, prompt.text(), turn) != answer.begin) learned.leads.push_back(std::move(answer.lead));
    } else if (learned.header.text.empty() && learned.is_sure && answer.is_plain) {
      learned.header = std::move(answer.header);
    } else if (!answer.is_plain || learned.header.text != answer.header.text) {
      learned.is_sure = false;
    }
  }
}

namespace {

/// The variables of a request that may change how turns open, in a few words: the key that openings are kept by.
class OpeningKey {
 public:
  OpeningKey(const jinja::Program& program, const DictObject* variables) : program_(program) {
    if (variables == nullptr) return;
    for (const DictEntry& entry : std::span(variables->entries, variables->size)) {
      const std::string_view name = entry.key.is_leaf() ? leaf_text(entry.key) : std::string_view();
      if (is_read(name)) add(name, entry.value);
    }
  }
  bool is_complete() const { return is_complete_; }
  std::string_view text() const { return {text_.data(), size_}; }

  /// Sets the variables that the key stands for.
  static void apply(std::string_view key, Conversation& conversation);

 private:
  static constexpr std::string_view kOther = "other words";  ///< for a text that the template does not know

  /// A template's own variable, and not one of those that each conversation to learn from has its own of.
  bool is_read(std::string_view name) const {
    if (name == "messages" || name == "add_generation_prompt" || name == "continue_final_message") return false;
    return std::any_of(program_.names.begin(), program_.names.end(),
                       [&](const jinja::VariableName& v) { return v.name == name && !v.is_global; });
  }
  /// Is the text a constant, or in a list of them?
  static bool holds(const Value& constant, std::string_view text) {
    if (constant.is_leaf()) return leaf_text(constant) == text;
    return constant.is_sequence() &&
           std::any_of(items(constant).begin(), items(constant).end(), [&](const Value& v) { return holds(v, text); });
  }
  bool is_constant(std::string_view text) const {
    return std::any_of(program_.constants.begin(), program_.constants.end(),
                       [&](const Value& v) { return holds(v, text); });
  }
  void add(std::string_view name, Value value) {
    put(name);
    put("=");
    switch (value.kind) {
      case Kind::none: put("null"); break;
      case Kind::boolean: put(value.integer != 0 ? "true" : "false"); break;
      case Kind::integer: put(value.is_small_int() ? std::to_string(value.integer) : ""); break;
      case Kind::string: add_text(name, value); break;
      case Kind::list: put(value.list->size == 0 ? "[]" : name == "tools" ? probe_tools() : ""); break;
      default: put(""); break;
    }
    put("\n");
  }
  /// What is said to a model or a user hardly ever is what a template asks for; tokens are few and may stand in a
  /// header.
  void add_text(std::string_view name, Value value) {
    const bool is_known = value.is_leaf() && (name.ends_with("_token") || is_constant(leaf_text(value)));
    const std::string_view text = is_known ? leaf_text(value) : kOther;
    const bool is_simple =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c != '"' && c != '\\'; });
    put("\"");
    put(is_simple ? text : "");
    put("\"");
  }
  /// An empty text has no place in a key.
  void put(std::string_view text) {
    is_complete_ = is_complete_ && !text.empty() && text.size() <= text_.size() - size_;
    if (!is_complete_) return;
    std::copy(text.begin(), text.end(), text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += text.size();
  }

  const jinja::Program& program_;
  std::array<char, 1024> text_;
  std::size_t size_ = 0;
  bool is_complete_ = true;
};

void OpeningKey::apply(std::string_view key, Conversation& conversation) {
  while (!key.empty()) {
    const std::string_view line = key.substr(0, key.find('\n'));
    const std::size_t name = line.find('=');
    key.remove_prefix(line.size() + 1);
    // What is no JSON is not set: then the openings are those of a request without it, as they are for each like it.
    if (Result<void> set = conversation.set_json(line.substr(0, name), line.substr(name + 1)); !set) continue;
  }
}

/// A conversation in which every text is made of what the template itself compares with: commands such as /no_think.
std::string words_of(const jinja::Program& program) {
  constexpr std::size_t kLongest = 24, kMost = 2048;
  std::string words;
  for (const Value& constant : program.constants) {
    if (!constant.is_leaf() || constant.size == 0 || constant.size > kLongest) continue;
    const std::string_view text = leaf_text(constant);
    const bool is_plain =
        std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c != '"' && c != '\\' && c != '<'; });
    if (is_plain && words.size() < kMost) words.append(" ").append(text);
  }
  return words;
}

Openings learn_from_probes(const jinja::Program& program, std::string_view key, const OpeningRenderer& render) {
  Openings learned;
  const std::string words = words_of(program);
  for (std::string_view probe : opening_probes()) {
    std::string json = "{\"messages\": " + std::string(probe) + "}";
    for (std::size_t at; (at = json.find("%WORDS%")) != json.npos;) json.replace(at, 7, words);
    Conversation conversation;
    if (!conversation.read(json, {.normalise = false})) continue;
    OpeningKey::apply(key, conversation);
    learned.learn(conversation, render);
  }
  return learned;
}

}  // namespace

OpeningStore::~OpeningStore() {
  for (const Entry* entry = entries_.load(); entry != nullptr;) {
    const std::unique_ptr<const Entry> gone(entry);
    entry = gone->next;
  }
}

/// Without a lock: entries are only ever put in front, and a published one never changes.
const Openings* OpeningStore::look_up(std::string_view key) const {
  for (const Entry* entry = entries_.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
    if (entry->key == key) return &entry->openings;
  }
  return nullptr;
}

/// Learning takes dozens of renders, so two threads may learn the same at once rather than wait. The list is bounded by
/// kMost: keys come from requests. Past it, what was learned serves this render only, in `spare`.
const Openings* OpeningStore::find(const jinja::Program& program, const DictObject* variables,
                                   const OpeningRenderer& render, std::optional<Openings>& spare) const {
  const OpeningKey key(program, variables);
  if (!key.is_complete()) return nullptr;
  if (const Openings* known = look_up(key.text())) return known;
  Openings learned = learn_from_probes(program, key.text(), render);
  const std::lock_guard lock(mutex_);
  if (const Openings* known = look_up(key.text())) return known;
  if (count_ == kMost) return &spare.emplace(std::move(learned));
  ++count_;
  auto entry = std::make_unique<Entry>(Entry{std::string(key.text()), std::move(learned), entries_.load()});
  const Openings* kept = &entry->openings;
  entries_.store(entry.release(), std::memory_order_release);
  return kept;
}

}  // namespace parlance
