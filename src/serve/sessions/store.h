// SessionStore: conversations with their ids, as they were after each one's last reply.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "parlance/request.h"
#include "parlance/session.h"
#include "serve/models/model.h"
#include "serve/sessions/message_keys.h"

namespace parlance::serve {

/// The beginning of a conversation that belongs to one request alone: the model's own messages and `instructions`.
struct OwnHead {
  std::size_t messages = 0;
  std::size_t bytes = 0;  ///< of the content of the message behind these, where passes joined them
};

/// A conversation up to and with a reply. It never changes: a request that goes on from it takes a copy.
struct Held {
  std::string id;                            ///< of the session, for people and for headers
  std::string response_id;                   ///< of the answer, for previous_response_id
  std::shared_ptr<const ServedModel> model;  ///< the session refers to it
  Session session;                           ///< ends with the ids that were sampled
  Message reply{};                           ///< as templates take it
  std::string written{};                     ///< the reply as the model wrote it, without its reasoning and its end
  std::optional<ReplyStart> start{};         ///< how it was read; unset: of another gateway
  Key key{};                                 ///< of the messages and the reply
  Key key_without_system{};
  Key variables{};
  Key previous{};              ///< of the conversation that it goes on from; "": it is the session's first
  Key superseded{};            ///< of the one before that, which nobody needs once this is kept
  Key first{};                 ///< of the session's first reply; "": it is this one
  std::size_t messages = 0;    ///< of the request, and the reply
  OwnHead own{};               ///< what a request that names the response does not go on with
  std::size_t text_bytes = 0;  ///< of the texts of its ids
  std::uint64_t turn = 0;      ///< number of the reply in its session, from 1
  bool with_tools = false;     ///< the session began with the template for requests with tools
  CivilTime now{};             ///< what the session's renders show
  /// The version of the capture's file that has its record; 0: none has. By std::atomic_ref alone.
  mutable std::uint64_t captured = 0;
  std::size_t bytes() const;
};

/// The names under which a conversation is found: by Held::key, Held::key_without_system, the id of the session (its
/// last reply), that of a response. `owner` keeps clients apart; the keys have it in them.
std::string name_of_key(const Key& key);
std::string name_of_rest(const Key& key_without_system);
std::string name_of_session(std::string_view id, std::string_view owner);
std::string name_of_response(std::string_view id, std::string_view owner);

/// Keeps the least recently used conversations within limits. Threads: any.
class SessionStore {
 public:
  explicit SessionStore(std::size_t most = 4096, std::size_t most_bytes = std::size_t{1} << 30);

  /// Of each session it keeps the last two replies, since a client may ask for the last one again.
  void keep(std::shared_ptr<const Held> held, std::string_view owner);
  /// By one of its names, of the model of this name. Null: there is none.
  std::shared_ptr<const Held> find(const std::string& name, std::string_view model);

  void drop_if(const std::function<bool(const Held&)>& unwanted);

  struct Use {
    std::size_t conversations = 0;
    std::size_t bytes = 0;  ///< about
  };
  Use use() const;
  /// The last reply of each session, the newest first.
  std::vector<std::shared_ptr<const Held>> newest(std::size_t most) const;

 private:
  using Order = std::list<std::pair<std::shared_ptr<const Held>, std::vector<std::string>>>;
  void drop(Order::iterator which);

  const std::size_t most_, most_bytes_;
  mutable std::mutex mutex_;
  Order order_;  ///< the newest first, each with its names in the index
  std::unordered_map<std::string, Order::iterator> index_;
  std::size_t bytes_ = 0;
};

}  // namespace parlance::serve
