#include "replay.hpp"

#include "jobs_text.hpp"
#include "trace.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

using bide::test::csv;
using bide::test::replayed;
using bide::test::schedule;
using bide::test::schedule_of;
using bide_jobs::History;
using bide_jobs::Policy;
using bide_jobs::Workload;
using namespace std::chrono_literals;

namespace {

const char* s1 =
    "name,priority,duration,deadline,hint\n"
    "A,high,4,,\nB,normal,2,10,2\nC,low,1,6,1\nD,normal,3,,\nE,critical,1,,\n";

const char* s2 =
    "name,priority,duration,deadline,hint\n"
    "A,normal,100,150,100\nB,normal,1,7,1\nH1,high,1,,\nH2,high,1,,\n";

std::string trace_of(const Workload& workload, Policy policy, std::int64_t workers = 1,
                     std::size_t capacity = 256) {
  bide_jobs::ReplayOptions options;
  options.policy = policy;
  options.workers = workers;
  options.capacity = capacity;
  std::ostringstream out;
  write_trace(out, workload, replay(workload, options), options);
  return out.str();
}

}  // namespace

SCENARIO("Replay: one worker, five jobs at once (vector S1)") {
  CHECK(schedule_of(s1, Policy::urgency) == "E[0-1] C[1-2] A[2-6] B[6-8] D[8-11]");
  CHECK(schedule_of(s1, Policy::strict) == "E[0-1] A[1-5] B[5-7] D[7-10] C[10-11]");
  CHECK(schedule_of(s1, Policy::edf) == "C[0-1] B[1-3] E[3-4] A[4-8] D[8-11]");
  CHECK(schedule_of(s1, Policy::fifo) == "A[0-4] B[4-6] C[6-7] D[7-10] E[10-11]");
}

SCENARIO("Replay: within a class the earlier latest start goes first, whatever the scores (vector S2)") {
  CHECK(schedule_of(s2, Policy::urgency) == "H1[0-1] H2[1-2] B[2-3] A[3-103]");
  CHECK(schedule_of(s2, Policy::strict) == "H1[0-1] H2[1-2] A[2-102] B[102-103]");
}

SCENARIO("Replay: aging lets a low job pass a flood of normal ones after 45 s (vector S3)") {
  std::string text = "name,priority,submit,duration\nL,low,0,1\n";
  for (int second = 0; second < 60; ++second) text += "N,normal," + std::to_string(second) + ",1\n";
  Workload workload = csv(text);
  CHECK(replayed(workload, Policy::urgency).fates[0].started == 46s);  // the tie at 45 s goes to the class
  CHECK(replayed(workload, Policy::strict).fates[0].started == 60s);
}

SCENARIO("Replay: equal urgency leaves the class to decide (vector S4)") {
  const char* s4 =
      "name,priority,duration,deadline,hint\nL,low,1,3,1\nH,high,1,3,1\nC,critical,1,3,1\nN,normal,1,3,1\n";
  CHECK(schedule_of(s4, Policy::urgency) == "C[0-1] H[1-2] N[2-3] L[3-4]");
}

SCENARIO("Replay: ten jobs wait for one instant and take no time (vector Q)") {
  const char* q =
      "name,priority,submit,duration,deadline,hint\n"
      "blocker,critical,0,1000,,\n"
      "1,critical,990,0,,\n2,high,500,0,,\n3,high,1000,0,,\n4,normal,100,0,,\n5,normal,999,0,1010,8\n"
      "6,low,0,0,,\n7,low,999,0,1003,1\n8,low,900,0,990,30\n9,normal,1000,0,995,1\n10,high,990,0,1100,120\n";
  CHECK(schedule_of(q, Policy::urgency) ==
        "blocker[0-1000] 1[1000-1000] 8[1000-1000] 10[1000-1000] 9[1000-1000] 5[1000-1000] 7[1000-1000] "
        "2[1000-1000] 3[1000-1000] 4[1000-1000] 6[1000-1000]");
}

