package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCrashReadsAlone(t *testing.T) {
	t.Parallel()
	const boom = "runtime error: index out of range [3] with length 2"
	tests := map[string]struct {
		event    Crash
		want     string
		priority priority
	}{
		"refused": {
			Crash{Container: testContainer(), Policy: testPolicy(), Handler: "create", Panic: boom, Refused: true},
			`mountward panicked in create and refused container app of pod prod/web-0: "runtime error: index out of range [3] with length 2"`,
			prioError,
		},
		"not refused": {
			Crash{Container: testContainer(), Policy: testPolicy(), Handler: "start", Panic: boom},
			`mountward panicked in start and changed nothing in container app of pod prod/web-0: "runtime error: index out of range [3] with length 2"`,
			prioError,
		},
		"about no container": {
			Crash{Handler: "synchronize", Panic: boom},
			`mountward panicked in synchronize: "runtime error: index out of range [3] with length 2"`,
			prioError,
		},
		"the end of the daemon": {
			Crash{Panic: "fatal error: concurrent map writes", Fatal: true, At: noon()},
			`mountward crashed before this start: "fatal error: concurrent map writes"`,
			prioCritical,
		},
		"text from outside in the panic": {
			Crash{Handler: "create", Panic: "/x\"; \nPRIORITY=7\n\xff"},
			`mountward panicked in create: "/x\"; \nPRIORITY=7\n\xff"`,
			prioError,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := new(layouts).newRecord(test.event, noon())
			if diff := cmp.Diff(test.want, got.message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if got.priority != test.priority {
				t.Errorf("priority %s, want %s", got.priority, test.priority)
			}
		})
	}
}

func TestCrashKeepsTheWholeOfAnOrdinaryOne(t *testing.T) {
	t.Parallel()
	want := Crash{
		Container: testContainer(), Policy: testPolicy(), Handler: "create",
		Panic: "boom\nMESSAGE_ID=x", Stack: "goroutine 1 [running]:\nmain.main()\n", Refused: true, At: noon(),
	}
	r := new(layouts).newRecord(want, noon())
	for name, value := range map[string]string{
		"MESSAGE_ID": IDCrash, "MOUNTWARD_EVENT": "crash", "MOUNTWARD_HANDLER": "create",
		"MOUNTWARD_ERROR": want.Panic, "MOUNTWARD_STACK": want.Stack, "CONTAINER_ID_FULL": containerID,
	} {
		if diff := cmp.Diff([]string{value}, values(r.fields, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var got Crash
	if err := json.Unmarshal(r.line, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestCrashOfAnySizeIsBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("ü\xff\n", 1<<20)
	copied, _ := Crash{Panic: huge, Stack: huge}.copied()
	r := new(layouts).newRecord(copied, noon())
	if size := r.size(); size > 6*(maxPanic+maxStack) {
		t.Errorf("the record has %d bytes", size)
	}
	if stack := values(r.fields, "MOUNTWARD_STACK")[0]; len(stack) > maxStack || !strings.HasSuffix(stack, " ...") {
		t.Errorf("the stack has %d bytes and ends in %q", len(stack), stack[len(stack)-8:])
	}
	for limit := 8; limit < 16; limit++ {
		if text := cut(strings.Repeat("\U0001f600", 9), limit); !utf8.ValidString(text) || len(text) > limit {
			t.Errorf("cut to %d: %q", limit, text)
		}
	}
}
