// Finds models by their names, and compares API keys.
#include "serve/offer.h"

#include <algorithm>

#include "base/sha256.h"

namespace parlance::serve {

namespace {

/// Takes the same time wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b) {
  const std::string x = sha256(a), y = sha256(b);
  unsigned difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) difference |= static_cast<unsigned>(x[i] ^ y[i]);
  return difference == 0;
}

}  // namespace

std::shared_ptr<const ServedModel> Offer::model_named(std::string_view name) const {
  for (const std::shared_ptr<const ServedModel>& model : models) {
    if (model->name == name) return model;
  }
  return models.size() == 1 ? models.front() : nullptr;
}

bool Offer::has_engine() const {
  return std::any_of(models.begin(), models.end(), [](const auto& model) { return model->backend != nullptr; });
}

bool Offer::takes_key(std::string_view given) const {
  if (api_keys.empty()) return true;
  bool takes = false;
  for (const std::string& key : api_keys) takes = same_secret(given, key) || takes;
  return takes;
}

}  // namespace parlance::serve
