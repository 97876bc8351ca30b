// Conversations as bytes, for a store that several gateways share.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "serve/models/model.h"
#include "serve/sessions/store.h"

namespace parlance::serve {

/// What the ids of a session depend on: templates, tokenizer, the options of both. Models of one fingerprint can go on
/// from each other's sessions.
std::string fingerprint_of(const ServedModel& model);

enum class SavedAs : std::uint8_t {
  whole,
  behind,  ///< what it has beyond Held::behind
};

/// Where the turn that these bytes go on from is in the shared store: "": they are whole, or nobody's.
std::string_view place_before(std::string_view saved);

std::string save(const Held& held, SavedAs as = SavedAs::whole);
/// From a turn that is whole and those behind it, each of which goes on from the one before; the last one is wanted.
/// The bytes may come from anybody. Fails as Session::restore() does, and with conversation for what another format,
/// another fingerprint or nobody wrote.
Result<std::shared_ptr<const Held>> restore(std::span<const std::string_view> saved,
                                            const std::shared_ptr<const ServedModel>& model);
/// Null: it cannot be restored.
std::shared_ptr<const Held> restore(const std::shared_ptr<const Past>& past);

/// Where a turn is in the store that gateways share.
std::string shared_place(const ServedModel& model, const TurnName& name);

}  // namespace parlance::serve
