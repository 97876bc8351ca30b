// Refuses headers. Begin reading at refusal_of.
#include "serve/http/refusal.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/lowered.h"

namespace parlance::serve {

namespace {

namespace http = boost::beast::http;

/// The codings of a header's lists, in lower case; "" for what stands between two commas and is nothing.
std::vector<std::string> codings_of(const http::fields& fields, http::field name) {
  std::vector<std::string> all;
  for (auto [at, end] = fields.equal_range(name); at != end; ++at) {
    std::string_view rest(at->value().data(), at->value().size());
    for (bool more = true; more;) {
      const std::size_t comma = rest.find(',');
      all.push_back(ascii::lowered(ascii::trimmed(rest.substr(0, comma))));
      more = comma != rest.npos;
      if (more) rest.remove_prefix(comma + 1);
    }
  }
  return all;
}

/// Who reads another end of a body than a proxy before it takes a part of it for the next request (RFC 9112, 6.1 and
/// 6.3). Beast's parser passes over what it does not know.
Refusal refusal_of_framing(const http::request_header<>& header) {
  const std::vector<std::string> codings = codings_of(header, http::field::transfer_encoding);
  if (codings.empty()) return {};
  if (header.version() < 11) return {400, "Transfer-Encoding is not for HTTP/1.0"};
  if (header.count(http::field::content_length) > 0)
    return {400, "the request has both a Transfer-Encoding and a Content-Length"};
  if (codings.back() != "chunked") return {400, "the last coding of a request's Transfer-Encoding must be chunked"};
  if (std::count(codings.begin(), codings.end(), "chunked") > 1) return {400, "the request's body is chunked twice"};
  if (codings.size() > 1) return {501, "the one Transfer-Encoding that this server knows is chunked"};
  return {};
}

/// RFC 9112, 3.2.
Refusal refusal_of_host(const http::request_header<>& header) {
  const std::size_t hosts = header.count(http::field::host);
  if (hosts > 1) return {400, "the request has more than one Host"};
  if (hosts == 0 && header.version() >= 11) return {400, "a request of HTTP/1.1 must have a Host"};
  return {};
}

}  // namespace

Refusal refusal_of(const http::request_header<>& header) {
  const Refusal refused = refusal_of_framing(header);
  return refused.status != 0 ? refused : refusal_of_host(header);
}

}  // namespace parlance::serve
