package policytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

const columns = "source,project,workload,container,hostPath,mountPath,mountPropagation,readOnly,privileged\n"

func effects(t *testing.T, policy, table string) []Effect {
	t.Helper()
	read, err := ParseTable("t.csv", strings.NewReader(table), DefaultHost())
	if err != nil {
		t.Fatal(err)
	}
	return read.Effects(parsed(t, policy), daemon)
}

func TestAWorkloadBreaksWhereItIsRefusedOrLoses(t *testing.T) {
	const rules = `
version = 1
mode = "audit"
default = "allow"
[[rule]]
name = "private"
match.source = ["/low/**"]
action = "set"
propagation = "rprivate"
[[rule]]
name = "shared"
match.source = ["/up"]
action = "set"
propagation = "rshared"
[[rule]]
name = "no"
match.source = ["/no"]
action = "deny"
`
	got := effects(t, rules, columns+
		"s,P,w,stays,/x,/x,Bidirectional,rw,yes\n"+
		"s,P,w,mounts,/x,/x,,rw,yes\n"+
		"s,P,w,mounts,/low/a,/a,Bidirectional,rw,yes\n"+
		"s,P,w,sees,/low/b,/b,HostToContainer,ro,no\n"+
		"s,P,w,same,/low/b,/b,None,ro,no\n"+
		"s,P,w,init:more,/up,/up,,rw,yes\n"+
		"s,P,w,refused,/no,/no,,rw,yes\n"+
		"s,P,w,refused,/low/a,/a,Bidirectional,rw,yes\n")
	change := func(source, destination string, asked, decided facts.Propagation, kind Kind, rule, position string) Change {
		return Change{source, destination, asked, decided, kind, rule, position, ""}
	}
	lowered := change("/low/a", "/a", facts.Shared, facts.Private, Lowered, "private", "p.toml:5")
	want := []Effect{
		{"P / w / mounts", false, []Change{lowered}, "what it mounts in /a does not reach the host any more"},
		{"P / w / sees", false, []Change{change("/low/b", "/b", facts.Slave, facts.Private, Lowered, "private", "p.toml:5")}, "it does not see what is mounted later in /b"},
		{"P / w / init:more", false, []Change{change("/up", "/up", facts.Private, facts.Shared, Raised, "shared", "p.toml:10")}, ""},
		{"P / w / refused", true, []Change{change("/no", "/no", facts.Private, facts.Private, Refused, "no", "p.toml:15"), lowered}, "it is refused"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestRolesOfATableAreComputedFromTheWholeContainer(t *testing.T) {
	const rules = "version = 1\nmode = \"audit\"\ndefault = \"deny\"\n[[rule]]\nname = \"a\"\nmatch.role = [\"csi-node\"]\naction = \"allow\"\n"
	got := effects(t, rules, columns+
		"s,P,w,driver,/var/lib/kubelet,/k,Bidirectional,rw,yes\n"+
		"s,P,w,other,/var/lib/kubelet,/k,Bidirectional,rw,yes\n"+
		"s,P,w,driver,/var/lib/kubelet/plugins/x,/x,,rw,yes\n")
	if len(got) != 1 || got[0].Workload != "P / w / other" {
		t.Errorf("got %+v, want the other alone to be refused", got)
	}
}

func TestATableThatIsNotUnderstoodIsAnError(t *testing.T) {
	for _, test := range []struct{ table, want string }{
		{"", `t.csv:1:1: column "source" is missing`},
		{columns, "t.csv:1:1: the table has no workload"},
		{"project,workload\n", `t.csv:1:1: column "source" is missing`},
		{strings.Replace(columns, "privileged", "privleged", 1), `t.csv:1:1: unknown column "privleged"`},
		{"source," + columns, `t.csv:1:1: column "source" is there twice`},
		{columns + "s,P,w,c,/x,/x,,rw\n", "t.csv:2:1: the line has more or fewer cells than the first one"},
		{columns + "s,P,w,c,/x,/x,,rw,yes\ns,P,w,c,x,/x,,rw,yes\n", `t.csv:3:9: hostPath "x" is no absolute path`},
		{columns + "s,P,w,c,/x,/x,rshared,rw,yes\n", `t.csv:2:15: mountPropagation "rshared" is none of None`},
		{columns + "s,P,w,c,/x,/x,,true,yes\n", `t.csv:2:16: readOnly "true" is neither`},
		{columns + "s,P,w,c,/x,/x,,rw,true\n", `t.csv:2:19: privileged "true" is neither`},
		{columns + "s,P,w,c,/x,/x,Bidirectional,rw,no\n", `t.csv:2:15: the API server takes Bidirectional of privileged containers only`},
		{columns + "s,P,w,c,/x,\"/x,,rw,yes\n", "t.csv:2:24: extraneous or missing"},
	} {
		_, err := ParseTable("t.csv", strings.NewReader(test.table), DefaultHost())
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.table, err, test.want)
		}
	}
}

// TestATableFromExcelIsRead: it writes a byte order mark first, and semicolons where
// people write a comma into their numbers.
func TestATableFromExcelIsRead(t *testing.T) {
	const line = "s,P,w,c,/x,/x,,rw,yes\r\n"
	for _, text := range []string{
		"\ufeff" + columns + line, "\ufeff\"source\"" + strings.TrimPrefix(columns, "source") + line,
		"\ufeff" + strings.ReplaceAll(columns+line, ",", ";"), strings.ReplaceAll(columns, ",", ";") + "s;\"P;, p\";w, x;c;/x;/x;;rw;yes\n",
	} {
		table, err := ParseTable("t.csv", strings.NewReader(text), DefaultHost())
		if err != nil || table.Containers() != 1 {
			t.Errorf("%v", err)
		}
	}
}

func TestATableMayHaveNamespaces(t *testing.T) {
	const rules = "version = 1\nmode = \"audit\"\ndefault = \"deny\"\n[[rule]]\nname = \"a\"\nmatch.namespace = [\"kube-*\"]\naction = \"allow\"\n"
	got := effects(t, rules, "namespace,"+columns+"kube-system,s,P,w,c,/x,/x,,rw,yes\nprod,s,P,w,c,/x,/x,,rw,yes\n")
	if len(got) != 1 || !got[0].Refused {
		t.Errorf("got %+v, want the one of prod to be refused", got)
	}
}

func TestWhatBreaksMustBeNamedAndWhatIsNamedMustBreak(t *testing.T) {
	effect := func(name, breaks string) Effect { return Effect{Workload: name, Breaks: breaks} }
	w := Workloads{Breaks: []Named{{"Cilium / *", "x:1"}, {"A (b) [c] / w / init:x", "x:2"}, {"* / mount-*", "x:3"}, {"B / w / c", "x:4"}, {"*", "x:5"}}}
	all := []Effect{
		effect("Cilium / cilium / agent", "y"), effect("A (b) [c] / w / init:x", "y"), effect("P / mount-1 / c", "y"), effect("B / w / c", ""),
	}
	broken, idle := w.Unnamed(all)
	if diff := cmp.Diff([]Named{{"B / w / c", "x:4"}}, idle); diff != "" || broken != nil {
		t.Errorf("broken %v, idle -want +got\n%s", broken, diff)
	}
	w.Breaks = w.Breaks[:2]
	broken, _ = w.Unnamed(all)
	if len(broken) != 1 || broken[0].Workload != "P / mount-1 / c" {
		t.Errorf("broken %v", broken)
	}
	for _, test := range []struct {
		glob, name string
		want       bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*b", "ab", true}, {"a*b*c", "abc", true}, {"a*b*c", "acb", false}, {"ab*ba", "aba", false}, {"a*a", "a", false}, {"**", "", true},
	} {
		if got := (Named{Glob: test.glob}).is(test.name); got != test.want {
			t.Errorf("%q is %q: %v", test.glob, test.name, got)
		}
	}
}
