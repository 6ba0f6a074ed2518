package facts

// HazardCode names a kind of dangerous mount list for good: policies, records
// and the pages of "mountward explain" use it.
type HazardCode string

// The codes. What each means is on its page in package hazard.
const (
	HazardInsideShared HazardCode = "MW101" // a mount lands inside an rshared one
	HazardSharedTwice  HazardCode = "MW102" // rshared mounts in each other, or of overlapping sources
	HazardSharedHost   HazardCode = "MW103" // rshared on /, /proc, /sys or over the runtime's state
	HazardRROReceives  HazardCode = "MW104" // rro with propagation
	HazardROSubmounts  HazardCode = "MW105" // ro with writable submounts
	HazardPinForBusy   HazardCode = "MW106" // a raise that trades a pin for EBUSY
	HazardDuplicate    HazardCode = "MW107" // several mounts with one destination
	HazardUnclean      HazardCode = "MW108" // a destination that is relative, empty, starts with "-" or has ".."
	HazardOptionless   HazardCode = "MW109" // a bind without a propagation word beside an rshared one
	HazardSharedUserns HazardCode = "MW110" // rshared in a user namespace
	HazardShadowed     HazardCode = "MW111" // a later mount hides an earlier one
	HazardOwnRootfs    HazardCode = "MW112" // a bind of the container's own root file system or bundle
)

// HazardCodes returns all codes, in order.
func HazardCodes() []HazardCode {
	return []HazardCode{
		HazardInsideShared, HazardSharedTwice, HazardSharedHost, HazardRROReceives, HazardROSubmounts, HazardPinForBusy,
		HazardDuplicate, HazardUnclean, HazardOptionless, HazardSharedUserns, HazardShadowed, HazardOwnRootfs,
	}
}

// HazardStage is what was looked at: the mounts as they were asked for, as the
// policy decided them, or as the kernel has them.
type HazardStage string

// The stages, in the order in which a container comes to them.
const (
	StageAsked   HazardStage = "asked"
	StageDecided HazardStage = "decided"
	StageMounted HazardStage = "mounted"
)

// HazardAction is what a policy does about a hazard.
type HazardAction string

// The actions. Without an entry in the policy a hazard is warned of.
const (
	HazardIgnore HazardAction = "ignore"
	HazardWarn   HazardAction = "warn" // it is recorded
	HazardDeny   HazardAction = "deny" // the container is refused
)

// Hazard is one danger in a list of mounts.
type Hazard struct {
	Code  HazardCode  `json:"code"`
	Stage HazardStage `json:"stage"`
	// Message says what is wrong with the mount at the first destination, and
	// goes on where that ends: "lands inside the rshared mount /run: ...".
	Message string `json:"message"`
	// Destinations are those of the mounts it is about, as they were given.
	Destinations []string `json:"destinations"`
	// Doubt is what the hazard rests on and is not known before the container
	// exists; "" where it is sure.
	Doubt  string       `json:"doubt,omitempty"`
	Action HazardAction `json:"action"`
	// Position is the FILE:LINE that sets the action, "" for the default.
	Position string `json:"position,omitempty"`
}

// String is the hazard for people, in one line unless a destination has several.
func (h Hazard) String() string {
	text := string(h.Code)
	if len(h.Destinations) > 0 {
		text += ": mount " + h.Destinations[0]
	}
	text += " " + h.Message
	if h.Doubt != "" {
		text += ", if " + h.Doubt
	}
	return text
}
