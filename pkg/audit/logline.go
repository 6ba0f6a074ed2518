package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
)

// eventKey is the key of an entry's data that carries the record of an event.
const eventKey = "event"

// logSchema is the schema of a log line in a file.
const logSchema = "mountward.log/v1"

// logLine is the JSON of a line that is no event.
type logLine struct {
	Level  string            `json:"level"`
	Text   string            `json:"text"` // without error and fields
	Error  string            `json:"error,omitempty"`
	Fields map[string]string `json:"fields,omitempty"`
}

// lineRecord renders an ordinary log line: its message ends with the error and
// the other fields of the entry, so that it reads alone.
func lineRecord(entry *logrus.Entry) record {
	line := logLine{Level: entry.Level.String(), Text: entry.Message, Fields: map[string]string{}}
	message := entry.Message
	if err, ok := entry.Data[logrus.ErrorKey]; ok {
		line.Error = fmt.Sprint(err)
		message += ": " + line.Error
	}
	var own fields
	var details []string
	for _, key := range slices.Sorted(maps.Keys(entry.Data)) {
		if key == logrus.ErrorKey {
			own.add("MOUNTWARD_ERROR", line.Error)
			continue
		}
		value := fmt.Sprint(entry.Data[key])
		line.Fields[key] = value
		details = append(details, word(key)+"="+word(value))
		own.add(logField(key), fieldValue(key, value))
	}
	if len(details) > 0 {
		message += " (" + strings.Join(details, ", ") + ")"
	}

	r := record{time: entry.Time, priority: priorityOf(entry.Level), message: oneLine(message)}
	// A logLine has only text: it cannot fail.
	r.line, _ = new(layouts).join(header{logSchema, entry.Time.UTC(), r.priority, r.message}, line)
	var f fields
	f.add("MESSAGE", r.message)
	f.add("PRIORITY", r.priority.digit())
	f.add("SYSLOG_IDENTIFIER", Identifier)
	f = append(f, own[:min(len(own), maxRepeats)]...)
	r.fields = f
	return r
}

// logField returns the journal field of an entry's key. The names are these
// and no others: a key may come from a map that a tenant filled.
func logField(key string) string {
	switch key {
	case "container":
		return "MOUNTWARD_CONTAINER"
	case "container_id":
		return "CONTAINER_ID_FULL"
	case "namespace":
		return "MOUNTWARD_NAMESPACE"
	case "pod":
		return "MOUNTWARD_POD"
	case "pod_uid":
		return "MOUNTWARD_POD_UID"
	case "policy":
		return "MOUNTWARD_POLICY"
	case "mount":
		return "MOUNTWARD_MOUNT"
	case "lost":
		return "MOUNTWARD_LOST"
	default:
		return "MOUNTWARD_DETAIL"
	}
}

func fieldValue(key, value string) string {
	if logField(key) == "MOUNTWARD_DETAIL" {
		return key + "=" + value
	}
	return value
}

func priorityOf(level logrus.Level) priority {
	switch level {
	case logrus.PanicLevel, logrus.FatalLevel:
		return prioCritical
	case logrus.ErrorLevel:
		return prioError
	case logrus.WarnLevel:
		return prioWarning
	case logrus.InfoLevel:
		return prioInfo
	default:
		return prioDebug
	}
}
