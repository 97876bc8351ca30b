// KnownHosts: by which names a server on the loopback may be asked, and from which web pages.
//
// A browser runs the pages of anybody, and lets them ask servers of its own machine. A page whose name leads to
// 127.0.0.1 all at once (DNS rebinding) may read the answers too: the Host of its requests is that name. A page that
// may not read them can ask all the same: its requests have an Origin.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/exchange.h"

namespace parlance::serve {

/// Threads: any.
class KnownHosts {
 public:
  /// `more`: names besides those of the machine.
  explicit KnownHosts(std::vector<std::string> more);

  /// Why a request is refused; "": it is not. A request without an Origin is a program's.
  std::string refusal_of(const HttpRequest& request) const;

 private:
  bool knows_host(std::string_view host) const;
  bool knows_origin(std::string_view origin, std::string_view asked) const;
  bool knows_name(std::string_view name) const;

  std::vector<std::string> names_;  ///< in lower case
};

/// "HOST:PORT", where an IPv6 address stands in brackets.
std::string authority_of(const std::string& host, const std::string& port);
/// Can only programs of this machine connect to a server at this address?
bool is_loopback(const std::string& address);

}  // namespace parlance::serve
