//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// figure prints one figure, and after it, where it is not empty, the budget.
func figure(name string, value float64, unit, budget string) {
	line := fmt.Sprintf("FIGURE %s %.4g %s", name, value, unit)
	if budget != "" {
		line += " (budget: " + budget + ")"
	}
	fmt.Println(line)
}

// sample is how long one thing took each time.
type sample []time.Duration

// timed returns how long f takes.
func timed(f func() error) (time.Duration, error) {
	begun := time.Now()
	err := f()
	return time.Since(begun), err
}

// quantile returns the q-th part of the sample in microseconds: 0.5 is the
// median.
func (s sample) quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]) / float64(time.Microsecond)
}

func (s sample) median() float64 { return s.quantile(0.5) }

// figures prints median and p99, and returns the median.
func (s sample) figures(name, p99Budget string) float64 {
	figure(name+".p50", s.median(), "us", "")
	figure(name+".p99", s.quantile(0.99), "us", p99Budget)
	return s.median()
}
