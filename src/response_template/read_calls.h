// The field tool_calls of a response_template as forms of calls. Begin reading at forms_of.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parlance/reply_format.h"
#include "response_template/pattern.h"
#include "response_template/template_fields.h"

namespace parlance::response {

/// A border's texts, or the alternatives of its pattern.
/// Fails with value (path) where the pattern is more than is read.
Result<std::vector<Sequence>> sequences_of(const Border& border, const std::string& path);

/// Fails with value (path) where an alternative is not made of texts and white space, nor is one element of the kind
/// `alone`.
Result<void> check_plain(const std::vector<Sequence>& sequences, std::optional<Element::Kind> alone,
                         const std::string& path);

/// One marker of those sequences that are texts and white space alone; the others are left out.
ReplyMarker marker_of(const std::vector<Sequence>& sequences);

/// Fails with value (path) where a form cannot say it.
Result<std::vector<CallForm>> forms_of(const TemplateField& field, bool repeats);

}  // namespace parlance::response
