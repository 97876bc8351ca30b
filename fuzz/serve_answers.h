// Checks what the gateway sends to a client: answers of HTTP whose bodies are what they say. Begin reading at
// check_answers.
#pragma once
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve_model.h"

namespace parlance::fuzz {

/// Takes the text up to `end` from the front; aborts if it is not there.
inline std::string_view take_to(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  if (at == text.npos) std::abort();
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return front;
}

inline std::string_view take_size(std::string_view& text, std::size_t size) {
  if (size > text.size()) std::abort();
  const std::string_view front = text.substr(0, size);
  text.remove_prefix(size);
  return front;
}

inline std::size_t number_in(std::string_view text, int base) {
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failed != std::errc() || end != text.data() + text.size()) std::abort();
  return number;
}

/// Errors say what is wrong in words, in each API's form.
inline void check_error(std::string_view body) {
  Document document;
  if (!document.parse(body)) std::abort();
  const Value error = document.root()["error"];
  const std::string_view said = error.is_string() ? error.text() : error["message"].text();
  if (said.empty()) std::abort();
}

/// Server-sent events, or lines of JSON.
inline void check_stream(std::string_view body) {
  while (!body.empty()) {
    std::string_view line = take_to(body, "\n");
    if (line.starts_with("data: ")) line.remove_prefix(6);
    if (line.starts_with('{'))
      must_be_json(line);
    else if (!line.empty() && line != "[DONE]" && !line.starts_with("event: "))
      std::abort();
  }
}

inline void check_body(unsigned status, std::string_view type, std::string_view body) {
  if (status >= 400) return check_error(body);
  if (type == "application/json") return must_be_json(body);
  if (type == "text/event-stream" || type == "application/x-ndjson") check_stream(body);
}

/// The value of a header in a head; "" if it has none.
inline std::string_view value_in(std::string_view head, std::string_view name) {
  const std::string wanted = "\r\n" + std::string(name) + ": ";
  const std::size_t at = head.find(wanted);
  if (at == head.npos) return {};
  const std::string_view rest = head.substr(at + wanted.size());
  return rest.substr(0, rest.find("\r\n"));
}

inline std::string joined_chunks(std::string_view& text) {
  std::string body;
  for (;;) {
    const std::size_t size = number_in(take_to(text, "\r\n"), 16);
    body += take_size(text, size);
    if (!take_to(text, "\r\n").empty()) std::abort();
    if (size == 0) return body;
  }
}

/// All that came on one connection. A client that sends no request that its engine fails gets no status from 500 on,
/// but 501 for a Transfer-Encoding that is not known.
inline void check_answers(std::string_view text) {
  while (!text.empty()) {
    const std::string_view head = take_to(text, "\r\n\r\n");
    if (!head.starts_with("HTTP/1.1 ") && !head.starts_with("HTTP/1.0 ")) std::abort();
    const auto status = static_cast<unsigned>(number_in(head.substr(9, 3), 10));
    if (status == 100) continue;
    if (status < 200 || (status >= 500 && status != 501)) std::abort();
    const std::string_view type = value_in(head, "Content-Type"), size = value_in(head, "Content-Length");
    if (value_in(head, "Transfer-Encoding") == "chunked") {
      const std::string body = joined_chunks(text);
      check_body(status, type, body);
    } else if (size.empty()) {  // up to the close, for HTTP/1.0
      check_body(status, type, text);
      return;
    } else if (!text.empty() && !text.starts_with("HTTP/1.")) {  // else it answers HEAD
      check_body(status, type, take_size(text, number_in(size, 10)));
    }
  }
}

}  // namespace parlance::fuzz
