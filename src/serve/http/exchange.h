// Exchange: one HTTP request and its answer. A handler gets one, and gives the answer whole or piece by piece.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/task.h"

namespace parlance::serve {

struct HttpHeader {
  std::string name;  ///< in lower case
  std::string value;
};

struct HttpRequest {
  std::string method;
  std::string path;   ///< without the query
  std::string query;  ///< behind the '?'
  std::vector<HttpHeader> headers;
  std::string body;
  std::string_view fault{};  ///< why it was refused, where the status alone does not say it

  /// The value of the first header of this name (in lower case); "" if there is none.
  std::string_view header(std::string_view name) const;
};

/// Each write waits until the client's connection has taken the bytes: who reads slowly slows down the handler, and so
/// the engine's connection that it reads from. If the client is gone, they throw.
class Exchange {
 public:
  virtual ~Exchange() = default;

  const HttpRequest& request() const { return request_; }
  HttpRequest& request() { return request_; }
  /// A header of the answer, besides its type and size. Call it before the answer begins.
  void add_header(std::string_view name, std::string_view value) {
    headers_.push_back({std::string(name), std::string(value)});
  }

  /// Has the answer a header alone? Then what is written is left out, and who streams without end can end at once.
  bool is_head() const { return request_.method == "HEAD"; }

  virtual Task<> answer(unsigned status, std::string_view type, std::string_view body) = 0;
  /// The header goes with the first piece.
  virtual void begin(unsigned status, std::string_view type) = 0;
  virtual Task<> write(std::string_view piece) = 0;
  /// Sends what the connection takes at once; the rest goes before the next bytes. Only where nothing is being written.
  /// False: the client has not yet taken the piece before, and this one is not kept.
  virtual bool write_now(std::string_view piece) = 0;
  /// `last`: a piece that goes with the end.
  virtual Task<> end(std::string_view last = {}) = 0;

  bool begun() const { return status_ != 0; }
  unsigned status() const { return status_; }  ///< 0: no answer has begun

 protected:
  HttpRequest request_;
  std::vector<HttpHeader> headers_;
  unsigned status_ = 0;
};

}  // namespace parlance::serve
