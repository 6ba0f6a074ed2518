// Package device resolves the device number of a superblock through sysfs: to
// the LVM logical volume it is on, and the whole chain of devices below it,
// partition, loop, device mapper, md and bcache, down to the disks. It runs no
// program and asks nothing of the device itself. A loop device alone has to be
// asked for its file by an ioctl, which is given as a function.
//
// The number to start from is the superblock's, as statmount(2) or mountinfo
// tells it; st_dev is another number on btrfs and overlay.
package device
