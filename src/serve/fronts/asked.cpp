// Reads what a body asks.
#include "serve/fronts/asked.h"

namespace parlance::serve {

Result<Document> read_object(const std::string& body) {
  Document document;
  if (Result<void> read = document.parse(body, "the request"); !read) return read.error();
  if (!document.root().is(Kind::dict)) return Error(ErrorCode::conversation, "the request is no object");
  return document;
}

Result<const ServedModel*> asked_model(const Gateway& gateway, Value body) {
  const std::string name(body["model"].text());
  if (const ServedModel* const model = gateway.model_named(name)) return model;
  return Error(ErrorCode::no_template, "there is no model '" + name + "' here")
      .input("model")
      .hint("GET /v1/models lists them");
}

bool is_true(Value value) { return value.is(Kind::boolean) && value.integer != 0; }

}  // namespace parlance::serve
