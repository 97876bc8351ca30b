// The conversations in memory, where turns are dropped while others find them: session_store_test
//
// A turn that was kept long ago is restored without the store's lock. The tokenizer, which is asked then, lets
// something else happen in the middle. Begin reading at main.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <random>
#include <thread>

#include "serve/random_id.h"
#include "serve/sessions/store.h"

namespace {

using parlance::Session;
using parlance::TokenId;
using parlance::serve::Held;
using parlance::serve::name_of_response;
using parlance::serve::name_of_turn;
using parlance::serve::ServedModel;
using parlance::serve::SessionStore;
using HeldPtr = std::shared_ptr<const Held>;
using ModelPtr = std::shared_ptr<const ServedModel>;

int failures = 0;

void check(bool is_right, const std::string& what) {
  if (is_right) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

/// What happens while a turn is restored, once; unset: nothing.
std::function<void()> meanwhile;

/// Each byte is a token.
std::unique_ptr<parlance::Tokenizer> make_tokenizer() {
  const auto encode = [](std::string_view run, std::vector<TokenId>& ids) {
    for (const char c : run) ids.push_back(static_cast<unsigned char>(c));
    return parlance::Result<void>();
  };
  const auto text_of = [](TokenId id) {
    if (meanwhile) std::exchange(meanwhile, {})();
    return std::string(1, static_cast<char>(id));
  };
  return std::make_unique<parlance::CallbackTokenizer>(
      parlance::CallbackTokenizer::Parts{.added = {}, .encode = encode, .token_text = text_of, .facts = {}});
}

parlance::Template chat_template() {
  return *parlance::Template::compile("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}");
}

ModelPtr make_model() {
  return std::make_shared<ServedModel>(ServedModel{.name = "m",
                                                   .backend = nullptr,
                                                   .reader = parlance::RequestReader(chat_template()),
                                                   .tokenizer = make_tokenizer()});
}

/// Turn number `turn` of a session, which says it. Its `superseded` are the turns two before.
HeldPtr turn_of(const ModelPtr& model, const std::string& session, unsigned turn) {
  const auto name = [&session](unsigned number) {
    const std::string key = session + std::to_string(number);
    return parlance::serve::turn_name(session, key, 0, key);
  };
  const std::string key = session + std::to_string(turn), text = "Question " + key;
  parlance::Conversation chat;
  if (!chat.add({.role = "user", .content = text})) std::abort();
  auto begun = Session::begin(*model->reader.chat_template(false), *model->tokenizer, std::move(chat));
  if (!begun) std::abort();
  const std::vector<TokenId> sampled = {'Y', 'e', 's'};
  begun->append_sampled(sampled);
  return std::make_shared<Held>(Held{.id = session,
                                     .response_id = key,
                                     .model = model,
                                     .session = std::move(*begun),
                                     .name = name(turn),
                                     .reply = {.role = "assistant", .content = "Yes"},
                                     .written = "Yes",
                                     .key = key,
                                     .key_without_system = key,
                                     .variables = "",
                                     .previous = turn > 0 ? name(turn - 1) : "",
                                     .superseded = turn > 1 ? name(turn - 2) : "",
                                     .messages = 2,
                                     .now = {.year = 2026, .month = 11, .day = 28}});
}

std::string name_of(const std::string& session, unsigned turn) {
  return name_of_response(session + std::to_string(turn), "");
}

void keep_turns(SessionStore& store, const ModelPtr& model, unsigned count) {
  for (unsigned turn = 0; turn < count; ++turn) store.keep(turn_of(model, "s", turn), "");
}

std::vector<TokenId> ids_of(const HeldPtr& held) {
  if (held == nullptr) return {};
  return {held->session.ids().begin(), held->session.ids().end()};
}

/// What is kept later stays.
void drop_all(SessionStore& store) {
  store.drop_models([](const ModelPtr&) { return true; });
  store.drop_models([](const ModelPtr&) { return false; });
}

/// A turn of a model that a reload replaced ends behind it.
void check_replaced() {
  SessionStore store;
  const ModelPtr now = make_model();
  std::weak_ptr<const ServedModel> gone;
  {
    const ModelPtr before = make_model();
    gone = before;
    store.keep(turn_of(before, "s", 0), "");
    store.drop_models([&now](const ModelPtr& model) { return model != now; });
    store.keep(turn_of(before, "s", 1), "");
    store.keep_found(turn_of(before, "s", 2), "", true, store.drops());
  }
  check(gone.expired() && store.use().bytes == 0, "nothing is kept of a model that was replaced");
  store.keep(turn_of(now, "s", 0), "");
  check(store.find(name_of("s", 0), now) != nullptr, "turns of the model that replaced it are kept");
}

void check_restored() {
  const ModelPtr model = make_model();
  SessionStore store;
  keep_turns(store, model, 4);
  const HeldPtr first = store.find(name_of("s", 0), model), again = store.find(name_of("s", 0), model);
  check(first != nullptr && first == again, "a turn that was restored is there when it is asked for again");
  check(ids_of(first) == ids_of(turn_of(model, "s", 0)), "it has its ids");
  check(store.use().conversations == 2, "two turns are as they are");
}

/// `happens` drops the turn, or its model, while it is restored.
void check_dropped(const std::string& what, const std::function<void(SessionStore&, const ModelPtr&)>& happens) {
  std::weak_ptr<const ServedModel> gone;
  std::weak_ptr<const Held> dropped;
  SessionStore store;
  {
    const ModelPtr model = make_model();
    gone = model;
    keep_turns(store, model, 3);
    meanwhile = [&] { happens(store, model); };
    const HeldPtr held = store.find(name_of("s", 0), model);
    check(held != nullptr && !meanwhile, what + ": who asked before gets the turn");
    dropped = held;
  }
  check(dropped.expired(), what + ": nobody keeps what nobody can find");
  SessionStore other;
  const ModelPtr model = make_model();
  keep_turns(other, model, 3);
  happens(other, model);
  check(store.use().bytes == other.use().bytes, what + ": its bytes are not counted");
  drop_all(store);
  check(store.use().bytes == 0 && gone.expired(), what + ": all is given back");
}

/// Things with names of their own and shared ones, put in and taken out in many orders: the newest is found.
void check_names() {
  using Index = parlance::serve::NameIndex<unsigned>;
  std::mt19937 draw(7);
  for (unsigned round = 0; round < 300; ++round) {
    Index index;
    std::vector<Index::Names> things;
    std::vector<unsigned> there;
    for (unsigned number = 0; number < 12; ++number)
      things.emplace_back(
          std::vector<std::string>{std::to_string(number), "shared " + std::to_string(number % 2), "all"});
    const auto newest_of = [&](unsigned step, unsigned rest) {
      for (std::size_t at = there.size(); at > 0; --at)
        if (there[at - 1] % step == rest) return static_cast<int>(there[at - 1]);
      return -1;
    };
    const auto found = [&](const std::string& name) {
      const unsigned* const place = index.newest(name);
      return place != nullptr ? static_cast<int>(*place) : -1;
    };
    for (unsigned times = 0; times < 40; ++times) {
      const auto number = static_cast<unsigned>(draw() % things.size());
      const auto known = std::find(there.begin(), there.end(), number);
      if (known == there.end()) {
        index.put(things[number], number);
        there.push_back(number);
      } else {
        index.take_out(things[number]);
        there.erase(known);
      }
      const bool is_right = found("all") == newest_of(1, 0) && found("shared 0") == newest_of(2, 0) &&
                            found("shared 1") == newest_of(2, 1) &&
                            found(std::to_string(number)) == newest_of(12, number);
      if (!is_right) return check(false, "the newest of a name");
    }
  }
}

/// What was found in a store that gateways share, while somebody deleted something here.
void check_found() {
  const ModelPtr model = make_model();
  SessionStore store;
  const HeldPtr turn = turn_of(model, "s", 0);
  const std::string by_key = parlance::serve::name_of_key(turn->key);
  const std::uint64_t before = store.drops();
  store.drop(name_of("s", 0), "m");
  store.keep_found(turn, "", true, before);
  check(store.use().conversations == 0, "what was deleted during the search is not kept");
  store.keep_found(turn, "", false, store.drops());
  check(store.find(by_key, model) == turn && store.find(name_of("s", 0), model) == nullptr,
        "a turn that was found by its messages is not found by its response");
  store.keep_found(turn, "", true, store.drops());
  check(store.find(name_of("s", 0), model) == turn, "but if it was found by that");
  store.keep_found(turn, "", false, store.drops());
  check(store.find(name_of("s", 0), model) == turn, "then it stays so");
}

/// Two processes, as gateways that change something at the same time and then wait before they try again.
void check_numbers() {
  const auto drawn = [] {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    if (fork() == 0) {
      std::array<std::uint32_t, 8> numbers{};
      for (std::uint32_t& number : numbers) number = parlance::serve::random_number(1'000'000);
      _exit(write(ends[1], numbers.data(), sizeof numbers) == sizeof numbers ? 0 : 1);
    }
    close(ends[1]);
    std::array<std::uint32_t, 8> numbers{};
    const bool is_whole = read(ends[0], numbers.data(), sizeof numbers) == sizeof numbers;
    close(ends[0]);
    wait(nullptr);
    check(is_whole && std::ranges::all_of(numbers, [](std::uint32_t number) { return number < 1'000'000; }), "numbers");
    return numbers;
  };
  check(drawn() != drawn(), "two processes draw other numbers");
}

void check_threads() {
  const ModelPtr model = make_model();
  SessionStore store(64, std::size_t{256} << 10);
  std::atomic<unsigned> found = 0;
  const auto work = [&](unsigned seed) {
    std::mt19937 draw(seed);
    for (unsigned turn = 0; turn < 600; ++turn) {
      store.keep(turn_of(model, "t" + std::to_string(seed), turn), "");
      for (unsigned times = 0; times < 4; ++times) {
        const std::string session = "t" + std::to_string(draw() % 4);
        const unsigned other = turn - std::min<unsigned>(turn, draw() % 24);
        if (store.find(name_of(session, other), model)) ++found;
      }
      if (draw() % 3 == 0) store.drop(name_of("t" + std::to_string(draw() % 4), turn - std::min(turn, 3U)), "m");
      if (draw() % 200 == 0) drop_all(store);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  }
  check(found > 100, "turns are found: " + std::to_string(found));
  drop_all(store);
  check(store.use().bytes == 0 && store.use().conversations == 0, "threads: all is given back");
}

}  // namespace

int main() {
  check_names();
  check_numbers();
  check_restored();
  check_dropped("a turn is dropped", [](SessionStore& store, const ModelPtr&) { store.drop(name_of("s", 0), "m"); });
  check_dropped("a model goes", [](SessionStore& store, const ModelPtr&) { drop_all(store); });
  check_dropped("a turn is kept again",
                [](SessionStore& store, const ModelPtr& model) { store.keep(turn_of(model, "s", 0), ""); });
  check_found();
  check_replaced();
  check_threads();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
