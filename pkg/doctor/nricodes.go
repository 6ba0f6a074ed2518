package doctor

// The codes of what is found about containerd's configuration, NRI, the kernel
// and the journal. They are stable. "Yes" after a code: it is given where there
// is nothing to mend too, as a statement of how things are.
const (
	// Of containerd's configuration.
	codeConfig           = "containerd-config"            // yes: which files are read; unknown: one that cannot be read
	codeConfigRefused    = "containerd-config-refused"    // containerd would not start with it
	codeConfigOrphan     = "containerd-config-orphan"     // a setting of NRI where it has no effect
	codeConfigLost       = "containerd-config-lost"       // a setting that a later file takes away
	codeConfigOverridden = "containerd-config-overridden" // yes: one that a later file sets too
	codeDropInUnused     = "containerd-dropin-unused"     // a drop-in that no file imports
	codeNRIDisabled      = "nri-disabled"                 // yes: off, and nothing needs it

	// Of NRI's directories and socket.
	codePluginName      = "nri-plugin-name"           // containerd would not start
	codePluginConfig    = "nri-plugin-config"         // containerd would not start
	codePluginLeftover  = "nri-plugin-leftover"       // a copy that is launched too
	codePluginDuplicate = "nri-plugin-duplicate"      // mountward twice
	codePluginDangling  = "nri-plugin-dangling"       // a link to nothing
	codePluginNotRun    = "nri-plugin-not-executable" // mountward is not launched
	codePluginWritable  = "nri-plugin-writable"       // others than root can write what containerd runs as root
	codePlugins         = "nri-plugins"               // yes: what is launched; unknown: what cannot be read
	codeSocket          = "nri-socket"                // yes: it listens; unknown
	codeSocketWritable  = "nri-socket-writable"       // others than root can register a plugin

	// Of mountward as a guard, where it is installed or required.
	codeConnected       = "nri-connected"        // yes, no, unknown: mountward runs and is connected
	codeFailOpen        = "nri-fail-open"        // yes: closed, or open and what closes it
	codeRequiredMissing = "nri-required-missing" // no container can be created
	codeRequiredOff     = "nri-required-off"     // a list that nothing enforces
	codeToleration      = "nri-toleration"       // yes; unknown: pods can opt out
	codePolicyWritable  = "policy-writable"      // others than root can write what mountward decides by
	codeBootstrap       = "nri-bootstrap"        // mountward is required for the container it runs in
	codeTimeout         = "nri-request-timeout"  // yes; no: too short for any plugin

	// Of the kernel.
	codeKernel      = "kernel"            // yes: what this kernel offers; no: too old
	codeMayDetach   = "may-detach-mounts" // pinned mounts cannot be removed
	codeHiddenProcs = "proc-hidepid"      // yes; no and unknown: processes are hidden

	// Of the journal.
	codeJournal           = "journal-socket"     // yes; no: mountward cannot reach it
	codeJournalPersistent = "journal-persistent" // yes
)
