// Settings of a request that its template does not heed, names that are nearly right, special tokens that nobody gave.
//
// An undefined name prints as nothing in Jinja, so a misspelt variable changes the prompt without any error. A name
// that nobody gives is common and harmless; it is reported only if a similar one was given and not read.
#pragma once
#include <optional>
#include <vector>

#include "losses/experiment.h"

namespace parlance {

/// Members of the request that have no effect, and variables that the template reads and nobody gives where one is
/// given whose name is near; where the search asks for what is left out also members that say nothing to a template.
/// `rendering`: the prompt, for experiments, of which there are at most `most` for each setting
/// and for values that may be misread, each of which takes up to four.
void find_lost_settings(const Experiment& experiment, std::size_t most, TextSearch& search, const Rendering& rendering,
                        const TemplateFacts& facts, std::vector<Loss>& losses);
/// A wish for no generation prompt that the prompt has all the same; told by at most three renders.
/// `most`: renders that it may take; it needs three.
void find_unheeded_end(const Experiment& experiment, std::size_t most, const Rendering& rendering,
                       std::vector<Loss>& losses);
/// What the template printed and is undefined, and looks like something that is there.
void find_misspelt(const Rendering& rendering, const TemplateFacts& facts, std::vector<Loss>& losses);
/// Special tokens that the template would write if somebody gave them. `names`: the variables it reads that are such.
void find_lost_tokens(const Experiment& experiment, const std::vector<std::string>& names, std::vector<Loss>& losses);
/// Members that the request, or JSON text in it or beside it, gives twice in one object.
void find_repeated(const Conversation& conversation, std::vector<Loss>& losses);
/// What passes are there to leave out: the nulls of a table, one loss for all of them.
void find_left_out_by_passes(const Conversation& conversation, std::vector<Loss>& losses);
/// What the passes found wrong: arguments that are no JSON, an effort of reasoning that is not taken.
void find_lost_by_passes(const Conversation& conversation, std::vector<Loss>& losses);

/// Is it the name of a variable for a special token: bos_token?
bool names_token(std::string_view variable);
/// What a text or a number says that is no boolean, as forms and people write them; none for other values.
std::optional<bool> meant_by(Value value);

}  // namespace parlance
