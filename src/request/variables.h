// The variables that a request brings along for its template, as experiments take them. Begin reading at variables_of.
//
// A variable may change the format of replies (enable_thinking, a tool syntax), so experiments for a request set the
// same variables as the request does, and what was found is kept by them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "parlance/template.h"
#include "parlance/value.h"

namespace parlance {

using Variables = std::vector<std::pair<std::string, std::string>>;  ///< name, JSON

/// Of the members of a request and of its chat_template_kwargs, those that the template reads and experiments do not
/// make themselves (messages, tools, the generation prompt); sorted by name. `request` is an object, or there are none.
Variables variables_of(const TemplateFacts& facts, Value request);
/// `over` in place of what has the same name in `variables`, and besides.
Variables merged(Variables variables, const Variables& over);
/// One text for equal variables.
std::string key_of(const Variables& variables);

}  // namespace parlance
