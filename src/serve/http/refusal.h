// What a request's header is refused for, before its body is read.
#pragma once
#include <boost/beast/http/message.hpp>
#include <string_view>

namespace parlance::serve {

struct Refusal {
  unsigned status = 0;  ///< 0: it is not refused
  std::string_view why{};
};
Refusal refusal_of(const boost::beast::http::request_header<>& header);

}  // namespace parlance::serve
