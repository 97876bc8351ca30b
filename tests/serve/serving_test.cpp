// What a server does that no program can be brought to from outside in reasonable time: deadlines of a minute, reloads
// that run out of memory.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "serve/http/server.h"
#include "serve/serve.h"

namespace parlance::serve {
namespace {

/// A client's socket that takes little at a time.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int small = 4096;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    const timeval most{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  void send(const std::string& bytes) const {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  /// What comes up to `last`, or up to the end.
  std::string read_to(const std::string& last) const {
    std::string all;
    std::vector<char> piece(1 << 16);
    while (!all.ends_with(last)) {
      const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
      if (got <= 0) break;
      all.append(piece.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  const int socket_;
};

/// The deadline of an answer, which did not fit into the client's buffer, holds for that answer alone.
TEST(HttpServer, GivesABodyItsOwnTime) {
  using std::chrono::milliseconds;
  const std::string large(8 << 20, 'x');
  const HttpHandler handler = [&large](Exchange& exchange, unsigned) -> Task<> {
    const std::string body = exchange.request().path == "/large" ? large + "end" : exchange.request().body;
    co_await exchange.answer(200, "text/plain", body);
  };
  Loops loops(1);
  HttpServer server(loops, {.send = milliseconds(1500)}, handler);
  const Result<std::uint16_t> port = server.listen("127.0.0.1", 0);
  ASSERT_TRUE(port);
  std::thread runs([&loops] { loops.run(); });
  {
    const Client client(*port);
    client.send(
        "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab");
    EXPECT_GT(client.read_to("end").size(), large.size());
    std::this_thread::sleep_for(milliseconds(2000));
    client.send("cd");
    EXPECT_TRUE(client.read_to("abcd").starts_with("HTTP/1.1 200"));
  }
  loops.stop();
  runs.join();
}

/// A reload that runs out of memory leaves all as it is, and says so.
TEST(Serve, SurvivesAReloadThatThrows) {
  std::promise<void> failed;
  std::atomic<bool> was_told = false;
  ServeOptions options;
  options.port = 0;
  options.threads = 1;
  options.reload = []() -> Result<Reloaded> { throw std::bad_alloc(); };
  options.log = [&](std::string_view line) {
    if (line.find("\"reload_failed\"") != line.npos && !was_told.exchange(true)) failed.set_value();
  };
  options.listening = [](const std::string&) { std::raise(SIGHUP); };
  std::thread ends([&failed] {
    EXPECT_EQ(failed.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
    ::kill(::getpid(), SIGTERM);
  });
  EXPECT_TRUE(serve(std::move(options), {}));
  ends.join();
}

}  // namespace
}  // namespace parlance::serve
