// Package volumes joins a container's mounts, the host view and the devices
// into the map of a task: the way from its rootfs and every mount down to the
// device and the logical volume. Identity is the superblock's device and the
// root inside it, never a source string.
package volumes
