// SessionStore: conversations with their ids, as they were after each one's replies.
//
// Each reply ends a turn. Turns that go on from each other are a lineage: the ids of each begin with those of the one
// before. The last two of a lineage are kept as they are (Held), earlier ones as what each has beyond the one before
// (Past), so that a conversation of many turns takes the memory of its text about once.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parlance/request.h"
#include "parlance/session.h"
#include "serve/models/model.h"
#include "serve/sessions/message_keys.h"
#include "serve/sessions/name_index.h"

namespace parlance::serve {

/// The beginning of a conversation that belongs to one request alone: the model's own messages and `instructions`.
struct OwnHead {
  std::size_t messages = 0;
  std::size_t bytes = 0;  ///< of the content of the message behind these, where passes joined them
};

/// Names a turn, and no other: two turns of equal texts have other sampled ids.
using TurnName = std::string;
TurnName turn_name(std::string_view session, std::string_view response_id, unsigned choice, const Key& key);

/// A turn as what it has beyond the one before. It never changes.
struct Past {
  TurnName name;
  std::shared_ptr<const ServedModel> model;
  std::shared_ptr<const Past> before;  ///< null: `saved` is whole
  std::string saved;                   ///< saved_held.h
  /// Has its bytes while it lives, whether it is found or others go on from it. Null: no store counts it yet.
  mutable std::shared_ptr<std::atomic<std::size_t>> meter{};
  std::size_t bytes() const { return sizeof(Past) + saved.size(); }
  /// The version of the capture's file that has its record; 0: none has.
  std::shared_ptr<std::atomic<std::uint64_t>> captured;
  Past() = default;
  Past(Past&&) = default;
  ~Past();  ///< those before end one by one, however many they are
};

/// What a turn's conversation, ids and text have of the turn before.
struct Behind {
  TurnName name{};                     ///< of that; "": the turn has all of its own
  std::shared_ptr<const Past> past{};  ///< that; null: it is in the store that gateways share
  std::size_t ids = 0;
  std::size_t text = 0;  ///< bytes of Session::text()
  std::size_t messages = 0;
  std::size_t kept = 0, guarded = 0;  ///< of Session::kept() and guarded()
};

/// Filled by past_of().
struct OwnPast {
  std::once_flag once;
  std::shared_ptr<const Past> past;
};

/// A conversation up to and with a reply. It never changes: a request that goes on from it takes a copy.
struct Held {
  std::string id;                            ///< of the session, for people and for headers
  std::string response_id;                   ///< of the answer, for previous_response_id
  std::shared_ptr<const ServedModel> model;  ///< the session refers to it
  Session session;                           ///< ends with the ids that were sampled
  TurnName name{};
  unsigned choice = 0;                ///< of the request's
  bool named = false;                 ///< the client named the session
  Message reply{};                    ///< as templates take it
  bool broken = false;                ///< a call of it is not whole: templates take `written` in its place
  std::string written{};              ///< the reply as the model wrote it, without its reasoning and its end
  std::optional<ReplyStart> start{};  ///< how it was read; unset: it was restored
  Key key{};                          ///< of the messages and the reply
  Key key_without_system{};
  Key question{};  ///< of the messages; empty: it was restored, and is not found by them
  /// The key without texts beside calls; empty: there are none, it was restored, or others may know the ids of its
  /// calls. It is not found by it then.
  Key key_without_texts{};
  Key variables{};
  TurnName previous{};    ///< the turn that it goes on from; "": it is the session's first
  TurnName superseded{};  ///< the one before that, of which nobody needs the whole once this is kept
  TurnName first{};       ///< the session's first turn; "": it is this one
  Behind behind{};
  std::size_t messages = 0;    ///< of the request, and the reply
  OwnHead own{};               ///< what a request that names the response does not go on with
  std::size_t text_bytes = 0;  ///< of the texts of its ids
  std::uint64_t turn = 0;      ///< number of the reply in its session, from 1
  bool with_tools = false;     ///< the session began with the template for requests with tools
  CivilTime now{};             ///< what the session's renders show
  /// The version of the capture's file that has its record; 0: none has.
  std::shared_ptr<std::atomic<std::uint64_t>> captured = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::shared_ptr<OwnPast> own_past = std::make_shared<OwnPast>();
  std::size_t bytes() const;
};

/// The turn as what it has beyond the one before; made once.
std::shared_ptr<const Past> past_of(const Held& held);

/// The names under which a turn is found: its own, its keys, its keys in its session, the id of the session (its last
/// reply), that of a response. `owner` keeps clients apart; the keys have it in them.
std::string name_of_turn(const TurnName& name);
std::string name_of_key(const Key& key);
/// `session` "": of sessions that no client named.
std::string name_of_key_in(const Key& key, std::string_view session);
std::string name_of_rest(const Key& key_without_system);
/// In memory alone: a turn whose reply a client gives back as another one.
std::string name_of_question(const Key& question);
/// In memory alone: a turn in which a client leaves out texts beside calls.
/// `session` "": of sessions that no client named.
std::string name_of_calls(const Key& key_without_texts, std::string_view session);
std::string name_of_session(std::string_view id, std::string_view owner);
std::string name_of_response(std::string_view id, std::string_view owner);
std::vector<std::string> names_of(const Held& held, std::string_view owner);

/// Keeps the least recently used turns within limits. Threads: any.
class SessionStore {
 public:
  /// `most` turns are kept as they are, and 16 times as many as Past.
  explicit SessionStore(std::size_t most = 4096, std::size_t most_bytes = std::size_t{1} << 30);

