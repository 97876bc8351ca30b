// How a template wants messages handed over: shapes of content, roles and their order, ids, names of reasoning.
//
// adapt() chooses passes by what is found here. A question costs one or two dozen renders, and most requests need none
// of them answered; so Needs says which questions a request depends on, and only those are asked. Begin reading at
// find_shapes.
#pragma once
#include "probe/probe_request.h"

namespace parlance::probe {

/// What of a template's ways a request depends on, as bits.
using Needs = std::uint32_t;
inline constexpr Needs kNeedsEffort = 1, kNeedsOrders = 2, kNeedsCalls = 4, kNeedsReasoning = 8, kNeedsContents = 0x1F0,
                       kFirstMedia = 0x200, kNeedsMedia = 0x3FE00, kNeedsImages = 0x40000, kNeedsTools = 0x80000;
/// The roles whose content experiments are made with.
inline constexpr std::string_view kContentRoles[] = {"user", "assistant", "system", "developer", "tool"};
/// The bit of the content of a role's messages; 0 for a role that no experiment knows.
Needs content_of_role(std::string_view role);
inline constexpr Needs kNeedsAll =
    kNeedsEffort | kNeedsOrders | kNeedsCalls | kNeedsReasoning | kNeedsContents | kNeedsTools;

/// Finds it by rendering with the convention of `prober`, which shows all that can be shown; `can` has the capabilities
/// found so far.
void find_shapes(Prober& prober, TemplateCapabilities& can, Needs needs);

/// A small conversation with this content, JSON, of a message of the role.
const Shot& take_content(Prober& prober, std::string_view role, const std::string& content_json);

/// What a request of plain text needs: of contents if the text does not show, of tools if the template raises without
/// any. One small render, where it needs nothing.
Needs needs_of_text(const Template& chat_template, const DeriveOptions& options);

}  // namespace parlance::probe
