// The HTTP client, on Boost.Beast. Begin reading at HttpClient::send.
#include "serve/http/client.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <mutex>
#include <optional>

#include "serve/http/hosts.h"
#include "serve/http/send_now.h"

namespace parlance::serve {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// "?a=b&c" as pairs.
std::vector<std::pair<std::string, std::string>> settings_of(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> all;
  while (!query.empty()) {
    query.remove_prefix(1);
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(one.size());
    const std::size_t equals = std::min(one.find('='), one.size());
    if (!one.empty()) all.emplace_back(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
  }
  return all;
}

}  // namespace

std::string HttpAddress::setting(std::string_view name) const {
  for (const auto& [given, value] : settings) {
    if (given == name) return value;
  }
  return {};
}

Result<HttpAddress> HttpAddress::parse(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const Error wrong = Error(ErrorCode::usage, "'" + std::string(url) + "' is no address of an engine")
                          .hint("http://127.0.0.1:8080; an engine behind TLS needs a proxy");
  if (!url.starts_with(kScheme)) return wrong;
  url.remove_prefix(kScheme.size());
  HttpAddress made;
  const std::size_t question = std::min(url.find('?'), url.size());
  made.settings = settings_of(url.substr(question));
  url = url.substr(0, question);
  const std::size_t slash = std::min(url.find('/'), url.size());
  made.path = std::string(url.substr(slash));
  while (made.path.ends_with('/')) made.path.pop_back();
  std::string_view host = url.substr(0, slash);
  if (host.find('@') != host.npos)  // and the name in front of it would be shown, with its password
    return Error(ErrorCode::usage, "an engine's URL has no user and no password")
        .hint("--backend-key-file FILE sends a key that the file has");
  const std::size_t colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) {
    made.port = std::string(host.substr(colon + 1));
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  made.host = std::string(host);
  if (made.host.empty() || made.port.empty() || made.port.find_first_not_of("0123456789") != made.port.npos)
    return wrong;
  return made;
}

std::string HttpAddress::url() const { return "http://" + authority_of(host, port) + path; }

std::string_view name_of(EngineFailure::Kind kind) {
  switch (kind) {
    case EngineFailure::Kind::refused: return "refused";
    case EngineFailure::Kind::died: return "died";
    case EngineFailure::Kind::stalled: return "stalled";
    case EngineFailure::Kind::garbage: return "garbage";
    case EngineFailure::Kind::status: return "status";
    case EngineFailure::Kind::grammar: return "grammar";
    case EngineFailure::Kind::unfit: return "unfit";
    case EngineFailure::Kind::other: return "other_model";
    case EngineFailure::Kind::busy: return "busy";
  }
  return "";
}

Task<std::string> HttpReply::read_all(std::size_t most) {
  std::string all;
  for (;;) {
    const std::string_view piece = co_await read();
    if (piece.empty()) co_return all;
    if (all.size() + piece.size() > most)
      throw EngineFailure(EngineFailure::Kind::garbage,
                          "the engine's answer is larger than " + std::to_string(most) + " bytes");
    all += piece;
  }
}

/// Connections without a request, as file descriptors: a socket of Asio belongs to the coroutine that uses it.
struct HttpClient::State {
  State(HttpAddress to, HttpClientLimits most) : address(std::move(to)), limits(most) {}
  ~State() {
    for (const Kept& kept : free) ::close(kept.descriptor);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  struct Kept {
    int descriptor;
    tcp::endpoint::protocol_type protocol;
  };

  std::optional<Kept> take() {
    const std::lock_guard lock(mutex);
    while (!free.empty()) {
      const Kept kept = free.back();
      free.pop_back();
      char byte = 0;
      const bool quiet = ::recv(kept.descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
      if (quiet && (errno == EAGAIN || errno == EWOULDBLOCK)) return kept;
      ::close(kept.descriptor);  // the engine has closed it
    }
    return std::nullopt;
  }

  void keep(tcp::socket& socket, tcp::endpoint::protocol_type protocol) {
    error_code failed;
    const int descriptor = socket.release(failed);
    if (!failed) keep({descriptor, protocol});
  }

  void keep(const Kept& kept) {
    const std::lock_guard lock(mutex);
    if (free.size() < limits.kept)
      free.push_back(kept);
    else
      ::close(kept.descriptor);
  }

  const HttpAddress address;
  const HttpClientLimits limits;
  std::mutex mutex;
  std::vector<Kept> free;
};

namespace {

std::string head_of(const HttpAddress& address, std::string_view method, std::string_view path, std::string_view body,
                    const std::vector<HttpHeader>& headers) {
  std::string out;
  out.append(method)
      .append(" ")
      .append(address.path)
      .append(path)
      .append(" HTTP/1.1\r\nHost: ")
      .append(authority_of(address.host, address.port));
  out += "\r\nAccept: */*\r\n";
  if (!body.empty()) out += "Content-Type: application/json\r\n";
  if (!body.empty() || method != "GET")
    out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  for (const HttpHeader& header : headers) out.append(header.name).append(": ").append(header.value).append("\r\n");
  return out.append("\r\n");
}

EngineFailure failure_of(error_code failed, const HttpAddress& address, const char* doing) {
  using Kind = EngineFailure::Kind;
  const std::string where = "the engine at " + address.url() + " ";
  if (failed == beast::error::timeout) return {Kind::stalled, where + "took too long " + doing};
  if (failed.category() == http::make_error_code(http::error::bad_version).category() &&
      failed != http::error::end_of_stream && failed != http::error::partial_message) {
    return {Kind::garbage, where + "does not answer in HTTP: " + failed.message()};
  }
  return {Kind::died, where + "closed its connection " + doing + ": " + failed.message()};
}

constexpr std::size_t kMostBuffered = std::size_t{16} << 10;
constexpr std::size_t kPiece = std::size_t{4} << 10;  // many streams may wait for their readers

}  // namespace

namespace {

class Reply final : public HttpReply {
 public:
  Reply(std::shared_ptr<HttpClient::State> state, beast::tcp_stream&& stream, tcp::endpoint::protocol_type protocol)
      : state_(std::move(state)), stream_(std::move(stream)), protocol_(protocol) {
    parser_.body_limit(boost::none);
    buffer_.reserve(kPiece);  // bytes that are read at once
  }
  ~Reply() override {
    if (is_trusted_ && parser_.is_done() && parser_.keep_alive() && buffer_.size() == 0)
      state_->keep(stream_.socket(), protocol_);
  }
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  unsigned status() const override { return parser_.get().result_int(); }
  std::string_view header(std::string_view name) const override {
    const auto found = parser_.get()[beast::string_view(name.data(), name.size())];
    return {found.data(), found.size()};
  }

  /// Sends the request and reads the header of the answer. Returns what failed before a byte of it came.
  Task<error_code> exchange(std::string_view head, std::string_view body) {
    error_code failed;
    auto caught = asio::redirect_error(asio::use_awaitable, failed);
    std::array<asio::const_buffer, 2> parts = {asio::buffer(head.data(), head.size()),
                                               asio::buffer(body.data(), body.size())};
    const bool is_sent = send_now(stream_.socket(), parts, failed);
    if (!is_sent && !failed) {
      stream_.expires_after(state_->limits.between);
      co_await asio::async_write(stream_, parts, caught);
    }
    if (failed) co_return failed;
    stream_.expires_after(state_->limits.first_byte);
    co_await http::async_read_header(stream_, buffer_, parser_, caught);
    if (failed && !parser_.got_some()) co_return failed;
    if (failed) throw failure_of(failed, state_->address, "in the header of its answer");
    co_return error_code();
  }

  void distrust() override { is_trusted_ = false; }

  Task<std::string_view> read() override {
    if (piece_.empty()) piece_.resize(kPiece);
    while (!parser_.is_done()) {
      parser_.get().body().data = piece_.data();
      parser_.get().body().size = piece_.size();
      read_buffered();  // what has come with the header, or with the piece before
      if (const std::size_t had = piece_.size() - parser_.get().body().size; had > 0)
        co_return std::string_view(piece_.data(), had);
      if (parser_.is_done()) break;
      error_code failed;
      stream_.expires_after(state_->limits.between);
      co_await http::async_read_some(stream_, buffer_, parser_, asio::redirect_error(asio::use_awaitable, failed));
      if (failed == http::error::need_buffer) failed = {};
      if (failed == asio::error::operation_aborted) throw boost::system::system_error(failed);
      if (failed) throw failure_of(failed, state_->address, "in its answer");
      read_buffered();
      const std::size_t got = piece_.size() - parser_.get().body().size;
      if (got > 0) co_return std::string_view(piece_.data(), got);
    }
    co_return std::string_view();
  }

 private:
  /// An engine sends a chunk for each token: those that have come already are one piece. A fault is found again by the
  /// next read.
  void read_buffered() {
    error_code failed;
    while (!failed && !parser_.is_done() && buffer_.size() > 0 && parser_.get().body().size > 0) {
      const std::size_t used = parser_.put(buffer_.data(), failed);
      buffer_.consume(used);
      if (used == 0) break;
    }
  }

  std::shared_ptr<HttpClient::State> state_;
  beast::tcp_stream stream_;
  tcp::endpoint::protocol_type protocol_;
  beast::flat_buffer buffer_{kMostBuffered};
  http::response_parser<http::buffer_body> parser_;
  std::string piece_;
  bool is_trusted_ = true;
};

/// Where the engine listens. A name costs a thread, in which Boost asks for it; an address does not.
Task<tcp::resolver::results_type> resolve(const HttpAddress& address, error_code& failed) {
  tcp::resolver resolver(co_await asio::this_coro::executor);
  error_code is_name;
  asio::ip::make_address(address.host, is_name);
  if (is_name) {
    auto caught = asio::redirect_error(asio::use_awaitable, failed);
    co_return co_await resolver.async_resolve(address.host, address.port, caught);
  }
  const auto numeric = tcp::resolver::numeric_host | tcp::resolver::numeric_service;
  co_return resolver.resolve(address.host, address.port, numeric, failed);
}

}  // namespace

HttpClient::HttpClient(HttpAddress address, HttpClientLimits limits)
    : state_(std::make_shared<State>(std::move(address), limits)) {}

HttpClient::~HttpClient() = default;

const HttpAddress& HttpClient::address() const { return state_->address; }

void HttpClient::use(int descriptor) { state_->keep({descriptor, tcp::v4()}); }

Task<std::unique_ptr<HttpReply>> HttpClient::send(std::string_view method, std::string_view path, std::string_view body,
                                                  const std::vector<HttpHeader>& headers) {
  const std::shared_ptr<State> state = state_;
  const std::string head = head_of(state->address, method, path, body, headers);
  const auto executor = co_await asio::this_coro::executor;
  error_code failed;
  // The engine may close a connection just while it is used again.
  while (const std::optional<State::Kept> kept = state->take()) {
    beast::tcp_stream stream(tcp::socket(executor, kept->protocol, kept->descriptor));
    auto reply = std::make_unique<Reply>(state, std::move(stream), kept->protocol);
    failed = co_await reply->exchange(head, body);
    if (failed == asio::error::operation_aborted) throw boost::system::system_error(failed);
    if (!failed) co_return std::unique_ptr<HttpReply>(std::move(reply));
    if (failed == beast::error::timeout) throw failure_of(failed, state->address, "with its answer");
  }
  beast::tcp_stream stream(executor);
  const auto found = co_await resolve(state->address, failed);
  if (!failed) {
    stream.expires_after(state->limits.connect);
    co_await stream.async_connect(found, asio::redirect_error(asio::use_awaitable, failed));
  }
  if (failed == asio::error::operation_aborted) throw boost::system::system_error(failed);
  if (failed) {
    throw EngineFailure(EngineFailure::Kind::refused,
                        "no connection to the engine at " + state->address.url() + ": " + failed.message());
  }
  stream.socket().set_option(tcp::no_delay(true), failed);
  const auto protocol = stream.socket().local_endpoint(failed).protocol();
  auto reply = std::make_unique<Reply>(state, std::move(stream), protocol);
  failed = co_await reply->exchange(head, body);
  if (failed == asio::error::operation_aborted) throw boost::system::system_error(failed);
  if (failed) throw failure_of(failed, state->address, "with its answer");
  co_return std::unique_ptr<HttpReply>(std::move(reply));
}

}  // namespace parlance::serve
