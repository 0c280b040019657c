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

  /** Providers number calls as they please: another id under the same number is another call. */
  add(key: string | number, { id, name, json, value }: CallPart): void {
    const known = this.#byKey.get(key)
    const isOther = known !== undefined && known.id !== '' && isFilled(id) && id !== known.id
    const draft = known === undefined || isOther ? this.#begin(key) : known
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
