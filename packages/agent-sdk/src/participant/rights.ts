import {
  type Capabilities,
  type Capability,
  compileCapabilities,
  getKindRule,
  Kind,
  namespaceOf,
  PatternError,
  type Subject,
} from '@meup/protocol'

/** What this participant may send, as the last welcome tells it. The gateway has the last word. */
export class Rights {
  #list: readonly Capability[] = []
  #compiled: readonly Capabilities[] | undefined

  /** Whether they are others than before. */
  tell(list: readonly Capability[]): boolean {
    const changed = JSON.stringify(list) !== JSON.stringify(this.#list)
    if (changed) {
      this.#list = list
      this.#compiled = undefined
    }
    return changed
  }

  allow(envelope: Subject): boolean {
    const rule = getKindRule(envelope.kind)
    if (rule?.gateway || namespaceOf(envelope.kind) === namespaceOf(Kind.systemError)) return false
    if (rule?.free) return true
    // One by one: what is configured and what is granted make a longer list together than one may be.
    this.#compiled ??= this.#list.flatMap(compile)
    return this.#compiled.some((each) => each.allows(envelope).allowed)
  }
}

/** What this version cannot read allows nothing here. */
function compile(capability: Capability): Capabilities[] {
  try {
    return [compileCapabilities([capability])]
  } catch (error) {
    if (error instanceof PatternError) return []
    throw error
  }
}
