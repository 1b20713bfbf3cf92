// Go's goroutines under the case names and the options of Google Benchmark, in one OS thread (GOMAXPROCS=1).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

// A case does its work once, and returns how many operations that was. Cases that tell a figure of their own, not a
// time, return it as bytes.
type work func() (operations int, bytes float64)

type benchmark struct {
	name string
	run  work
}

type result struct {
	Name        string  `json:"name"`
	RunType     string  `json:"run_type"`
	CPUTime     float64 `json:"cpu_time"`
	TimeUnit    string  `json:"time_unit"`
	Bytes       float64 `json:"bytes"`
	Allocations float64 `json:"allocations"`
}

// cpu is the CPU time of the process, and so of the collector, too.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func allocations() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Mallocs
}

func measure(one benchmark, least time.Duration) result {
	operations, bytes := 0, 0.0
	mallocs := allocations()
	begun := cpu()
	for ok := true; ok; ok = cpu()-begun < least {
		some, held := one.run()
		operations += some
		bytes = held
	}
	used := cpu() - begun
	return result{one.name, "iteration", float64(used.Nanoseconds()) / float64(operations), "ns", bytes,
		float64(allocations()-mallocs) / float64(operations)}
}

func main() {
	list := flag.Bool("benchmark_list_tests", false, "")
	filter := flag.String("benchmark_filter", ".", "")
	seconds := flag.Float64("benchmark_min_time", 0.1, "")
	repetitions := flag.Int("benchmark_repetitions", 1, "")
	flag.String("benchmark_format", "json", "")
	flag.Parse()
	wanted := regexp.MustCompile(*filter)
	results := []result{}
	for _, one := range all() {
		if !wanted.MatchString(one.name) {
			continue
		}
		if *list {
			fmt.Println(one.name)
			continue
		}
		for i := 0; i < *repetitions; i++ {
			results = append(results, measure(one, time.Duration(*seconds*float64(time.Second))))
		}
	}
	if !*list {
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"benchmarks": results})
	}
}
