// Reads the address of a Redis.
#include <algorithm>
#include <charconv>

#include "serve/http/hosts.h"
#include "serve/sessions/redis.h"

namespace parlance::serve {

namespace {

Error wrong_url(std::string_view why) {
  return Error(ErrorCode::usage, "the address of the shared sessions " + std::string(why))
      .hint("redis://127.0.0.1:6379 or unix:///run/redis/redis-server.sock");
}

template <typename Number>
bool read_number(std::string_view text, Number& into) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  return failed == std::errc() && end == text.data() + text.size();
}

/// %40 as '@'.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned byte = 0;
    const std::string_view digits = text.substr(at).substr(0, 3);
    const auto [end, failed] = std::from_chars(digits.data() + 1, digits.data() + digits.size(), byte, 16);
    const bool is_byte = text[at] == '%' && digits.size() == 3 && failed == std::errc() && end == digits.end();
    out += is_byte ? static_cast<char>(byte) : text[at];
    at += is_byte ? 2 : 0;
  }
  return out;
}

}  // namespace

Result<RedisAddress> RedisAddress::parse(std::string_view url) {
  constexpr std::string_view kNetwork = "redis://", kSocket = "unix://", kTls = "rediss://";
  if (url.starts_with(kTls))
    return Error(ErrorCode::usage, "parlance does not speak TLS to Redis")
        .hint("put a proxy such as stunnel in front of it, and name that with redis://");
  RedisAddress made;
  if (url.starts_with(kSocket)) {
    made.path = url.substr(kSocket.size());
    const std::size_t query = made.path.find('?');
    if (query != made.path.npos) {
      const std::string setting = made.path.substr(query + 1);
      if (!setting.starts_with("db=") || !read_number(std::string_view(setting).substr(3), made.database))
        return wrong_url("has a setting that is not db=NUMBER");
      made.path.resize(query);
    }
    return made.path.empty() ? Result<RedisAddress>(wrong_url("names no socket")) : made;
  }
  if (!url.starts_with(kNetwork)) return wrong_url("begins with neither redis:// nor unix://");
  url.remove_prefix(kNetwork.size());
  if (const std::size_t at = url.rfind('@'); at != url.npos) {
    const std::string_view who = url.substr(0, at);
    const std::size_t colon = std::min(who.find(':'), who.size());
    made.user = decoded(who.substr(0, colon));
    if (colon < who.size()) made.password = decoded(who.substr(colon + 1));
    url.remove_prefix(at + 1);
  }
  if (const std::size_t slash = url.find('/'); slash != url.npos) {
    const std::string_view number = url.substr(slash + 1);
    if (!number.empty() && !read_number(number, made.database)) return wrong_url("has a database that is no number");
    url = url.substr(0, slash);
  }
  const std::size_t colon = url.rfind(':');
  const bool has_port = colon != url.npos && url.find(']', colon) == url.npos;
  if (has_port && !read_number(url.substr(colon + 1), made.port)) return wrong_url("has a port that is no number");
  made.host = has_port ? url.substr(0, colon) : url;
  if (made.host.starts_with('[') && made.host.ends_with(']')) made.host = made.host.substr(1, made.host.size() - 2);
  return made.host.empty() ? Result<RedisAddress>(wrong_url("names no host")) : made;
}

std::string RedisAddress::shown() const {
  if (host.empty()) return "unix://" + path;
  return "redis://" + authority_of(host, std::to_string(port));
}

}  // namespace parlance::serve
