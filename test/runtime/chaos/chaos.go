//go:build linux

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

//go:embed policy.toml
var policyText string

// required has containerd refuse every container while mountward is away.
const required = `[plugins.'io.containerd.nri.v1.nri'.default_validator]
enable = true
required_plugins = ["mountward"]
`

// options are what differs between runs.
type options struct {
	pods    int    // while something is killed
	starts  int    // while the host changes
	workers int    // at one time
	seed    uint64 // of all that is random but time
	mode    string // of the policy
	open    bool   // containerd does not require the plugin
}

// chaos is one run.
type chaos struct {
	options
	tally
	begun    time.Time
	out      io.Writer
	dir      string // all that is ours
	reports  string // of the containers
	dirs     *harness.HostDirs
	ward     *ward.Ward
	node     *harness.Node
	binary   string
	conf     string // of the service
	settings string // its text
	service  *service
	history  history
	moments  chan string

	progress atomic.Int64 // containers that were started, or refused by the plugin
	stalled  atomic.Int64 // until when a late answer is because we stopped the plugin, in nanoseconds since 1970
}

func (c *chaos) say(format string, args ...any) {
	fmt.Fprintf(c.out, "chaos: %4.0f s: %s\n", time.Since(c.begun).Seconds(), fmt.Sprintf(format, args...))
}

// random is a source of its own for each user, so that what one does depends on
// the seed alone.
func (c *chaos) random(user string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(user)) // it never fails
	return rand.New(rand.NewPCG(c.seed, h.Sum64()))
}

func newChaos(dir string, out io.Writer, o options) *chaos {
	c := &chaos{options: o, begun: time.Now(), out: out, dir: dir, reports: filepath.Join(dir, "reports"), moments: make(chan string)}
	c.counts = make(map[string]int)
	return c
}

// run runs it all in a directory.
// An error says that the run itself failed; faults are counted.
func run(ctx context.Context, dir string, out io.Writer, o options) (*chaos, error) {
	c := newChaos(dir, out, o)
	c.say("seed %d", o.seed)
	err := c.steps(ctx)
	if err != nil && c.node != nil {
		err = fmt.Errorf("%w\nend of containerd's log:\n%s", err, c.node.LogTail())
	}
	return c, errors.Join(err, c.report(), c.close())
}

func (c *chaos) steps(ctx context.Context) error {
	if err := c.setUp(); err != nil {
		return err
	}
	before, err := c.takeInventory()
	if err != nil {
		return err
	}
	first, err := harness.Mountinfo(0)
	if err != nil {
		return err
	}

	c.say("mountward is a service; it and containerd are killed")
	if err := c.beService(); err != nil {
		return err
	}
	if err := c.storm(ctx, "service", c.pods*4/10, servicePlugin()); err != nil {
		return err
	}
	c.endService()

	c.say("containerd launches mountward; both are killed")
	if err := c.beLaunched(); err != nil {
		return err
	}
	if err := c.storm(ctx, "launched", c.pods*2/10, launchedPlugin()); err != nil {
		return err
	}

	c.say("mountward is a service that may change mounts inside containers; all is killed")
	if err := c.mayChangeInside(true); err != nil {
		return err
	}
	if err := c.beService(); err != nil {
		return err
	}
	if err := c.storm(ctx, "namespace", c.pods*2/10, servicePlugin()); err != nil {
		return err
	}
	c.endService()
	if err := c.mayChangeInside(false); err != nil {
		return err
	}

	c.say("mountward is a service; only containerd is killed")
	if err := c.beService(); err != nil {
		return err
	}
	pid := c.service.pid()
	files, err := c.allOpen(pid)
	if err != nil {
		return err
	}
	if err := c.storm(ctx, "runtime", c.pods-c.pods*4/10-2*(c.pods*2/10), runtimeOnly()); err != nil {
		return err
	}
	last, err := harness.Mountinfo(0)
	if err != nil {
		return err
	}
	if err := c.judgeAll(lasting(first, last)); err != nil {
		return err
	}

	c.say("the host changes between creation and start")
	if err := c.awaitConnected(); err != nil {
		return err
	}
	if err := c.hostChanges(ctx); err != nil {
		return err
	}
	return c.aftermath(before, pid, files)
}

