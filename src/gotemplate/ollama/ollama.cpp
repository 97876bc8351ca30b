// The three ways a template is run. Begin reading at OllamaRun::run.
#include "gotemplate/ollama/ollama.h"

#include <algorithm>
#include <functional>

namespace parlance::gotemplate {

/// The map that Ollama's template.Execute builds; which members there are differs between its three ways. A missing
/// member prints as <no value>, so a member too many would change prompts.
Value OllamaRun::data(const ChatRequest& request, std::initializer_list<DictEntry> more) {
  const DictEntry common[] = {
      {Value::view("Response"), Value::view("")},
      {Value::view("Think"), Value::boolean(request.think)},
      {Value::view("ThinkLevel"), request.think_level},
      {Value::view("IsThinkSet"), Value::boolean(request.think_set)},
  };
  const std::size_t size = std::size(common) + more.size();
  auto* entries = rt_.arena.allocate_array<DictEntry>(size);
  // Later ones replace: an exchange has a response of its own.
  std::copy(std::begin(common), std::end(common), entries);
  std::size_t count = std::size(common);
  for (const DictEntry& entry : more) {
    const bool is_response = leaf_text(entry.key) == "Response";
    entries[is_response ? 0 : count++] = entry;
  }
  Value v;
  v.kind = Kind::dict;
  v.dict = rt_.arena.make<DictObject>(static_cast<std::uint32_t>(count), 0u, entries, nullptr, 0u,
                                      static_cast<std::uint32_t>(count));
  static_assert(std::size(common) + 3 <= kLinearDict, "a dict of this size needs an index");
  return v;
}

/// Pointers to structs, since Ollama passes []*templateMessage: printing a message shows an address there. structures_
/// remembers which struct is which turn, so that note() can tell the observer.
Value OllamaRun::message_list(const ChatRequest& request) {
  if (request.turns.empty()) return nil_of(Type::messages);
  const std::size_t size = request.turns.size();
  Value* list = rt_.arena.allocate_array<Value>(size);
  for (std::size_t i = 0; i < size; ++i) {
    const Turn& turn = request.turns[i];
    list[i] = with_type(make_list(rt_, turn.fields, Turn::kFields), Type::message_pointer);
    list[i].origin = turn.origin;
  }
  if (observer_ != nullptr) {
    structures_ = {rt_.arena.allocate_array<Structure>(size), size};
    for (std::size_t i = 0; i < size; ++i) structures_[i] = {list[i].list, &request.turns[i]};
    std::ranges::sort(structures_, std::less<>(), &Structure::list);
  }
  return with_type(make_list(rt_, list, size), Type::messages);
}

void OllamaRun::note(std::uint32_t depth, Value element, std::uint64_t bytes) {
  if (element.is_undefined()) return observer_->note(depth, nullptr, bytes);
  const auto found = std::ranges::lower_bound(structures_, element.list, std::less<>(), &Structure::list);
  if (found != structures_.end() && found->list == element.list) observer_->note(depth, found->turn, bytes);
}

/// Ollama's three ways, in its order: fill-in-the-middle where both a prompt and a suffix are given; once over all
/// messages where the template mentions them; else once per exchange.
bool OllamaRun::run(const ChatRequest& request) {
  const auto is_given = [](Value text) { return length_of(text) != 0; };
  if (is_given(request.prompt) && is_given(request.suffix)) {
    const Value all = data(request, {{Value::view("Prompt"), request.prompt}, {Value::view("Suffix"), request.suffix}});
    return executor_.run(*program_.root, all, {});
  }
  return program_.mentions_messages ? run_messages(request) : run_exchanges(request);
}

bool OllamaRun::run_messages(const ChatRequest& request) {
  if (observer_ != nullptr) executor_.observe(*this);
  const Value all = data(request, {{Value::view("Messages"), message_list(request)},
                                   {Value::view("System"), request.system},
                                   {Value::view("Tools"), request.tools}});
  return executor_.run(*program_.root, all, {});
}

bool OllamaRun::run_exchange(const Tree& tree, RunMode mode, const ChatRequest& request, const Exchange& exchange) {
  const Value all = data(request, {{Value::view("Response"), exchange.response},
                                   {Value::view("System"), exchange.system},
                                   {Value::view("Prompt"), exchange.prompt}});
  if (observer_ != nullptr) observer_->note(0, exchange.answer, output_.bytes());
  const bool fine = executor_.run(tree, all, mode);
  if (observer_ != nullptr) observer_->note(0, nullptr, output_.bytes());
  return fine;
}

/// Older templates know one exchange: system, prompt, response. A message that would overwrite what the exchange
/// already has ends it and begins the next. The last exchange runs with the tree that is cut at the response, since the
/// model is to write that.
bool OllamaRun::run_exchanges(const ChatRequest& request) {
  const Exchange nothing{Value::view(""), Value::view(""), Value::view("")};
  Exchange now = nothing;
  for (const Turn& turn : request.turns) {
    const std::string_view role = turn.role_name();
    const bool answered = length_of(now.response) != 0;
    const bool full = (role == "system" && (answered || length_of(now.prompt) != 0)) || (role == "user" && answered);
    if (full) {
      if (!run_exchange(*program_.root, {}, request, now)) return false;
      now = nothing;
    }
    if (role == "system") now.system = turn[Turn::content];
    if (role == "user") now.prompt = turn[Turn::content];
    if (role == "assistant") {
      now.response = turn[Turn::content];
      now.answer = &turn;
    }
  }
  if (program_.cut == nullptr) {
    // What Go says when Ollama's code takes the missing else for a list.
    rt_.fail(ErrorCode::go_panic, "interface conversion: parse.Node is nil, not *parse.ListNode");
    return false;
  }
  return run_exchange(*program_.cut, {true}, request, now);
}

}  // namespace parlance::gotemplate
