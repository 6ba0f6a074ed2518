// Package device resolves the device number of a superblock through sysfs: to
// its kernel name, the device mapper's name and the LVM logical volume. It runs
// no program, needs no right and asks nothing of the device itself.
package device