// aftermath looks for what is left when all pods are gone.
func (c *chaos) aftermath(before inventory, pid int, files map[string]int) error {
	if err := c.ageEntries(); err != nil {
		return err
	}
	if err := c.node.Restart(); err != nil {
		return err
	}
	if err := c.awaitConnected(); err != nil {
		return err
	}
	if err := errors.Join(c.judgeEntries(), c.judgeInventory(before)); err != nil {
		return err
	}
	if c.service.pid() != pid {
		c.fault("crashes", "", "the plugin that was not killed is another process now")
	} else if err := c.judgeFiles(pid, files); err != nil {
		return err
	}
	if err := c.judgeGoroutines(); err != nil {
		return err
	}
	c.endService()
	records, torn, err := c.records()
	if err != nil {
		return err
	}
	for _, line := range torn {
		c.fault("torn_records", "", line)
	}
	return c.judgeRecords(records)
}

// storm has workers run pods while a killer is about. In the end the plugin is
// connected and all pods are gone.
func (c *chaos) storm(ctx context.Context, name string, pods int, ways []way) error {
	namespace := name == "namespace"
	killing, stop := context.WithCancel(ctx)
	defer stop()
	k := &killer{chaos: c, rng: c.random(name + " killer"), ways: ways, pause: time.Second}
	killed := make(chan error, 1)
	go func() { killed <- k.run(killing) }()
	var workers sync.WaitGroup
	var next atomic.Int64
	for range c.workers {
		workers.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(pods) || ctx.Err() != nil {
					return
				}
				w := &worker{chaos: c, rng: c.random(fmt.Sprintf("%s pod %d", name, i)), namespace: namespace}
				w.pod(ctx)
			}
		})
	}
	workers.Wait()
	stop()
	if err := <-killed; err != nil {
		return err
	}
	// What a lost answer left.
	return c.node.RemovePods(ctx)
}

func (c *chaos) setUp() error {
	for _, dir := range []string{c.reports, filepath.Join(c.dir, "host")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
	}
	var err error
	if c.dirs, err = harness.NewHostDirs(filepath.Join(c.dir, "host")); err != nil {
		return err
	}
	cfg := harness.Config{TOML: required}
	if c.open {
		cfg.TOML = ""
	}
	policy := strings.Replace(policyText, `"enforce"`, fmt.Sprintf("%q", c.mode), 1)
	settings := fmt.Sprintf("host.kubelet_root = %q", c.dirs.Shared.Path)
	if c.ward, cfg, err = ward.New(c.dir, ward.Options{Policy: policy, Settings: settings, Config: cfg}); err != nil {
		return err
	}
	c.settings = cfg.PluginConf["90-mountward.conf"]
	c.binary, c.conf = cfg.Plugins["90-mountward"], filepath.Join(c.dir, "mountward.toml")
	if err := c.mayChangeInside(false); err != nil {
		return err
	}
	cfg.Plugins = nil // not yet
	c.node, err = harness.Start(cfg)
	c.ward.Node = c.node
	return err
}

// mayChangeInside writes the settings of the service.
func (c *chaos) mayChangeInside(yes bool) error {
	text := fmt.Sprintf("%s\napply.namespace = %t\n", c.settings, yes)
	if err := os.WriteFile(c.conf, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// link is how containerd finds the plugin that it launches.
func (c *chaos) link() string { return filepath.Join(c.node.PluginDir, "90-mountward") }

// beService runs mountward as a service, and waits until it is connected.
func (c *chaos) beService() error {
	if err := os.Remove(c.link()); err == nil {
		if err := c.node.Restart(); err != nil {
			return err
		}
	}
	mark := c.mark()
	c.service = startService(filepath.Join(c.dir, "mountward.out"), c.binary, "run", "--config", c.conf, "--socket", c.node.NRISocket)
	return c.awaitSynchronized(mark)
}

func (c *chaos) endService() {
	ended, crashes := c.service.end()
	for _, why := range ended {
		c.history.note("", "%s", why)
		c.say("%s", why)
	}
	for range crashes {
		c.fault("crashes", "", "see the end of "+c.service.output)
	}
	c.service = nil
}

// beLaunched has containerd launch mountward, and waits until it is connected.
func (c *chaos) beLaunched() error {
	if err := os.Symlink(c.binary, c.link()); err != nil {
		return fmt.Errorf("install plugin: %w", err)
	}
	mark := c.mark()
	if err := c.node.Restart(); err != nil {
		return err
	}
	return c.awaitSynchronized(mark)
}

// close ends what still runs and removes it.
func (c *chaos) close() error {
	var errs []error
	if c.service != nil {
		c.endService()
	}
	if c.node != nil {
		errs = append(errs, c.node.Stop())
	}
	if c.dirs != nil {
		errs = append(errs, c.dirs.Close())
	}
	return errors.Join(errs...)
}
