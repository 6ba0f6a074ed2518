//go:build linux

package main

import (
	"errors"
	"fmt"
)

// doctorOn measures doctor on the node as it is, beside one findmnt of its whole
// table.
func doctorOn(mounts int) error {
	var report struct {
		Places     []struct{ Mounts int }
		Containers int
	}
	doctor, err := verb(&report, "doctor")
	if err != nil {
		return err
	}
	if len(report.Places) == 0 || report.Places[0].Mounts < mounts {
		return fmt.Errorf("doctor saw %+v, want a table of %d mounts", report.Places, mounts)
	}
	find, err := measure("findmnt", "-rno", "TARGET,SOURCE,MAJ:MIN,PROPAGATION")
	if err != nil {
		return err
	}
	if len(find.stdout) == 0 {
		return errors.New("findmnt printed nothing")
	}
	name := fmt.Sprintf("doctor.mounts=%d", mounts)
	figure(name, us(doctor.median)/1000, "ms")
	figure(name+".findmnt", us(find.median)/1000, "ms")
	figure(name+".over-one-findmnt", ratio(doctor.median, find.median), "x")
	figure(name+".peak-rss", doctor.most, "MiB")
	figure(name+".findmnt.peak-rss", find.most, "MiB")
	return nil
}
