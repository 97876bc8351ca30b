// What a RequestReader keeps. Begin reading at RequestReader::State.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fork_lock.h"
#include "request/formats.h"
#include "request/known_tools.h"
#include "request/templates.h"

namespace parlance {

/// It stays where it is: `templates` refers to what stands before it. Threads: any.
struct RequestReader::State {
  State(ModelSource source, RequestOptions wanted)
      : model(std::move(source)), options(std::move(wanted)), templates(model, options) {}
  State(Template chat_template, RequestOptions wanted)
      : options(std::move(wanted)), templates(model, options, std::move(chat_template)) {}

  bool has_template() const { return templates.are_there(); }
  /// All that follows the reading of a request as it is.
  Result<void> complete(ChatRequest& request, const Result<void>& read, std::optional<SentTo> sent_to = {});
  /// How a reply is written whose request has these variables.
  Result<ReplyStart> format_for(Value variables);
  /// How the reply to this conversation is read, but for where it begins.
  Result<ReplyStart> start_of(const Conversation& conversation);
  /// What reads the turns of prompts whose replies have this format.
  std::shared_ptr<const PromptKinds> kinds_for(const CompiledReplyFormat& format, std::vector<std::string> ends);
  /// What the prompt of a request ends with.
  Result<std::string> prompt_of(const ReplyFormat& format, Conversation& conversation, const RenderOptions& render);

  const ModelSource model;
  const RequestOptions options;
  ModelTemplates templates;
  KnownTools tools;

 private:
  /// A format, which it keeps alive, and what was made of it.
  struct KnownKinds {
    CompiledReplyFormat format;
    std::vector<std::string> ends;
    std::shared_ptr<const PromptKinds> kinds;
  };
  /// Where formats come from.
  struct Formats {
    std::optional<CompiledReplyFormat> known;  ///< options.reply_format, or
    std::optional<Result<void>> failed;        ///< why there is none, nor a template to derive one from, or
    std::optional<DerivedFormats> derived;
  };
  std::unique_ptr<Formats> open_formats();
  std::shared_ptr<const PromptKinds> find_kinds(const CompiledReplyFormat& format,
                                                const std::vector<std::string>& ends) const;

  MadeOnce<Formats> formats_;
  mutable BriefMutex kinds_mutex_;
  std::vector<KnownKinds> kinds_;  ///< the last few
};

}  // namespace parlance