  /// Of each lineage it keeps the last two replies whole, since a client may ask for the last one again.
  void keep(std::shared_ptr<const Held> held, std::string_view owner);
  /// Keeps a turn that is in the store that gateways share. `by_response`: it was found there by the id of its
  /// response, which may be gone there while the turn's other names are not; else that id does not lead to it here
  /// either. `drops`: drops() before the search. Where something was dropped since, it may be this, and is not kept.
  void keep_found(std::shared_ptr<const Held> held, std::string_view owner, bool by_response, std::uint64_t drops);
  /// How often something was dropped by its name.
  std::uint64_t drops() const;
  /// The newest turn of one of its names, of this model. Null: there is none.
  std::shared_ptr<const Held> find(const std::string& name, const std::shared_ptr<const ServedModel>& model);

  /// Drops every turn of this model under this name.
  void drop(const std::string& name, std::string_view model);
  using Unwanted = std::function<bool(const std::shared_ptr<const ServedModel>&)>;
  /// Drops what is of a model that is not wanted, and keeps nothing of one from now on.
  void drop_models(Unwanted unwanted);

  struct Use {
    std::size_t conversations = 0;
    std::size_t bytes = 0;  ///< about
  };
  Use use() const;
  /// The last reply of each session, the newest first.
  std::vector<std::shared_ptr<const Held>> newest(std::size_t most) const;

 private:
  struct Entry {
    std::shared_ptr<const Held> held;  ///< null: it is one of past_
    std::shared_ptr<const Past> past;
    NameIndex<std::list<Entry>::iterator>::Names names;
    std::size_t bytes = 0;
    std::uint64_t number = 0;  ///< of its last use, from 1
    const std::shared_ptr<const ServedModel>& model() const { return held ? held->model : past->model; }
  };
  using Order = std::list<Entry>;
  Order::iterator newest_of(const std::string& name);
  void drop(Order::iterator which, Order& dropped);
  void put(const std::shared_ptr<const Held>& held, std::vector<std::string> names,
           const std::function<bool(bool is_there)>& is_wanted);
  void supersede(const TurnName& name, const std::shared_ptr<const ServedModel>& model);
  void shrink(Order& dropped);
  void count(const Past* past);
  std::size_t bytes() const { return bytes_ + *of_past_; }

  std::shared_ptr<const Held> restored(const std::shared_ptr<const Past>& past);
  void forget_restored(const Past* past);

  static constexpr std::size_t kPastOfEach = 16;
  static constexpr std::size_t kMostRestored = 16;
  const std::size_t most_, most_bytes_;
  mutable std::mutex mutex_;
  Order whole_, past_;  ///< the last used first, each with its names in the index
  NameIndex<Order::iterator> index_;
  Unwanted unwanted_;  ///< empty: all models are wanted
  /// Turns of past_ that were asked for last, as they were: a client may ask again for what it has gone back to.
  std::list<std::pair<std::shared_ptr<const Past>, std::shared_ptr<const Held>>> restored_;
  std::size_t bytes_ = 0;  ///< of the entries, without their Past, and of restored_
  const std::shared_ptr<std::atomic<std::size_t>> of_past_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::uint64_t uses_ = 0, drops_ = 0;
};

}  // namespace parlance::serve
