// Pool: workspaces of a program that threads take and return, so that several threads can run a program at once.
#pragma once

#include <agrad/base/fork_safe_mutex.hpp>
#include <agrad/program/program.hpp>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace agrad::python {

class workspace_pool {
 public:
  /// A workspace that returns to the pool when the handle is destroyed, unless an exception passes: then the workspace's state
  /// is unknown.
  class handle {
   public:
    explicit handle(workspace_pool& from) : from_(from), mine_(from.get()), exceptions_(std::uncaught_exceptions()) {}
    ~handle() {
      if (std::uncaught_exceptions() == exceptions_) from_.release(std::move(mine_));
    }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    workspace& operator*() const { return *mine_; }

   private:
    workspace_pool& from_;
    std::unique_ptr<workspace> mine_;
    int exceptions_;
  };

  handle acquire() { return handle(*this); }

  /// Tells all later workspaces the inputs whose derivatives are used; null: all.
  explicit workspace_pool(std::shared_ptr<const std::vector<bool>> wanted = nullptr) : wanted_(std::move(wanted)) {}

 private:
  std::unique_ptr<workspace> get() {
    const std::lock_guard<fork_safe_mutex> lock(mutex_);
    if (free_.empty()) {
      auto w = std::make_unique<workspace>();
      w->wanted = wanted_;
      return w;
    }
    auto w = std::move(free_.back());
    free_.pop_back();
    return w;
  }
  void release(std::unique_ptr<workspace> w) {
    const std::lock_guard<fork_safe_mutex> lock(mutex_);
    free_.push_back(std::move(w));
  }

  fork_safe_mutex mutex_;
  std::vector<std::unique_ptr<workspace>> free_;
  std::shared_ptr<const std::vector<bool>> wanted_;
};

struct pooled_program {
  explicit pooled_program(std::shared_ptr<const program> p, std::shared_ptr<const std::vector<bool>> wanted = nullptr)
      : code(std::move(p)), workspaces(std::move(wanted)) {}
  std::shared_ptr<const program> code;
  mutable workspace_pool workspaces;
};

}  // namespace agrad::python
