package npd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/cli"
	"github.com/mountward/mountward/pkg/doctor"
)

// monitor is a configuration of node-problem-detector's custom plugin monitor.
// Source: node-problem-detector pkg/custompluginmonitor/types.
type monitor struct {
	Plugin       string `json:"plugin"`
	PluginConfig struct {
		InvokeInterval  string `json:"invoke_interval"`
		Timeout         string `json:"timeout"`
		MaxOutputLength int    `json:"max_output_length"`
		Concurrency     int    `json:"concurrency"`
		MessageChange   bool   `json:"enable_message_change_based_condition_update"`
	} `json:"pluginConfig"`
	Source     string      `json:"source"`
	Metrics    bool        `json:"metricsReporting"`
	Conditions []condition `json:"conditions"`
	Rules      []struct {
		Type      string   `json:"type"`
		Condition string   `json:"condition"`
		Reason    string   `json:"reason"`
		Path      string   `json:"path"`
		Args      []string `json:"args"`
		Timeout   string   `json:"timeout"`
	} `json:"rules"`
}

type condition struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// longest is how long a verb takes at most, on a node that hangs.
const longest = time.Minute

func read(t *testing.T) monitor {
	t.Helper()
	text, err := os.ReadFile("mountward.json")
	if err != nil {
		t.Fatal(err)
	}
	var m monitor
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTheMonitorIsOne: what node-problem-detector refuses at its start.
func TestTheMonitorIsOne(t *testing.T) {
	m := read(t)
	if m.Plugin != "custom" || m.Source == "" || len(m.Rules) == 0 {
		t.Errorf("plugin %q, source %q, %d rules", m.Plugin, m.Source, len(m.Rules))
	}
	if m.PluginConfig.MaxOutputLength != doctor.MaxOneLine {
		t.Errorf("max_output_length %d, a line has %d", m.PluginConfig.MaxOutputLength, doctor.MaxOneLine)
	}
	all := duration(t, m.PluginConfig.Timeout)
	if interval := duration(t, m.PluginConfig.InvokeInterval); interval < all {
		t.Errorf("runs overlap: every %v for %v", interval, all)
	}
	for _, r := range m.Rules {
		if r.Type != "permanent" || !slices.ContainsFunc(m.Conditions, func(c condition) bool { return c.Type == r.Condition }) {
			t.Errorf("rule %q: condition %q has no default", r.Type, r.Condition)
		}
		if timeout := duration(t, r.Timeout); timeout > all || timeout <= longest {
			t.Errorf("timeout %v: want more than doctor takes at most, %v, and no more than %v", timeout, longest, all)
		}
	}
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTheRuleIsACommandLine of ours.
func TestTheRuleIsACommandLine(t *testing.T) {
	for _, r := range read(t).Rules {
		var out, errs bytes.Buffer
		code := cli.Execute(t.Context(), cli.Program{Args: append(slices.Clone(r.Args), "--help"), Stdout: &out, Stderr: &errs})
		if code != cli.ExitYes || !strings.Contains(out.String(), "mountward "+r.Args[0]) {
			t.Errorf("mountward %v: exit %d: %s", r.Args, code, errs.String())
		}
	}
}