TEST_CASE("Replay: at one instant slots come back, then jobs arrive, then the dispatcher chooses") {
  CHECK(schedule_of("name,priority,submit,duration\na,low,0,5\nb,low,1,5\nc,high,5,5\n", Policy::strict) ==
        "a[0-5] c[5-10] b[10-15]");
}

TEST_CASE("Replay: a job of duration zero gives its slot to another one at the same instant") {
  CHECK(schedule_of("name,duration\na,0\nb,0\nc,1\n", Policy::fifo) == "a[0-0] b[0-0] c[0-1]");
}

TEST_CASE("Replay: slots are filled as far as they go") {
  CHECK(schedule_of("name,duration,slots\na,4,2\nb,2,1\nc,1,1\n", Policy::fifo, 3) == "a[0-4] b[0-2] c[2-3]");
}

TEST_CASE("Replay: a wide job at the head lets nothing overtake it") {
  const char* text =
      "name,priority,submit,duration,slots\n"
      "a,normal,0,10,2\nwide,normal,1,5,3\nnarrow,normal,2,1,1\nalarm,critical,3,1,1\n";
  CHECK(schedule_of(text, Policy::strict, 3) == "a[0-10] wide[10-15] alarm[15-16] narrow[15-16]");
}

TEST_CASE("Replay: a job that needs more slots than there are is refused, the others go on") {
  CHECK(schedule_of("name,duration,slots\nwide,5,4\na,1,3\n", Policy::fifo, 3) == "a[0-1] wide!");
  CHECK(schedule_of("name,duration,slots\nwide,5,9223372036854775807\n", Policy::fifo, 3) == "wide!");
}

TEST_CASE("Replay: a job that finds the queue full is refused and takes no sequence") {
  Workload workload =
      csv("name,priority,submit,duration\na,low,0,9\nb,low,1,1\nc,low,2,1\nd,critical,3,1\ne,low,9,1\n");
  History history = replayed(workload, Policy::strict, 1, 2);
  CHECK(schedule(workload, history) == "a[0-9] b[9-10] c[10-11] d! e!");
  history = replayed(workload, Policy::strict, 1, 3);
  CHECK(schedule(workload, history) == "a[0-9] d[9-10] b[10-11] c[11-12] e!");
  CHECK(history.fates[3].sequence == 3);
}

TEST_CASE("Replay: the head that waits for slots has a place in the queue") {
  const char* text = "name,submit,duration,slots\na,0,9,1\nwide,1,1,2\nb,2,1,1\nc,3,1,1\n";
  CHECK(schedule_of(text, Policy::fifo, 2, 2) == "a[0-9] wide[9-10] b[10-11] c!");
  CHECK(schedule_of(text, Policy::fifo, 2, 1) == "a[0-9] wide[9-10] b! c!");
}

TEST_CASE("Replay: without capacity every job is refused") {
  CHECK(schedule_of("name,duration\na,1\nb,1\n", Policy::fifo, 1, 0) == "a! b!");
}

TEST_CASE("Replay: nothing to do takes no time") {
  History history = replayed(csv("name,duration\n"), Policy::urgency);
  CHECK(history.decisions.empty());
  CHECK(history.makespan == 0s);
}

TEST_CASE("Replay: the longest times do not overflow") {
  Workload workload =
      csv("name,submit,duration,deadline,hint\n"
          "a,100d,106000d,106751d,106751d\nb,0,1,0,106751d\nc,1,1,106751d,0\n");
  CHECK(replayed(workload, Policy::urgency).makespan == 106100 * 24h);
}

TEST_CASE("Replay: progress is told every 1,024 jobs that are finished with") {
  std::string text = "name,duration\n";
  for (int i = 0; i < 3000; ++i) text += "j,1\n";
  Workload workload = csv(text);
  std::vector<std::size_t> told;
  bide_jobs::ReplayOptions options;
  options.capacity = 2000;
  options.on_progress = [&](std::size_t done) { told.push_back(done); };
  replay(workload, options);
  CHECK(told == std::vector<std::size_t>{1024, 2048});
}

