// Tells the machine's own names from others. Begin reading at KnownHosts::refusal_of.
#include "serve/http/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <optional>

#include "base/ascii.h"
#include "base/lowered.h"

namespace parlance::serve {

namespace {

namespace ip = boost::asio::ip;

/// A host without its port, without the brackets of an address and the dot that may end a name; unset: it is none.
std::optional<std::string> host_in(std::string_view authority) {
  const bool is_six = authority.starts_with('[');
  const std::size_t end = std::min(is_six ? authority.find(']') : authority.find(':'), authority.size());
  if (is_six && end == authority.size()) return std::nullopt;
  std::string_view host = authority.substr(is_six ? 1 : 0, is_six ? end - 1 : end);
  std::string_view port = authority.substr(is_six ? end + 1 : end);
  const bool has_port = port.starts_with(':');
  if (has_port) port.remove_prefix(1);
  const bool is_port = port.empty() || (has_port && std::all_of(port.begin(), port.end(), ascii::is_digit));
  const auto fits = [is_six](char c) { return ascii::is_word(c) || c == '-' || c == '.' || (is_six && c == ':'); };
  if (!is_port || !std::all_of(host.begin(), host.end(), fits)) return std::nullopt;
  if (host.ends_with('.')) host.remove_suffix(1);
  return ascii::lowered(host);
}

std::optional<ip::address> address_in(std::string_view host) {
  boost::system::error_code failed;
  const ip::address made = ip::make_address(std::string(host), failed);
  return failed ? std::nullopt : std::optional(made);
}

bool leads_back(const ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address.to_v6()).is_loopback();
  return address.is_loopback();
}

/// By which others of its network may know the machine.
std::vector<std::string> names_of_this_machine() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return {};
  const std::string whole = ascii::lowered(name.data()), label = whole.substr(0, whole.find('.'));
  return {whole, label, label + ".local"};
}

std::string sentence(std::string_view what, const std::optional<std::string>& host) {
  return "this server accepts requests for its own machine only, and " + std::string(what) +
         (host ? " is '" + *host + "'. To accept that name, start it with --allow-host " + *host
               : " is that of another. To accept a name, start it with --allow-host NAME");
}

}  // namespace

KnownHosts::KnownHosts(std::vector<std::string> more) : names_(names_of_this_machine()) {
  for (const std::string& name : more) names_.push_back(ascii::lowered(name));
}

bool KnownHosts::knows_name(std::string_view name) const {
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  if (name.ends_with(".internal")) return true;  // of containers, for the machine they run on; nobody can own it
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

/// No page can have its name lead elsewhere if it is an address.
bool KnownHosts::knows_host(std::string_view host) const {
  return host.empty() || address_in(host) || knows_name(host);
}

/// A page of this machine, or of the server itself as it was asked. Schemes other than the web's are those of programs
/// that show pages of their own (editors, desktop programs); "null" is said for pages of anybody.
bool KnownHosts::knows_origin(std::string_view origin, std::string_view asked) const {
  const std::size_t colon = origin.find("://");
  if (colon == origin.npos) return false;
  const std::string scheme = ascii::lowered(origin.substr(0, colon));
  if (scheme != "http" && scheme != "https") return true;
  const std::optional<std::string> host = host_in(origin.substr(colon + 3));
  if (!host || host->empty()) return false;
  if (*host == asked || knows_name(*host)) return true;
  const std::optional<ip::address> address = address_in(*host);
  return address && leads_back(*address);
}

std::string KnownHosts::refusal_of(const HttpRequest& request) const {
  const std::optional<std::string> host = host_in(request.header("host"));
  if (!host || !knows_host(*host)) return sentence("the Host", host);
  const std::string_view origin = request.header("origin");
  if (origin.empty() || knows_origin(origin, *host)) return {};
  const std::size_t colon = origin.find("://");
  return sentence("the Origin", colon == origin.npos ? std::nullopt : host_in(origin.substr(colon + 3)));
}

std::string authority_of(const std::string& host, const std::string& port) {
  return (host.find(':') != host.npos ? "[" + host + "]" : host) + ":" + port;
}

bool is_loopback(const std::string& address) {
  const std::optional<ip::address> made = address_in(address);
  return made && leads_back(*made);
}

}  // namespace parlance::serve
