// A stand-in for llama.cpp's server that answers at once: serve_engine PORT TOKENS [MILLISECONDS]
//
// Whatever is asked, POST /completion answers with a stream of TOKENS events of one id each, MILLISECONDS apart. It
// shows what a gateway costs, since it costs nothing itself. Begin reading at serve_client.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
template <typename T = void>
using Task = asio::awaitable<T>;

namespace {

struct Script {
  int tokens = 16;
  std::chrono::milliseconds pause{0};
};

std::string chunk_of(const std::string& event) {
  const std::string data = "data: " + event + "\n\n";
  char size[16];
  const auto end = std::to_chars(size, size + sizeof size, data.size(), 16).ptr;
  return std::string(size, end) + "\r\n" + data + "\r\n";
}

std::string token_event() { return R"({"content":"a","tokens":[97],"stop":false})"; }

std::string last_event(int tokens) {
  return R"({"content":"","tokens":[],"stop":true,"stop_type":"limit","tokens_evaluated":1,"tokens_predicted":)" +
         std::to_string(tokens) + R"(,"timings":{"prompt_n":1}})";
}

const std::string kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kHealth =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}";
const std::string kNothing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

Task<> answer(tcp::socket& socket, const Script& script) {
  const std::string end = chunk_of(last_event(script.tokens)) + "0\r\n\r\n";
  if (script.pause.count() == 0 && script.tokens <= 1000) {
    std::string all = kHead;
    for (int i = 0; i < script.tokens; ++i) all += chunk_of(token_event());
    all += end;
    co_await asio::async_write(socket, asio::buffer(all), asio::use_awaitable);
    co_return;
  }
  co_await asio::async_write(socket, asio::buffer(kHead), asio::use_awaitable);
  asio::steady_timer timer(socket.get_executor());
  const std::string event = chunk_of(token_event());
  for (int i = 0; i < script.tokens; ++i) {
    co_await asio::async_write(socket, asio::buffer(event), asio::use_awaitable);
    if (script.pause.count() == 0) continue;
    timer.expires_after(script.pause);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_await asio::async_write(socket, asio::buffer(end), asio::use_awaitable);
}

std::size_t body_size(const std::string& head) {
  const std::size_t at = head.find("ontent-Length:");
  const std::size_t lower = at == head.npos ? head.find("ontent-length:") : at;
  return lower == head.npos ? 0 : std::strtoul(head.c_str() + lower + 14, nullptr, 10);
}

Task<> serve_client(tcp::socket socket, const Script& script) {
  socket.set_option(tcp::no_delay(true));
  std::string buffer;
  for (;;) {
    const std::size_t head_size =
        co_await asio::async_read_until(socket, asio::dynamic_buffer(buffer), "\r\n\r\n", asio::use_awaitable);
    const std::string head = buffer.substr(0, head_size);
    const std::size_t whole = head_size + body_size(head);
    if (buffer.size() < whole) {
      const std::size_t missing = whole - buffer.size();
      co_await asio::async_read(socket, asio::dynamic_buffer(buffer), asio::transfer_exactly(missing),
                                asio::use_awaitable);
    }
    buffer.erase(0, whole);
    if (head.starts_with("POST /completion "))
      co_await answer(socket, script);
    else  // it tells neither its context nor its tokens
      co_await asio::async_write(socket, asio::buffer(head.starts_with("GET /health ") ? kHealth : kNothing),
                                 asio::use_awaitable);
  }
}

Task<> accept_all(tcp::acceptor& acceptor, const Script& script) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve_client(std::move(socket), script), asio::detached);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const Script script{std::atoi(arguments[2]), std::chrono::milliseconds(count > 3 ? std::atoi(arguments[3]) : 0)};
  asio::io_context context(1);
  tcp::acceptor acceptor(context,
                         {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::atoi(arguments[1]))});
  std::cout << "http://127.0.0.1:" << acceptor.local_endpoint().port() << std::endl;
  asio::co_spawn(context, accept_all(acceptor, script), asio::detached);
  context.run();
}
