// Parsing the names of Ollama's models, from the end: a tag, the model, a namespace, a host.
#include "sources/ollama_name.h"

#include <algorithm>

#include "base/ascii.h"

namespace parlance {
namespace {

constexpr std::string_view kPublicHosts[] = {"registry.ollama.ai", "ollama.com"};

using ascii::lower;

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_public(std::string_view host) { return same(host, kPublicHosts[0]) || same(host, kPublicHosts[1]); }

/// A letter, a digit or _, then these and - and what `also` has.
bool is_name_part(std::string_view text, std::size_t longest, std::string_view also) {
  if (text.empty() || text.size() > longest) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = lower(text[i]);
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!is_word && (i == 0 || (c != '-' && also.find(c) == also.npos))) return false;
  }
  return true;
}

bool is_valid(const OllamaName& name) {
  constexpr std::size_t kLongestHost = 350;
  constexpr std::size_t kLongestPart = 80;
  return is_name_part(name.host, kLongestHost, ".:") && is_name_part(name.name_space, kLongestPart, "") &&
         is_name_part(name.model, kLongestPart, ".") && is_name_part(name.tag, kLongestPart, ".");
}

}  // namespace

std::string OllamaName::path() const { return host + "/" + name_space + "/" + model + "/" + tag; }

std::string OllamaName::shortest() const {
  const OllamaName usual;
  std::string text = model + ":" + tag;
  if (!is_public(host)) return host + "/" + name_space + "/" + text;
  return same(name_space, usual.name_space) ? text : name_space + "/" + text;
}

bool OllamaName::is(const OllamaName& other) const {
  const bool same_host = same(host, other.host) || (is_public(host) && is_public(other.host));
  return same_host && same(name_space, other.name_space) && same(model, other.model) && same(tag, other.tag);
}

std::optional<OllamaName> parse_ollama_name(std::string_view text) {
  OllamaName name;
  const std::size_t colon = text.rfind(':');
  const std::size_t slash = text.rfind('/');
  if (colon != text.npos && (slash == text.npos || colon > slash)) {
    name.tag = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  // What stands before a slash is there, or the name is none; a host may come with the protocol it
  // is reached by.
  std::string* const parts[] = {&name.model, &name.name_space, &name.host};
  for (std::string* part : parts) {
    const std::size_t cut = part == &name.host ? text.npos : text.rfind('/');
    *part = cut == text.npos ? text : text.substr(cut + 1);
    if (cut == text.npos) break;
    text = text.substr(0, cut);
  }
  const std::size_t protocol = name.host.find("://");
  if (protocol != name.host.npos) name.host.erase(0, protocol + 3);
  if (protocol != name.host.npos && name.host.empty()) name.host = kPublicHosts[0];
  return is_valid(name) ? std::optional(std::move(name)) : std::nullopt;
}

}  // namespace parlance
