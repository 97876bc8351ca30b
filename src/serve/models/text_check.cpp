// Counts tokens with the engine. Begin reading at TextCheck::begin.
#include "serve/models/text_check.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/http/waiter.h"
#include "serve/http/within.h"
#include "serve/models/model.h"
#include "serve/models/probe_text.h"

namespace parlance::serve {

namespace {

constexpr auto kLongestCount = std::chrono::seconds(3);
constexpr auto kShortestPause = std::chrono::seconds(1), kLongestPause = std::chrono::seconds(60);
constexpr std::string_view kLetter = "a";  // nothing in it is read in two ways

/// The tokens with which the model's prompts may begin.
std::vector<TokenId> first_tokens_of(const Tokenizer& tokenizer) {
  const TokenizerFacts& facts = tokenizer.facts();
  if (!facts.puts_before.empty() || !facts.puts_after.empty() || !facts.bos) return facts.puts_before;
  return {*facts.bos};
}

std::string text_of_tokens(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.token_text(id);
  return text;
}

bool opens_with(std::span<const TokenId> prompt, std::span<const TokenId> first) {
  return !first.empty() && prompt.size() >= first.size() && std::equal(first.begin(), first.end(), prompt.begin());
}

/// A text, and how many tokens it has here; -1: nobody can say.
struct CountedText {
  std::string text;
  std::int64_t tokens = -1;
};

CountedText counted_here(const Tokenizer& tokenizer, std::string text) {
  std::vector<EncodedToken> tokens;
  if (!tokenizer.encode(text, nullptr, tokens)) return {std::move(text)};
  return {std::move(text), static_cast<std::int64_t>(tokens.size())};
}

/// All that a count needs of the model.
struct CountQuestion {
  std::shared_ptr<Backend> backend;
  EngineInfo info;
  CountedText begun{};  ///< with control tokens, and the first tokens in front
  CountedText letter{};
  std::size_t before = 0;   ///< the first tokens
  std::int64_t around = 0;  ///< these, and those that the tokenizer puts behind a text
  std::string first{};      ///< the text of the first tokens
};

CountQuestion question_of(const ServedModel& model, const EngineInfo& info) {
  const Tokenizer& tokenizer = *model.tokenizer;
  const std::vector<TokenId> first = first_tokens_of(tokenizer);
  CountQuestion made{.backend = model.backend, .info = info, .before = first.size()};
  made.around = static_cast<std::int64_t>(first.size() + tokenizer.facts().puts_after.size());
  made.first = text_of_tokens(tokenizer, first);
  std::string begun = made.first + std::string(kProbeText);
  for (const std::string& stop : model.stop_texts) begun += stop;
  made.begun = counted_here(tokenizer, std::move(begun));
  made.letter = counted_here(tokenizer, std::string(kLetter));
  return made;
}

/// What came of a count.
struct CountOutcome {
  enum class Kind : std::uint8_t {
    known,
    silent,  ///< it does not say
    failed,  ///< it did not say now
  };
  Kind kind = Kind::failed;
  std::size_t in_front = 0;
  std::string words{};  ///< known: a warning, or ""; else why it is not
};

CountOutcome unlike(std::int64_t surplus, bool in_each) {
  const std::string size = std::to_string(surplus > 0 ? surplus : -surplus) + (surplus == 1 ? " token" : " tokens");
  const std::string counts = "this engine counts " + size + (surplus > 0 ? " more" : " fewer");
  if (in_each) {
    return {
        CountOutcome::Kind::known, 0,
        counts +
            " in each text than this model's tokenizer does. It puts something in front of it or behind; prompts are "
            "sent as they are"};
  }
  return {CountOutcome::Kind::known, 0,
          counts +
              " in a text with control tokens than this model's tokenizer does: it reads them as plain text, or "
              "its tokenizer is another one"};
}

/// One that puts tokens in front of each text puts them in front of one that begins with them, and of a letter.
/// Throws EngineFailure.
Task<CountOutcome> count_with(const CountQuestion& asked) {
  const CountOutcome silent{CountOutcome::Kind::silent, 0, "it does not say how many tokens a text has"};
  if (asked.begun.tokens < 0 || asked.letter.tokens < 0) co_return silent;
  const std::optional<std::int64_t> theirs = co_await asked.backend->count(asked.info, asked.begun.text);
  if (theirs.value_or(0) == 0) co_return silent;
  const std::int64_t surplus = *theirs - asked.begun.tokens;
  if (surplus == 0) co_return CountOutcome(CountOutcome::Kind::known);
  const std::optional<std::int64_t> letter = co_await asked.backend->count(asked.info, asked.letter.text);
  if (letter.value_or(0) == 0) co_return silent;
  const bool in_each = *letter - asked.letter.tokens == surplus;
  if (!in_each || asked.before == 0 || surplus != asked.around) co_return unlike(surplus, in_each);
  co_return CountOutcome(CountOutcome::Kind::known, asked.before);
}

/// An engine that refuses the question refuses it later, too.
CountOutcome outcome_of_failure(const EngineFailure& failure) {
  const unsigned status = failure.kind() == EngineFailure::Kind::status ? failure.status() : 0;
  constexpr unsigned kPassing[] = {401, 403, 408, 425, 429};
  const bool passes = std::ranges::find(kPassing, status) != std::end(kPassing);
  const bool refuses = status >= 400 && status < 500 && !passes;
  return {refuses ? CountOutcome::Kind::silent : CountOutcome::Kind::failed, 0, failure.what()};
}

Task<CountOutcome> count_in_time(const CountQuestion& asked) {
  CountOutcome made{CountOutcome::Kind::failed, 0, "it has not counted the tokens of a text in 3 s"};
  const auto ask = [&]() -> Task<> { made = co_await count_with(asked); };
  try {
    co_await within(kLongestCount, ask);
  } catch (const EngineFailure& failure) {
    made = outcome_of_failure(failure);
  } catch (const std::exception& failure) {
    made.words = failure.what();
  }
  co_return made;
}

}  // namespace

struct TextCheck::State {
  using Clock = std::chrono::steady_clock;

