// Conversations as bytes, for a store that several gateways share.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "serve/models/model.h"
#include "serve/sessions/store.h"

namespace parlance::serve {

/// What the ids of a session depend on: templates, tokenizer, the options of both. Models of one fingerprint can go on
/// from each other's sessions.
std::string fingerprint_of(const ServedModel& model);

std::string save(const Held& held);
/// The bytes may come from anybody. Fails as Session::restore() does, and with conversation for what another format,
/// another fingerprint or nobody wrote.
Result<std::shared_ptr<const Held>> restore(std::string_view saved, const std::shared_ptr<const ServedModel>& model);

}  // namespace parlance::serve
