#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <bide/executor/jobs/job_context.hpp>
#include <bide/executor/jobs/job_outcome.hpp>
#include <bide/executor/task.hpp>

namespace bide {

/// What a job does: a function and its arguments.
///
///     JobWork work(resize, std::string("cat.png"), 200);   // Task<JobOutcome> resize(JobContext&, std::string, int)
///
/// Each attempt calls `function(context, arguments...)` anew, with copies of the arguments: a retry begins with what
/// the first attempt began with. Function and arguments live as long as the job, so a lambda with captures is fine.
///
/// Requires: function and arguments can be copied, since a template of recurring jobs is.
/// Cost:     no allocation up to `inline_bytes` of function and arguments.
class JobWork {
 public:
  static constexpr std::size_t inline_bytes = 48;

  JobWork() = default;  ///< None: the handler of the job's kind does it.

  template <class F, class... Args>
  requires(
      !std::same_as<std::remove_cvref_t<F>, JobWork> &&
      std::is_invocable_r_v<Task<JobOutcome>, std::decay_t<F>&, JobContext&, const std::decay_t<Args>&...>)
      JobWork(F&& function, Args&&... arguments) {
    using Bound = Call<std::decay_t<F>, std::decay_t<Args>...>;
    if constexpr (fits<Bound>) {
      ::new (static_cast<void*>(space_)) Bound{std::forward<F>(function), {std::forward<Args>(arguments)...}};
      actions_ = &inline_actions<Bound>;
    } else {
      auto made =
          std::make_unique<Bound>(Bound{std::forward<F>(function), {std::forward<Args>(arguments)...}});
      ::new (static_cast<void*>(space_)) Bound*(made.release());
      actions_ = &heap_actions<Bound>;
    }
  }
  JobWork(const JobWork& other) : actions_(nullptr) {
    if (other.actions_ == nullptr) return;
    other.actions_->copy(other.space_, space_);
    actions_ = other.actions_;
  }
  JobWork(JobWork&& other) noexcept { take_over(other); }
  JobWork& operator=(const JobWork& other) { return *this = JobWork(other); }
  JobWork& operator=(JobWork&& other) noexcept {
    if (this == &other) return *this;
    clear();
    take_over(other);
    return *this;
  }
  ~JobWork() { clear(); }

  /// Function and arguments go.
  void clear() noexcept {
    const Actions* const actions = std::exchange(actions_, nullptr);
    if (actions != nullptr && actions->destroy != nullptr) actions->destroy(space_);
  }

  explicit operator bool() const { return actions_ != nullptr; }

  /// A new attempt. Requires: there is a function; it and the context outlive the task.
  Task<JobOutcome> operator()(JobContext& context) { return actions_->call(space_, context); }

 private:
  template <class F, class... Args>
  struct Call {
    F function;
    std::tuple<Args...> arguments;
  };
  struct Actions {
    Task<JobOutcome> (*call)(void* self, JobContext& context);
    void (*copy)(const void* from, void* to);
    void (*move)(void* from, void* to) noexcept;  // and destroys what it moved from; null: the bytes are all
    void (*destroy)(void* self) noexcept;         // null: there is nothing to do
  };

  template <class Bound>
  static constexpr bool fits =
      sizeof(Bound) <= inline_bytes &&
      alignof(Bound) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<Bound>;

  template <class Bound>
  static Task<JobOutcome> call_bound(Bound& bound, JobContext& context) {
    return std::apply(
        [&](const auto&... arguments) { return std::invoke(bound.function, context, arguments...); },
        std::as_const(bound.arguments));
  }

  template <class Bound>
  static void move_bound(void* from, void* to) noexcept {
    ::new (to) Bound(std::move(*static_cast<Bound*>(from)));
    static_cast<Bound*>(from)->~Bound();
  }
  template <class Bound>
  static void destroy_bound(void* self) noexcept {
    static_cast<Bound*>(self)->~Bound();
  }

  template <class Bound>
  static constexpr Actions inline_actions{
      [](void* self, JobContext& context) { return call_bound(*static_cast<Bound*>(self), context); },
      [](const void* from, void* to) { ::new (to) Bound(*static_cast<const Bound*>(from)); },
      std::is_trivially_copyable_v<Bound> ? nullptr : &move_bound<Bound>,
      std::is_trivially_destructible_v<Bound> ? nullptr : &destroy_bound<Bound>,
  };
  template <class Bound>
  static constexpr Actions heap_actions{
      [](void* self, JobContext& context) { return call_bound(**static_cast<Bound**>(self), context); },
      [](const void* from, void* to) { ::new (to) Bound*(new Bound(**static_cast<Bound* const*>(from))); },
      [](void* from, void* to) noexcept { ::new (to) Bound*(*static_cast<Bound**>(from)); },
      [](void* self) noexcept { delete *static_cast<Bound**>(self); },
  };

  /// Requires: this has none.
  void take_over(JobWork& other) noexcept {
    actions_ = std::exchange(other.actions_, nullptr);
    if (actions_ == nullptr) return;
    if (actions_->move != nullptr) return actions_->move(other.space_, space_);
    std::memcpy(space_, other.space_, inline_bytes);
  }

  const Actions* actions_ = nullptr;
  alignas(std::max_align_t) std::byte space_[inline_bytes];
};

}  // namespace bide
