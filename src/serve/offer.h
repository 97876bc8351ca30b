// Offer: what the gateway offers at a time. A reload replaces it as a whole; requests under way keep theirs.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/models/model.h"

namespace parlance::serve {

struct Offer {
  std::vector<std::shared_ptr<const ServedModel>> models;
  std::vector<std::string> api_keys;  ///< none: every client may ask

  /// The model of this name; with one model alone, that one by whatever name. Null: there is none.
  std::shared_ptr<const ServedModel> model_named(std::string_view name) const;
  /// Without any, requests can be rendered and replies read, but nobody answers a chat.
  bool has_engine() const;
  /// Takes the same time whichever key is given.
  bool takes_key(std::string_view given) const;
};

}  // namespace parlance::serve
