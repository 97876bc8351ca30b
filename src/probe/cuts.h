// The texts at which a template cuts an assistant's turns: what stands before one is not the answer. Begin reading at
// find_cuts.
//
//     {{ message.content.split('</think>')[-1] }}      of "zq reasons so</think>zq answers this" only the answer shows
//
// Some templates take reasoning out of earlier answers and have no other place that shows its marker. Such a template
// writes no `<think>` that could be found in a prompt; what it does with a text that holds its marker is the only
// trace.
#pragma once
#include <string>
#include <vector>

#include "probe/probe_request.h"

namespace parlance::probe {

/// A text that an answer was cut at when it was rendered as history.
struct Cut {
  std::string open;   ///< the text that has to stand before the reasoning; "": none has to
  std::string close;  ///< without white space round it
};

/// Texts of the template are only what is tried: each is put into an answer, and is a cut if what stands before it is
/// lost, or is written otherwise than it was given, and what follows it is not. Where none is one, that costs a single
/// experiment.
std::vector<Cut> find_cuts(Prober& prober);

/// The text that closes what `open` opens, by its spelling alone: </a> of <a>, [/a] of [a]; "" of all other texts.
std::string plain_closing(std::string_view open);
/// The text that opens what `close` closes, in the same way.
std::string plain_opening(std::string_view close);

}  // namespace parlance::probe
