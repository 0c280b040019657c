import type { ToolCall } from './extraction.js'
import { isFilled } from './json.js'

export interface CallPart {
  readonly id?: string | undefined
  readonly name?: string | undefined
  /** The next piece of the arguments' JSON. */
  readonly json?: string | undefined
  /** The arguments, where they come in one piece. */
  readonly value?: unknown
}

interface Draft {
  id: string
  name: string
  json: string
  value: unknown
  isClosed: boolean
}

/** Puts the tool calls of a response together from their parts. */
export class ToolCalls {
  readonly #drafts: Draft[] = []
  /** The last call of each number. */
  readonly #byKey = new Map<string | number, Draft>()

  get size(): number {
    return this.#drafts.length
  }

  /** Calls that nobody could make, for want of a name, are left out. */
  get all(): ToolCall[] {
    return this.#drafts.filter(isNamed).map(asCall)
  }

  /** Providers number calls as they please: the same number may stand for another call. */
  add(key: string | number, part: CallPart): void {
    const known = this.#byKey.get(key)
    const draft = known === undefined || isOther(known, part) ? this.#begin(key) : known
    const { id, name, json, value } = part
    draft.id ||= id ?? ''
    draft.name ||= name ?? ''
    draft.json += json ?? ''
    draft.value ??= value
  }

  /** Nothing more comes for this call, or for any; gives those that are complete by this. */
  close(key?: string | number): ToolCall[] {
    const drafts = key === undefined ? this.#drafts : [this.#byKey.get(key)]
    const closed = drafts.filter((draft) => draft !== undefined).filter(({ isClosed }) => !isClosed)
    for (const draft of closed) draft.isClosed = true
    return closed.filter(isNamed).map(asCall)
  }

  #begin(key: string | number): Draft {
    const draft = { id: '', name: '', json: '', value: undefined, isClosed: false }
    this.#drafts.push(draft)
    this.#byKey.set(key, draft)
    return draft
  }
}

/**
 * A call begins with its name. Some servers make up an id for each part, and some repeat the name in each; where there are
 * no ids at all, a call is over when its arguments are.
 */
function isOther(known: Draft, { id, name }: CallPart): boolean {
  if (!isFilled(name)) return false
  if (isFilled(id)) return known.id !== '' && id !== known.id
  return known.id === '' && known.name !== '' && isJson(known.json)
}

const isJson = (json: string): boolean => json !== '' && typeof parsed(json) !== 'string'

const isNamed = ({ name }: Draft): boolean => name !== ''

const asCall = ({ id, name, json, value }: Draft): ToolCall => ({
  id,
  name,
  arguments: value === undefined ? parsed(json) : value,
})

function parsed(json: string): unknown {
  if (json.trim() === '') return {}
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
