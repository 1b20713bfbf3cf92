package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const rounds = 10_000

func all() []benchmark {
	cases := []benchmark{
		{"B_submit_detached", submitDetached},
		{"B_submit_join", submitJoin},
		{"D_real_sleep_1e6", realSleep},
		{"E_event_hand_off", handOff},
		{"E_channel_0", func() (int, float64) { return throughChannel(0) }},
		{"E_channel_1024", func() (int, float64) { return throughChannel(1024) }},
		{"I_bytes_per_sleeping_thread", bytesPerSleeper},
	}
	for size := 1; size <= 1_000_000; size *= 10 {
		threads := size
		cases = append(cases, benchmark{fmt.Sprintf("A_yield/%d", threads), func() (int, float64) { return yield(threads) }})
	}
	for size := 10; size <= 1_000_000; size *= 10 {
		others := size
		cases = append(cases, benchmark{fmt.Sprintf("D_arm_cancel/%d", others), func() (int, float64) { return armCancel(others) }})
	}
	return cases
}

func yield(threads int) (int, float64) {
	each := 1_000_000 / threads
	if each < 20 {
		each = 20
	}
	var group sync.WaitGroup
	group.Add(threads)
	for i := 0; i < threads; i++ {
		go func() {
			for left := each; left > 0; left-- {
				runtime.Gosched()
			}
			group.Done()
		}()
	}
	group.Wait()
	return threads * each, 0
}

func submitDetached() (int, float64) {
	left := 1000 // one OS thread: no two touch it at once
	for i := 0; i < 1000; i++ {
		go func() { left-- }()
	}
	for left > 0 {
		runtime.Gosched()
	}
	return 1000, 0
}

func submitJoin() (int, float64) {
	for i := 0; i < 1000; i++ {
		result := make(chan int, 1)
		go func() { result <- 1 }()
		<-result
	}
	return 1000, 0
}

// As splitmix64, so that the sleeps are everyone's.
func randomBelow(state *uint64, bound uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return (z ^ (z >> 31)) % bound
}

func realSleep() (int, float64) {
	const threads = 1_000_000
	state := uint64(1)
	var group sync.WaitGroup
	group.Add(threads)
	for i := 0; i < threads; i++ {
		duration := time.Duration(1 + randomBelow(&state, uint64(200*time.Millisecond)))
		go func() {
			time.Sleep(duration)
			group.Done()
		}()
	}
	group.Wait()
	return threads, 0
}

var waiting []*time.Timer

func armCancel(others int) (int, float64) {
	for len(waiting) < others {
		waiting = append(waiting, time.NewTimer(time.Hour+time.Duration(len(waiting))*time.Microsecond))
	}
	timer := time.NewTimer(time.Hour)
	for i := 0; i < 1_000_000; i++ {
		timer.Reset(time.Hour + time.Duration(i))
		timer.Stop()
	}
	return 1_000_000, 0
}

func handOff() (int, float64) {
	ping, pong, done := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	play := func(mine, other chan struct{}) {
		for i := 0; i < rounds; i++ {
			<-mine
			other <- struct{}{}
		}
		done <- struct{}{}
	}
	go play(ping, pong)
	go play(pong, ping)
	ping <- struct{}{}
	<-done
	<-done
	return 2 * rounds, 0
}

func throughChannel(capacity int) (int, float64) {
	channel, done := make(chan int64, capacity), make(chan int64)
	go func() {
		sum := int64(0)
		for item := range channel {
			sum += item
		}
		done <- sum
	}()
	go func() {
		for i := int64(0); i < rounds; i++ {
			channel <- i
		}
		close(channel)
	}()
	<-done
	return rounds, 0
}

func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		panic(err)
	}
	return float64(pages * os.Getpagesize())
}

func bytesPerSleeper() (int, float64) {
	const threads = 1_000_000
	before := residentBytes()
	for i := 0; i < threads; i++ {
		go time.Sleep(time.Hour)
	}
	for i := 0; i < 3; i++ {
		runtime.Gosched()
	}
	return threads, (residentBytes() - before) / threads
}