TEST_CASE("Trace: a line a decision says who, why and who was next") {
  CHECK(trace_of(csv(s1), Policy::urgency) ==
        "at=0s job=E start=0s class=critical seq=4 lst=- score=10000.000 slots=1/1 "
        "next=A class=high seq=0 lst=- score=1000.000 rule=score\n"
        "at=1s job=C start=1s class=low seq=2 lst=5s score=1012.000 slots=1/1 "
        "next=A class=high seq=0 lst=- score=1002.000 rule=score\n"
        "at=2s job=A start=2s class=high seq=0 lst=- score=1004.000 slots=1/1 "
        "next=B class=normal seq=1 lst=8s score=104.000 rule=score\n"
        "at=6s job=B start=6s class=normal seq=1 lst=8s score=3112.000 slots=1/1 "
        "next=D class=normal seq=3 lst=- score=112.000 rule=score\n"
        "at=8s job=D start=8s class=normal seq=3 lst=- score=116.000 slots=1/1 next=- rule=alone\n");
}

TEST_CASE("Trace: a head that waits for slots was chosen earlier than it starts") {
  CHECK(trace_of(csv("name,submit,duration,slots\n\"a b\",0,9,1\nwide,1,1,2\n"), Policy::fifo, 2) ==
        "at=0s job=\"a b\" start=0s class=normal seq=0 lst=- score=100.000 slots=1/2 next=- rule=alone\n"
        "at=1s job=wide start=9s class=normal seq=1 lst=- score=100.000 slots=2/1 next=- rule=alone\n");
}

TEST_CASE("Trace: a refused job has its line where it was refused, before the choices of its instant") {
  CHECK(trace_of(csv("name,priority,submit,duration,slots\n"
                     "a,normal,0,2,1\nb,normal,1,1,1\nc,high,1,1,1\nwide,low,2,1,3\nlate,normal,9,1,2\n"),
                 Policy::fifo, 1, 1) ==
        "at=0s job=a start=0s class=normal seq=0 lst=- score=100.000 slots=1/1 next=- rule=alone\n"
        "at=1s job=c refused=queue_full line=4 class=high waiting=1\n"
        "at=2s job=wide refused=too_wide line=5 class=low slots=3/1\n"
        "at=2s job=b start=2s class=normal seq=1 lst=- score=102.000 slots=1/1 next=- rule=alone\n"
        "at=9s job=late refused=too_wide line=6 class=normal slots=2/1\n");
}

TEST_CASE("Replay: a job starts when those that it is after have ended, whatever the order of the lines") {
  const char* text =
      "name,duration,submit,after\nship,1,0,pack; pay:done\npack,2,0,\npay,3,1,\nnote,1,9,ship\n";
  CHECK(schedule_of(text, Policy::fifo, 2) == "pack[0-2] pay[1-4] ship[4-5] note[9-10]");
}

TEST_CASE("Replay: what a refused job leaves behind is skipped, except where failure is what is waited for") {
  const char* text =
      "name,duration,slots,after\nwide,1,2,\nnext,1,1,wide\nlast,1,1,next\nany,1,1,wide:done\nalarm,1,1,wide:"
      "failed\n"
      "end,1,1,last:done\n";
  const Workload workload = csv(text);
  CHECK(schedule(workload, replayed(workload, Policy::fifo)) ==
        "any[0-1] alarm[1-2] end[2-3] wide! next! last!");
  CHECK(trace_of(workload, Policy::fifo).find("job=last refused=skipped line=4 class=normal\n") !=
        std::string::npos);
}

TEST_CASE("Replay: a chain of refused jobs may be as long as the file") {
  constexpr std::size_t length = 100'000;
  std::string text = "name,submit,duration,after,slots\nj0,10,1,,2\n";
  for (std::size_t i = 1; i < length; ++i)
    text += "j" + std::to_string(i) + ",0,1,j" + std::to_string(i - 1) + ":done,2\n";
  const Workload workload = csv(text);
  const History history = replayed(workload, Policy::urgency);
  CHECK(std::all_of(history.fates.begin(), history.fates.end(),
                    [](const bide_jobs::Fate& fate) { return fate.end == bide_jobs::Fate::End::too_wide; }));
}
