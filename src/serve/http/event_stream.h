// EventStream: the streamed answer to a request. Several choices may write into it, each whole events; while none does,
// it sends what keeps the connection alive.
//
//     EventStream stream(executor, exchange, "text/event-stream", {": keep-alive\n\n", 15s});
//     co_await stream.run(choices, make);    // make(0), …: stream.out() += event; co_await stream.flush();
//     co_await stream.end("data: [DONE]\n\n");
#pragma once
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/exchange.h"

namespace parlance::serve {

/// What a proxy sees of an answer that has nothing to say yet, so that it does not take it for dead.
struct KeepAlive {
  std::string_view text;            ///< "": the stream's form has nothing of this kind
  std::chrono::milliseconds after;  ///< so long nothing was sent; 0: never
};

/// It belongs to the thread of its connection. `exchange` must outlive it.
class EventStream {
  using Clock = std::chrono::steady_clock;

 public:
  /// `executor`: the coroutine's own.
  EventStream(const asio::any_io_executor& executor, Exchange& exchange, std::string_view type, KeepAlive keep_alive)
      : exchange_(exchange),
        type_(type),
        keep_alive_(keep_alive),
        free_(executor, Clock::time_point::max()),
        silence_(executor) {}
  ~EventStream() { *lives_ = false; }
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// What is sent next. Append whole events, with no co_await between the parts of one.
  std::string& out() { return out_; }
  /// Returns once it is sent: who writes for a client that reads slowly waits. Throws if the client is gone.
  Task<> flush();

  /// Runs parts of the answer as together() does, and keeps the connection alive meanwhile. Throws what the first part
  /// threw, once all have ended: nothing is half sent then, so that end() can say an error.
  Task<> run(std::size_t count, const std::function<Task<>(std::size_t)>& make);
  /// Sends what is left, and `last`, and ends the answer. Call it once, behind run().
  Task<> end(std::string_view last = {});

  /// Has the answer begun? If not, it can still be an error with a status of its own.
  bool begun() const { return exchange_.begun(); }

 private:
  Task<> take_over();
  void give_back();
  Task<> send();
  Task<> hold();
  Task<> part(const std::function<Task<>(std::size_t)>& make, std::size_t number);
  Task<> all(std::size_t count, const std::function<Task<>(std::size_t)>& make);
  void wait_for_silence();
  void send_now();
  void stay_alive();

  Exchange& exchange_;
  const std::string_view type_;
  const KeepAlive keep_alive_;
  std::string out_, sent_;
  bool taken_ = false;                                          ///< somebody writes
  bool held_ = false;                                           ///< and nobody else will
  asio::steady_timer free_;                                     ///< is cancelled once nobody writes
  Clock::time_point last_ = Clock::now();                       ///< when something was sent
  std::exception_ptr failed_;                                   ///< what the work threw
  asio::steady_timer silence_;                                  ///< ends when something should be sent
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  ///< for the timer's handler, which may come later
};

}  // namespace parlance::serve
