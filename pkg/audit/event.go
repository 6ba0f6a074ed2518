package audit

import (
	"fmt"

	"github.com/sirupsen/logrus"

	"github.com/mountward/mountward/pkg/facts"
)

// Event is something the trail records: [PolicyLoaded], [PolicyRejected],
// [Decision], [Hazard], [Drift], [Task], [Leftover], [Crash], [Emergency],
// [Missed], [FirstStart], [Host] or [Connection].
type Event interface {
	describe() description
}

// description is an event as its readers get it, beside the whole of it.
type description struct {
	kind     kind
	priority priority
	message  string
	fields   fields
}

// priority is a syslog level.
type priority int

const (
	prioCritical priority = 2
	prioError    priority = 3
	prioWarning  priority = 4
	prioNotice   priority = 5
	prioInfo     priority = 6
	prioDebug    priority = 7
)

// level returns the nearest level of logrus, which knows no notice.
func (p priority) level() logrus.Level {
	switch p {
	case prioCritical, prioError: // logrus' own levels above end the process
		return logrus.ErrorLevel
	case prioWarning:
		return logrus.WarnLevel
	default:
		return logrus.InfoLevel
	}
}

// Policy names the policy something was decided by.
type Policy struct {
	Name   string `json:"name"`             // file, or "built-in"
	SHA256 string `json:"sha256,omitempty"` // of its text, in hex
	Mode   string `json:"mode,omitempty"`   // "enforce" or "audit"
}

// Container is the container an event is about. Its mounts are not here: each
// event has its own list.
type Container struct {
	ID            string       `json:"id"`
	Name          string       `json:"name,omitempty"`
	Image         string       `json:"image,omitempty"`
	Pod           facts.Pod    `json:"pod"`
	Privileged    facts.Answer `json:"privileged"`
	UserNamespace bool         `json:"user_namespace,omitempty"`
	Role          string       `json:"role,omitempty"`
}

// ContainerOf returns what events say of c.
func ContainerOf(c facts.Container) Container {
	return Container{
		ID: c.ID, Name: c.Name, Image: c.Image, Pod: c.Pod,
		Privileged: c.Privileged, UserNamespace: c.UserNamespace, Role: c.Role,
	}
}

// String names the container for people: "container app of pod prod/web-0".
func (c Container) String() string {
	name := c.Name
	if name == "" {
		name = short(c.ID)
	}
	if c.Pod.Name == "" {
		return "container " + word(name)
	}
	return fmt.Sprintf("container %s of pod %s/%s", word(name), word(c.Pod.Namespace), word(c.Pod.Name))
}

// short cuts an id to the twelve characters that crictl prints.
func short(id string) string { return id[:min(len(id), 12)] }
