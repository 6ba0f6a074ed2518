package runtimeconf

import (
	"fmt"
	"time"
)

// The functions below read a setting as containerd's decoder does. A value of
// another type is a reason for containerd not to start, and not set here.

func text(l *loader, s *setting, key string) (string, bool) {
	return typed[string](l, s, key, "a string")
}

func boolean(l *loader, s *setting, key string) (bool, bool) {
	return typed[bool](l, s, key, "true or false")
}

func integer(l *loader, s *setting, key string) (int, bool) {
	n, ok := typed[int64](l, s, key, "an integer")
	return int(n), ok
}

func list(l *loader, s *setting, key string) ([]string, bool) {
	items, ok := typed[[]any](l, s, key, "a list of strings")
	all := make([]string, 0, len(items))
	for _, item := range items {
		one, isText := item.(string)
		if !isText {
			l.wrong(s, key, "a list of strings")
			return nil, false
		}
		all = append(all, one)
	}
	return all, ok
}

// duration reads "2s". A bare integer is one of nanoseconds (measured).
func duration(l *loader, s *setting, key string) (time.Duration, bool) {
	if s == nil {
		return 0, false
	}
	switch v := s.value.(type) {
	case int64:
		return time.Duration(v), true
	case string:
		d, err := time.ParseDuration(v)
		if err != nil {
			l.refuse(s.at, fmt.Sprintf("%s: %v", key, err))
		}
		return d, err == nil
	default:
		l.wrong(s, key, `a duration such as "2s"`)
		return 0, false
	}
}

func typed[T any](l *loader, s *setting, key, want string) (value T, ok bool) {
	if s == nil {
		return value, false
	}
	if value, ok = s.value.(T); !ok {
		l.wrong(s, key, want)
	}
	return value, ok
}

func (l *loader) wrong(s *setting, key, want string) {
	l.refuse(s.at, fmt.Sprintf("%s: want %s", key, want))
}
