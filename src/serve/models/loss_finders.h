// LossFinders: what finds the losses of requests to a model, kept for each of its templates.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "parlance/losses.h"
#include "parlance/request.h"

namespace parlance::serve {

/// Threads: any.
class LossFinders {
 public:
  /// What the prompt of this request lacks, by a render of its own and a bounded number of experiments. If it cannot be
  /// rendered, what is known without that.
  std::vector<Loss> losses(const RequestReader& reader, const Conversation& conversation, const RenderOptions& options);

 private:
  std::shared_ptr<const LossFinder> finder_for(const Template& chat_template, const void* key);

  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<const LossFinder>> finders_;  ///< by the reader's template
};

}  // namespace parlance::serve