  /// Whether a count of the engine's model of this name is to begin now; then its age.
  std::optional<std::uint64_t> enter(const std::string& of) {
    const std::lock_guard lock(mutex);
    if (of != name) forget();
    name = of;
    if (counts || (known && !doubted) || Clock::now() < due) return std::nullopt;
    counts = true;
    return age;
  }

  void forget() {
    known = doubted = was_counted = false;
    in_front = 0;
    if_changed = 0;
    due = {};
    pause = kShortestPause;
    ++age;
  }

  static Task<> count(std::shared_ptr<State> self, CountQuestion asked, std::uint64_t begun) {
    const CountOutcome outcome = co_await count_in_time(asked);
    self->end(asked, outcome, begun);
  }

  void end(const CountQuestion& asked, const CountOutcome& outcome, std::uint64_t begun) {
    const std::lock_guard lock(mutex);
    counts = false;
    for (const std::shared_ptr<Waiter>& one : waiting) Waiter::wake(one);
    waiting.clear();
    if (begun != age) return;  // another engine may answer by now
    was_counted = true;
    due = Clock::now() + pause;
    pause = std::min<Clock::duration>(2 * pause, kLongestPause);
    const bool fails = outcome.kind == CountOutcome::Kind::failed;
    if (!fails || !known) {
      known = !fails;
      doubted = false;
      in_front = outcome.in_front;
      const auto before = static_cast<std::int64_t>(asked.before);
      if_changed = outcome.words.empty() ? (in_front > 0 ? -before : before) : 0;
    }
    say(asked, outcome);
  }

