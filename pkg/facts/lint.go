package facts

// LintCode names a kind of mistake in a policy for good: findings, the policy
// key lint_ignore and the pages of "mountward explain" use it.
type LintCode string

// The codes. What each means is on its page in package lint.
const (
	LintUnreachable  LintCode = "MW201" // below a rule that decides everything
	LintShadowed     LintCode = "MW202" // earlier rules decide all of its mounts
	LintShadowedPath LintCode = "MW203" // an earlier rule's path holds this one's
	LintGlob         LintCode = "MW204" // a glob that nothing can match
	LintNeverMatches LintCode = "MW205" // a rule, or one of its words, that nothing can match
	LintNoSuchFact   LintCode = "MW206" // a fact that the runtime does not give
	LintRaise        LintCode = "MW207" // a raise to rshared without privileged = true
	LintLowers       LintCode = "MW208" // lowers rshared
	LintTenants      LintCode = "MW209" // an exemption by what tenants choose
	LintHazard       LintCode = "MW210" // the table [hazards] denies what the rule lets be
	LintNoReason     LintCode = "MW211" // a deny without a reason
	LintNoEffect     LintCode = "MW212" // a rule that changes nothing
	LintEveryPod     LintCode = "MW213" // every container is refused
	LintWayAround    LintCode = "MW214" // a deny of a path that a mount beside it gets past
	LintIgnoreUnused LintCode = "MW215" // a lint_ignore that silences nothing
	LintInDoubt      LintCode = "MW216" // a rule that fails its purpose where a fact is not known
	LintPartly       LintCode = "MW217" // a rule above lets be what a deny names
	LintNotCompared  LintCode = "MW218" // rules that were not all compared
	LintSkipped      LintCode = "MW219" // a file of policy.d that is not read for its name
)

// LintCodes returns all codes, in order.
func LintCodes() []LintCode {
	return []LintCode{
		LintUnreachable, LintShadowed, LintShadowedPath, LintGlob, LintNeverMatches, LintNoSuchFact, LintRaise, LintLowers,
		LintTenants, LintHazard, LintNoReason, LintNoEffect, LintEveryPod, LintWayAround, LintIgnoreUnused, LintInDoubt,
		LintPartly, LintNotCompared, LintSkipped,
	}
}
