// Inspector: the last turns in memory, for a page that shows them, and what happens at this moment.
//
// A turn is kept as it is; what a page wants to know of it is computed when it asks (turn_json.h).
#pragma once
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "serve/capture/record.h"

namespace parlance::serve {

/// Who looks: the owner of some sessions, or, unset, somebody who may see all.
using Viewer = std::optional<std::string>;

/// A turn that has ended. It never changes.
struct InspectedTurn {
  std::shared_ptr<const ServedModel> model;
  TurnFacts facts;
  std::uint64_t turn = 0;  ///< number of the reply in its session
  unsigned choice = 0;
  std::shared_ptr<const Session> session;  ///< with the sampled ids, or without
  std::size_t prompt_tokens = 0;
  std::size_t reused = 0;
  std::optional<std::int64_t> evaluated{};
  std::vector<TokenId> sampled{};
  std::vector<std::optional<double>> logprobs{};
  std::vector<KindRange> kinds{};
  CivilTime now{};
  std::shared_ptr<const std::string> grammar{};
  std::optional<PrefixBreak> broken{};
  ReplyMessage message{};
  std::vector<std::string> events{};  ///< of the reply, as JSON
  double seconds = 0;

  std::size_t bytes() const;  ///< about
};

/// How a session is called.
struct SessionName {
  std::string id{};     ///< in addresses: no other session has it
  std::string shown{};  ///< for people
  std::string owner{};  ///< whose API key it is
};

/// Gets what happens as server-sent events. Used on one executor alone.
class Watcher {
 public:
  Watcher(Viewer who, asio::any_io_executor on) : viewer(std::move(who)), executor(std::move(on)), timer(executor) {}
  const Viewer viewer;
  asio::any_io_executor executor;
  asio::steady_timer timer;  ///< is cancelled when there is something new
  std::deque<std::shared_ptr<const std::string>> news;
  std::size_t lost = 0;  ///< events that were dropped, since it reads too slowly
};

/// A viewer gets nothing of another owner's sessions, and cannot tell them from sessions that never were. Threads: any.
class Inspector {
 public:
  /// Keeps about so many bytes of turns: the last ones.
  explicit Inspector(std::size_t most_bytes = std::size_t{256} << 20) : most_bytes_(most_bytes) {}

  void begin(const SessionName& name, const ServedModel& model, const TurnFacts& facts, unsigned choice);
  /// An event of a reply, as JSON.
  void tell_event(const SessionName& name, const std::string& answer, unsigned choice, const std::string& event);
  void end(const SessionName& name, InspectedTurn turn);

  std::string sessions_json(const Viewer& viewer) const;
  /// "": there is no such session.
  std::string session_json(const Viewer& viewer, const std::string& id) const;
  /// The turn by its number in the session, from 0. Null: there is none, or not any more.
  std::shared_ptr<const InspectedTurn> turn(const Viewer& viewer, const std::string& id, std::size_t number) const;

  std::shared_ptr<Watcher> watch(const Viewer& viewer, asio::any_io_executor executor);
  void forget(const std::shared_ptr<Watcher>& watcher);

 private:
  struct Inspected {
    SessionName name;
    std::string model, begun, last;
    std::size_t live = 0;     ///< turns under way
    std::size_t dropped = 0;  ///< turns before those that are kept
    std::deque<std::shared_ptr<const InspectedTurn>> turns;
    std::size_t breaks = 0, faults = 0, prompt_tokens = 0, sampled_tokens = 0, evaluated_tokens = 0;
  };
  using Order = std::list<Inspected>;
  static std::string summary(const Inspected& session);
  Inspected& at_front(const SessionName& name);
  const Inspected* find(const Viewer& viewer, const std::string& id) const;
  void make_room();
  void tell(const SessionName& name, std::string_view event, const std::string& json);

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;  // of what follows
  Order order_;               ///< the newest first
  std::unordered_map<std::string, Order::iterator> by_id_;
  std::size_t bytes_ = 0;
  std::vector<std::shared_ptr<Watcher>> watchers_;
  std::atomic<std::size_t> watched_ = 0;
};

}  // namespace parlance::serve