  void say(const CountQuestion& asked, const CountOutcome& outcome) {
    std::string sentence = outcome.words;
    if (outcome.kind != CountOutcome::Kind::known) {
      if (asked.before == 0 || said_unknown) return;
      said_unknown = true;
      sentence = "nobody knows whether this engine puts '" + asked.first +
                 "' in front of each text by itself, so that a prompt may have it twice: " + outcome.words;
    }
    if (sentence.empty() || sentence == last) return;
    last = sentence;
    if (told) told(sentence);
  }

  /// Among those who wait for the first count. No timer stays there longer than its loop.
  struct Place {
    Place(State& state, std::shared_ptr<Waiter> who) : of(state), one(std::move(who)) {
      const std::lock_guard lock(of.mutex);
      is_early = of.counts && !of.was_counted;
      if (is_early) of.waiting.push_back(one);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      const std::lock_guard lock(of.mutex);
      std::erase(of.waiting, one);
    }
    State& of;
    const std::shared_ptr<Waiter> one;
    bool is_early = false;
  };

  std::mutex mutex;  // of what follows
  std::function<void(std::string_view)> told;
  std::string name;          ///< of the engine's model
  bool counts = false;       ///< a count is under way
  bool known = false;        ///< also that the engine does not say it
  bool doubted = false;      ///< known, and to be counted again
  bool was_counted = false;  ///< well or not
  std::size_t in_front = 0;
  std::int64_t if_changed = 0;  ///< so many tokens more a prompt has there, if it is no longer so; 0: it cannot be seen
  Clock::time_point due{};      ///< no count begins before
  Clock::duration pause = kShortestPause;
  std::uint64_t age = 0;  ///< another one after each forget()
  std::vector<std::shared_ptr<Waiter>> waiting;
  bool said_unknown = false;
  std::string last;  ///< sentence
};

TextCheck::TextCheck() : state_(std::make_shared<State>()) {}

void TextCheck::tell(std::function<void(std::string_view)> told) {
  const std::lock_guard lock(state_->mutex);
  state_->told = std::move(told);
}

Task<> TextCheck::begin(const ServedModel& model) {
  const std::shared_ptr<const EngineInfo> info = model.backend->info();
  if (!info || info->first || model.backend->facts().takes_ids) co_return;
  const std::optional<std::uint64_t> age = state_->enter(info->model);
  if (!age) co_return;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  asio::co_spawn(executor, State::count(state_, question_of(model, *info), *age), asio::detached);
}

Task<std::size_t> TextCheck::in_front(const ServedModel& model, std::span<const TokenId> prompt) {
  const std::shared_ptr<const EngineInfo> info = model.backend->info();
  if (info && info->first) co_return *info->first >= 0 && !prompt.empty() && prompt.front() == *info->first ? 1 : 0;
  co_await begin(model);
  if (!opens_with(prompt, first_tokens_of(*model.tokenizer))) co_return 0;
  const std::shared_ptr<State> state = state_;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const State::Place place(*state, std::make_shared<Waiter>(executor));
  boost::system::error_code woken;
  if (place.is_early) woken = co_await place.one->wait(State::Clock::now() + kLongestCount);
  const std::lock_guard lock(state->mutex);
  const bool is_over = std::ranges::find(state->waiting, place.one) == state->waiting.end();
  if (woken && !is_over) throw boost::system::system_error(woken);  // the client is gone
  co_return state->in_front;
}

void TextCheck::compare(const ServedModel& model, std::span<const TokenId> prompt, std::int64_t told) {
  if (!opens_with(prompt, first_tokens_of(*model.tokenizer))) return;
  const std::int64_t more = told - static_cast<std::int64_t>(prompt.size());
  const std::lock_guard lock(state_->mutex);
  if (more != 0 && more == state_->if_changed) state_->doubted = true;
}

void TextCheck::doubt() {
  const std::lock_guard lock(state_->mutex);
  state_->doubted = true;
}

void TextCheck::forget() {
  const std::lock_guard lock(state_->mutex);
  state_->forget();
}

}  // namespace parlance::serve
