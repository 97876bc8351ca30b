// The HTTP server, on Boost.Beast. Begin reading at State::serve, the life of a connection.
#include "serve/http/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "base/lowered.h"
#include "serve/http/refusal.h"
#include "serve/http/send_now.h"

namespace parlance::serve {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

std::string_view HttpRequest::header(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

namespace {

/// A client's connection. It belongs to the thread of its loop.
struct Connection {
  beast::tcp_stream stream;
  beast::flat_buffer buffer;
  bool answering = false;
  bool narrow = false;   ///< its last answer was a stream
  bool lingers = false;  ///< the client may still send behind its last answer
};

/// A target's path and query: a client may write the whole URL, as to a proxy (RFC 9112, 3.2.2). Whether the host is
/// one of ours, the header says, which clients have to send all the same.
std::string_view origin_form(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (target.size() < kScheme.size() || !beast::iequals(target.substr(0, kScheme.size()), kScheme)) return target;
  const std::size_t path = target.find('/', kScheme.size());
  return path == target.npos ? std::string_view("/") : target.substr(path);
}

/// All but the body.
HttpRequest header_of(const http::request<http::string_body>& message) {
  HttpRequest made;
  made.method = std::string(message.method_string());
  const std::string_view target = origin_form({message.target().data(), message.target().size()});
  const std::size_t question = target.find('?');
  made.path = std::string(target.substr(0, question));
  if (question != target.npos) made.query = std::string(target.substr(question + 1));
  for (const auto& field : message) {
    made.headers.push_back({ascii::lowered({field.name_string().data(), field.name_string().size()}),
                            std::string(field.value().data(), field.value().size())});
  }
  return made;
}

HttpRequest request_of(http::request<http::string_body>&& message) {
  HttpRequest made = header_of(message);
  made.body = std::move(message.body());
  return made;
}

/// Replaces control characters: a newline in a value could inject headers.
std::string field_value(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  return made;
}

enum class Heard : std::uint8_t { nothing, bytes, end };

Heard listen_to(tcp::socket& socket) {
  char byte = 0;
  const ssize_t got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return Heard::bytes;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? Heard::nothing : Heard::end;
}

/// Has the client closed its side of the connection, behind bytes that nobody has read?
bool has_closed(tcp::socket& socket) {
#ifdef POLLRDHUP
  pollfd asked{.fd = socket.native_handle(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;  // also where the connection is broken
#else
  return !socket.is_open();
#endif
}

/// Cancels what is done for a client once it has closed its connection. Bytes of a next request are left where they
/// are: they would wake up the watch again and again, so that it looks once a second behind them. No coroutine of its
/// own, since each request has one of these.
class ClientWatch {
 public:
  explicit ClientWatch(tcp::socket& socket) : state_(std::make_shared<State>(socket)) { wait(state_); }
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;
  ~ClientWatch() {
    state_->over = true;
    state_->stop_waiting.emit(asio::cancellation_type::terminal);
    if (state_->next_look) state_->next_look->cancel();
  }

  /// Of what is done for the client.
  asio::cancellation_slot slot() { return state_->gone.slot(); }
  /// Somebody found out otherwise.
  void say_gone() { state_->gone.emit(asio::cancellation_type::terminal); }

 private:
  /// The handler of a wait may come later than the watch ends, and then finds only this.
  struct State {
    explicit State(tcp::socket& of) : socket(of) {}
    tcp::socket& socket;
    asio::cancellation_signal gone, stop_waiting;
    std::optional<asio::steady_timer> next_look{};
    bool over = false;
  };

  static void wait(const std::shared_ptr<State>& state) {
    const auto woken = [state](error_code failed) {
      if (state->over) return;
      const Heard heard = failed ? Heard::end : listen_to(state->socket);
      if (heard == Heard::nothing) wait(state);  // a socket may wake up for nothing
      if (heard == Heard::bytes) look_behind(state);
      if (heard == Heard::end) state->gone.emit(asio::cancellation_type::terminal);
    };
    state->socket.async_wait(tcp::socket::wait_read, asio::bind_cancellation_slot(state->stop_waiting.slot(), woken));
  }

  static void look_behind(const std::shared_ptr<State>& state) {
    constexpr auto kBetween = std::chrono::seconds(1);
    if (has_closed(state->socket)) return state->gone.emit(asio::cancellation_type::terminal);
    if (!state->next_look) state->next_look.emplace(state->socket.get_executor());
    state->next_look->expires_after(kBetween);
    state->next_look->async_wait([state](error_code) {
      if (!state->over) look_behind(state);
    });
  }

  std::shared_ptr<State> state_;
};

/// The answer of one request, written as HTTP says. A client of HTTP/1.0 gets pieces without sizes, up to the close.
class HttpAnswer final : public Exchange {
 public:
  HttpAnswer(Connection& connection, const HttpLimits& limits) : connection_(connection), limits_(limits) {}

  void take(HttpRequest&& request, unsigned version, bool keep_alive) {
    request_ = std::move(request);
    old_ = version < 11;
    keep_alive_ = keep_alive;
  }
  void close_after() { keep_alive_ = false; }
  bool keep_alive() const { return keep_alive_ && (!begun() || ended_); }
  /// Who is told that the client is gone; null: nobody.
  void watched_by(ClientWatch* watch) { watch_ = watch; }

  Task<> answer(unsigned status, std::string_view type, std::string_view body) override {
    out_ = head(status, type);
    if (status != 304) out_.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    out_ += "\r\n";
    if (is_head()) body = {};
    ended_ = true;
    if (std::exchange(connection_.narrow, false)) set_send_buffer(1 << 20);  // a whole answer is not to wait
    co_await send(body, {});
  }

  void begin(unsigned status, std::string_view type) override {
    if (old_) keep_alive_ = false;
    // Keep the send buffer small: a client that does not read must stop the engine soon.
    if (!std::exchange(connection_.narrow, true)) set_send_buffer(32 << 10);
    out_ = head(status, type);
    out_ += "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";
    out_ += old_ ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n";
  }

  Task<> write(std::string_view piece) override {
    if (piece.empty() || is_head()) co_return;  // an empty chunk would be the end
    if (!old_) append_size(piece.size());
    const std::string_view behind = old_ ? "" : "\r\n";
    co_await send(piece, behind);
  }

  bool write_now(std::string_view piece) override {
    if (is_head()) return true;
    const bool takes = !is_late_;
    if (takes && !old_) append_size(piece.size());
    if (takes) out_.append(piece).append(old_ ? "" : "\r\n");
    if (takes) late_ = std::chrono::steady_clock::now() + limits_.send;
    const int socket = connection_.stream.socket().native_handle();
    const ssize_t sent = ::send(socket, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    const bool is_full = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (sent > 0) out_.erase(0, static_cast<std::size_t>(sent));
    is_late_ = !out_.empty();
    const bool is_gone = (sent < 0 && !is_full) || (is_late_ && std::chrono::steady_clock::now() >= late_);
    if (is_gone && watch_ != nullptr) watch_->say_gone();
    return takes;
  }

  Task<> end(std::string_view last) override {
    ended_ = true;
    if (is_head()) co_return co_await send({}, {});
    if (!old_ && !last.empty()) append_size(last.size());
    std::string_view behind = old_ ? "" : "0\r\n\r\n";
    if (!old_ && !last.empty()) behind = "\r\n0\r\n\r\n";
    co_await send(last, behind);
  }

 private:
  std::string head(unsigned status, std::string_view type) {
    status_ = status;
    const auto reason = http::obsolete_reason(static_cast<http::status>(status));
    std::string out = old_ ? "HTTP/1.0 " : "HTTP/1.1 ";
    out.append(std::to_string(status)).append(" ").append(reason.data(), reason.size()).append("\r\n");
    if (!type.empty()) out.append("Content-Type: ").append(type).append("\r\n");
    for (const HttpHeader& header : headers_)
      out.append(header.name).append(": ").append(field_value(header.value)).append("\r\n");
    if (!keep_alive_) out += "Connection: close\r\n";
    if (keep_alive_ && old_) out += "Connection: keep-alive\r\n";
    return out;
  }

  void set_send_buffer(int bytes) {
    error_code ignored;
    connection_.stream.socket().set_option(tcp::socket::send_buffer_size(bytes), ignored);
  }

  void append_size(std::size_t size) {
    static constexpr char kDigits[] = "0123456789abcdef";
    char text[16];
    std::size_t at = sizeof text;
    do {
      text[--at] = kDigits[size & 15];
      size >>= 4;
    } while (size > 0);
    out_.append(text + at, sizeof text - at).append("\r\n");
  }

  /// Sends what waits in out_, then these bytes, which are not copied: who reads slowly has them waiting once.
  Task<> send(std::string_view bytes, std::string_view behind) {
    std::array<asio::const_buffer, 3> parts = {asio::buffer(out_), asio::buffer(bytes.data(), bytes.size()),
                                               asio::buffer(behind.data(), behind.size())};
    error_code failed;
    const bool is_sent = send_now(connection_.stream.socket(), parts, failed);
    if (failed) throw boost::system::system_error(failed);
    if (!is_sent) {
      connection_.stream.expires_after(limits_.send);
      co_await asio::async_write(connection_.stream, parts, asio::use_awaitable);
    }
    out_.clear();
    is_late_ = false;
  }

  Connection& connection_;
  const HttpLimits& limits_;
  std::string out_;  ///< goes before the next bytes: the header, the size of a chunk
  bool old_ = false;
  bool keep_alive_ = true;
  bool ended_ = false;
  bool is_late_ = false;                          ///< some of what write_now() was given is in out_
  std::chrono::steady_clock::time_point late_{};  ///< until then it must have been taken
  ClientWatch* watch_ = nullptr;
};

/// Ends what the socket does after some time. A stream's own deadline would close it, and nobody could be answered.
class Deadline {
 public:
  Deadline(tcp::socket& socket, std::chrono::milliseconds after) : timer_(socket.get_executor(), after) {
    timer_.async_wait([wanted = wanted_, &socket](error_code ended) {
      if (ended || !*wanted) return;
      socket.cancel(ended);
    });
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { *wanted_ = false; }

 private:
  std::shared_ptr<bool> wanted_ = std::make_shared<bool>(true);
  asio::steady_timer timer_;
};

unsigned status_of(error_code failed) {
  if (failed == http::error::body_limit) return 413;
  if (failed == http::error::header_limit) return 431;
  return failed == asio::error::operation_aborted || failed == beast::error::timeout ? 408 : 400;
}

/// Did the client leave, without anything that could be answered?
bool is_end(error_code failed) {
  if (failed == asio::error::operation_aborted) return false;  // our own deadline has passed
  return failed == http::error::end_of_stream || failed == http::error::partial_message ||
         failed.category() == asio::error::get_system_category() || failed == asio::error::eof;
}

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(Loops& in, HttpLimits most, HttpHandler answers, HttpGate asked)
      : loops(in), limits(most), handler(std::move(answers)), gate(std::move(asked)) {}

  Loops& loops;
  const HttpLimits limits;
  const HttpHandler handler;
  const HttpGate gate;
  std::atomic<bool> draining = false;
  std::atomic<std::uint64_t> accepted = 0, gone = 0;
  std::atomic<std::size_t> answering = 0;
  mutable std::mutex mutex;  // of what follows
  std::vector<std::shared_ptr<tcp::acceptor>> acceptors;
  std::unordered_set<std::shared_ptr<Connection>> connections;

  std::size_t open() const {
    const std::lock_guard lock(mutex);
    return connections.size();
  }

  Task<> accept(std::shared_ptr<tcp::acceptor> acceptor) {
    while (acceptor->is_open()) {
      error_code failed;
      tcp::socket socket =
          co_await acceptor->async_accept(loops.next(), asio::redirect_error(asio::use_awaitable, failed));
      if (failed == asio::error::operation_aborted || failed == asio::error::bad_descriptor) co_return;
      if (failed) {  // no file descriptor left, mostly: others will be given back
        asio::steady_timer pause(acceptor->get_executor(), std::chrono::milliseconds(50));
        co_await pause.async_wait(asio::use_awaitable);
        continue;
      }
      ++accepted;
      start(std::move(socket));
    }
  }

  void start(tcp::socket&& socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const asio::any_io_executor loop = socket.get_executor();
    auto connection =
        std::make_shared<Connection>(Connection{beast::tcp_stream(std::move(socket)), {}, false, false, false});
    {
      const std::lock_guard lock(mutex);
      connections.insert(connection);
    }
    asio::co_spawn(loop, live(connection), [self = shared_from_this(), connection](const std::exception_ptr&) {
      const std::lock_guard lock(self->mutex);
      self->connections.erase(connection);
    });
  }

  Task<> live(std::shared_ptr<Connection> connection) {
    const auto self = shared_from_this();
    const bool full = open() > limits.connections;
    while (co_await serve(*connection, full)) {
    }
    error_code ignored;
    connection->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    co_await linger(*connection);
  }

  /// A client that still sends when its connection is closed may never read its answer: it may have sent more than its
  /// request, which was refused, or had no size.
  Task<> linger(Connection& connection) {
    constexpr std::size_t kMost = std::size_t{64} << 20, kPiece = std::size_t{16} << 10;
    constexpr auto kLongest = std::chrono::seconds(2);
    if (!connection.lingers) co_return;
    connection.buffer.clear();
    connection.stream.expires_after(kLongest);
    error_code failed;
    for (std::size_t read = 0; !failed && read < kMost;) {
      read += co_await connection.stream.async_read_some(connection.buffer.prepare(kPiece),
                                                         asio::redirect_error(asio::use_awaitable, failed));
    }
  }

  /// One request. May there be another on this connection?
  Task<bool> serve(Connection& connection, bool full) {
    HttpAnswer answer(connection, limits);
    const unsigned refused = co_await receive(connection, answer, full);
    if (refused == kGone) co_return false;
    if (refused != 0 || full || draining) answer.close_after();
    connection.answering = true;
    ++answering;
    const bool whole = co_await handle(connection, answer, full ? kFull : refused);
    --answering;
    connection.answering = false;
    if (!whole) ++gone;
    const bool goes_on = whole && answer.keep_alive() && !draining;
    connection.lingers = whole && !goes_on && (refused != 0 || !draining);
    co_return goes_on;
  }

  using Parser = http::request_parser<http::string_body>;
  static constexpr unsigned kGone = 1, kFull = 503, kEnding = 503;
  static constexpr std::chrono::milliseconds kFullMayTake = std::chrono::seconds(2);
  static constexpr std::size_t kHeaderRead = std::size_t{32} << 10;  // with the body of most requests
  static constexpr std::size_t kFirstRead = 512;
  static constexpr std::size_t kMostRead = std::size_t{64} << 10;

  /// Beast reads as many bytes at once as the buffer has room for, and doubles nothing.
  static void make_room(beast::flat_buffer& buffer, const Parser& parser) {
    const std::uint64_t rest = parser.content_length_remaining().value_or(kMostRead);
    buffer.reserve(buffer.size() + std::clamp<std::uint64_t>(rest, kFirstRead, kMostRead));
  }

  /// A buffer that a request needed, for the next one of this thread: it is as large as what makes an allocator tidy
  /// up.
  static beast::flat_buffer& spare() {
    static thread_local beast::flat_buffer buffer;
    return buffer;
  }
  static void give_back(beast::flat_buffer& buffer) {
    if (spare().capacity() == 0 && buffer.capacity() <= kMostRead) spare() = std::move(buffer);
    buffer = {};
  }
  static void take_spare(beast::flat_buffer& buffer) {
    if (buffer.capacity() == 0) buffer = std::exchange(spare(), {});
  }

  /// Some clients send one behind a body; a server passes over it (RFC 9112, 2.2).
  static constexpr std::string_view kEmptyLine = "\r\n";

  static std::string_view begin_of(const beast::flat_buffer& buffer) {
    return {static_cast<const char*>(buffer.data().data()), std::min(buffer.size(), kEmptyLine.size())};
  }
  static bool begins_with_empty_line(const beast::flat_buffer& buffer) { return begin_of(buffer) == kEmptyLine; }

  /// Waits until there is something that is not only the beginning of an empty line. False: the client is gone.
  Task<bool> read_first_bytes(Connection& connection, std::chrono::milliseconds most) {
    const Deadline deadline(connection.stream.socket(), most);
    while (begin_of(connection.buffer) != kEmptyLine && kEmptyLine.starts_with(begin_of(connection.buffer))) {
      error_code failed;
      auto caught = asio::redirect_error(asio::use_awaitable, failed);
      if (connection.buffer.size() == 0) {
        give_back(connection.buffer);  // a connection that waits has none
        co_await connection.stream.socket().async_wait(tcp::socket::wait_read, caught);
        if (failed) co_return false;
      }
      take_spare(connection.buffer);
      const std::size_t read =
          co_await connection.stream.async_read_some(connection.buffer.prepare(kHeaderRead), caught);
      if (failed) co_return false;
      connection.buffer.commit(read);
    }
    co_return true;
  }

  Task<error_code> read_header(Connection& connection, Parser& parser, std::chrono::milliseconds most) {
    error_code failed;
    const std::size_t used = parser.put(connection.buffer.data(), failed);  // mostly all of it has come
    connection.buffer.consume(used);
    if (failed == http::error::need_more) failed = {};
    if (failed || parser.is_header_done()) co_return failed;
    const Deadline deadline(connection.stream.socket(), most);
    connection.buffer.reserve(std::max(connection.buffer.size(), kHeaderRead));
    co_await http::async_read_header(connection.stream, connection.buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, failed));
    co_return failed;
  }

  /// Most bodies have come with their headers.
  static error_code read_buffered(Connection& connection, Parser& parser) {
    error_code failed;
    parser.eager(true);
    while (!failed && !parser.is_done() && connection.buffer.size() > 0) {
      const std::size_t used = parser.put(connection.buffer.data(), failed);
      connection.buffer.consume(used);
      if (used == 0) break;
    }
    return failed == http::error::need_more ? error_code() : failed;
  }

  Task<error_code> read_rest(Connection& connection, Parser& parser) {
    error_code failed;
    const Deadline deadline(connection.stream.socket(), limits.receive);
    make_room(connection.buffer, parser);
    co_await http::async_read(connection.stream, connection.buffer, parser,
                              asio::redirect_error(asio::use_awaitable, failed));
    co_return failed;
  }

  /// Reads the body of a request whose header has come. False, and it is not read: the header alone says how the
  /// request is answered.
  Task<bool> read_body(Connection& connection, Parser& parser, bool full, error_code& failed) {
    failed = read_buffered(connection, parser);
    if (failed || parser.is_done()) co_return true;
    if (full || (gate && !gate(header_of(parser.get())))) co_return false;
    if (parser.get().version() >= 11 && beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await asio::async_write(connection.stream, asio::buffer(kContinue.data(), kContinue.size()),
                                 asio::redirect_error(asio::use_awaitable, failed));
    }
    if (!failed) failed = co_await read_rest(connection, parser);
    co_return true;
  }

  /// Reads a request. Returns 0, the status to refuse it with, or kGone. `full`: the connection is one too many, which
  /// may take little time, and no memory.
  Task<unsigned> receive(Connection& connection, HttpAnswer& answer, bool full) {
    const auto idle = full ? kFullMayTake : limits.idle, most = full ? kFullMayTake : limits.receive;
    connection.stream.expires_never();  // the deadline of the answer before, which the client has by now
    if (!co_await read_first_bytes(connection, idle)) co_return kGone;
    if (begins_with_empty_line(connection.buffer)) {
      connection.buffer.consume(kEmptyLine.size());
      if (!co_await read_first_bytes(connection, idle)) co_return kGone;
    }
    Parser parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.header));
    parser.body_limit(limits.body);
    error_code failed = co_await read_header(connection, parser, most);
    const Refusal refusal = failed ? Refusal() : refusal_of(parser.get());
    if (refusal.status != 0) {
      const unsigned said = parser.get().version();
      answer.take(request_of(parser.release()), said, false);
      answer.request().fault = refusal.why;
      co_return refusal.status;
    }
    bool is_read = true;
    if (!failed) is_read = co_await read_body(connection, parser, full, failed);
    if (failed && is_end(failed)) co_return kGone;
    if (connection.buffer.size() == 0) give_back(connection.buffer);
    const unsigned version = parser.get().version();
    const bool keep_alive = parser.get().keep_alive() && is_read && !failed;
    answer.take(request_of(parser.release()), version, keep_alive);
    if (!is_read) answer.request().body.clear();  // what had come of it
    if (failed != asio::error::operation_aborted || !draining) co_return failed ? status_of(failed) : 0;
    answer.request().fault = "this server is ending: send the request again, to another one";
    co_return kEnding;
  }

  /// Lets the handler answer, until the client is gone. Is the answer whole?
  Task<bool> handle(Connection& connection, HttpAnswer& answer, unsigned refused) {
    ClientWatch watch(connection.stream.socket());
    answer.watched_by(&watch);
    const bool whole = co_await asio::co_spawn(connection.stream.get_executor(), guarded(answer, refused),
                                               asio::bind_cancellation_slot(watch.slot(), asio::use_awaitable));
    answer.watched_by(nullptr);
    co_return whole;
  }

  Task<bool> guarded(HttpAnswer& answer, unsigned refused) {
    try {
      co_await handler(answer, refused);
      co_return answer.begun();
    } catch (const std::exception&) {  // the client is gone, or takes nothing
      co_return false;
    }
  }
};

HttpServer::HttpServer(Loops& loops, HttpLimits limits, HttpHandler handler, HttpGate gate)
    : state_(std::make_shared<State>(loops, limits, std::move(handler), std::move(gate))) {}

HttpServer::~HttpServer() {
  drain();
  const std::lock_guard lock(state_->mutex);
  state_->connections.clear();  // each goes with its loop, whose coroutine holds it too
}

Result<std::uint16_t> HttpServer::listen(const std::string& address, std::uint16_t port) {
  error_code failed;
  const auto ip = asio::ip::make_address(address, failed);
  if (failed) return Error(ErrorCode::usage, "'" + address + "' is no IP address").hint("127.0.0.1, ::1 or 0.0.0.0");
  auto acceptor = std::make_shared<tcp::acceptor>(state_->loops.first());
  const tcp::endpoint endpoint(ip, port);
  acceptor->open(endpoint.protocol(), failed);
  if (!failed) acceptor->set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) acceptor->bind(endpoint, failed);
  if (!failed) acceptor->listen(asio::socket_base::max_listen_connections, failed);
  if (failed) {
    return Error(ErrorCode::file,
                 "cannot listen on " + address + " port " + std::to_string(port) + ": " + failed.message())
        .hint("--port 0 takes any free port");
  }
  const std::uint16_t got = acceptor->local_endpoint(failed).port();
  {
    const std::lock_guard lock(state_->mutex);
    state_->acceptors.push_back(acceptor);
  }
  asio::co_spawn(acceptor->get_executor(), state_->accept(acceptor), [keep = state_](const std::exception_ptr&) {});
  return got;
}

void HttpServer::take(int descriptor) {
  error_code failed;
  tcp::socket socket(state_->loops.next());
  socket.assign(tcp::v4(), descriptor, failed);
  if (failed)
    ::close(descriptor);
  else
    state_->start(std::move(socket));
}

void HttpServer::drain() {
  state_->draining = true;
  const std::lock_guard lock(state_->mutex);
  for (const auto& acceptor : state_->acceptors) {
    asio::post(acceptor->get_executor(), [acceptor] {
      error_code ignored;
      acceptor->close(ignored);
    });
  }
  for (const auto& connection : state_->connections) {
    asio::post(connection->stream.get_executor(), [connection] {
      if (!connection->answering) connection->stream.cancel();
    });
  }
}

void HttpServer::close() {
  drain();
  const std::lock_guard lock(state_->mutex);
  for (const auto& connection : state_->connections)
    asio::post(connection->stream.get_executor(), [connection] { connection->stream.close(); });
}

bool HttpServer::draining() const { return state_->draining; }
HttpCounts HttpServer::counts() const { return {state_->accepted, state_->open(), state_->answering, state_->gone}; }

}  // namespace parlance::serve
