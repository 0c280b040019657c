import type { HttpTarget } from '@meup/agent-sdk/http'
import { type BaseClient, freshId } from '@meup/agent-sdk/watch'
import { type Cut, isCutting, type Level, nothingCut } from '../model/index.js'

/** Key-value storage in the browser; in memory if the browser forbids storage, as some private windows do. */
interface Kept extends Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  entries(): readonly (readonly [key: string, value: string])[]
}

function open(name: 'localStorage' | 'sessionStorage'): Kept {
  try {
    const storage = globalThis[name]
    storage.getItem('')
    return {
      getItem: (key) => storage.getItem(key),
      setItem: (key, value) => storage.setItem(key, value),
      removeItem: (key) => storage.removeItem(key),
      entries: () => Object.entries(storage),
    }
  } catch (error) {
    console.info('the browser keeps nothing of this page:', error)
    const kept = new Map<string, string>()
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
      entries: () => [...kept],
    }
  }
}

/** Storage of this tab (`sessionStorage`), and of this browser (`localStorage`). */
const [tab, browser] = [open('sessionStorage'), open('localStorage')]

/** A setting stored in this browser. */
export const loadSetting = (name: string): string | undefined => browser.getItem(name) ?? undefined
export const saveSetting = (name: string, value: string): void => browser.setItem(name, value)

const tokenKey = (space: string): string => `meup-token:${space}`
const lastSpace = 'meup-space'
const sessionKey = 'meup-session'

/** The token of this tab, otherwise the one stored in the browser. */
export const loadToken = (space: string): string | undefined =>
  tab.getItem(tokenKey(space)) ?? browser.getItem(tokenKey(space)) ?? undefined

/** Stores a token for this tab; with `isKept` also in the browser, until the reader signs out. */
export function saveToken({ space, token }: HttpTarget, isKept = false): void {
  if (token !== undefined) tab.setItem(tokenKey(space), token)
  if (token !== undefined && isKept) browser.setItem(tokenKey(space), token)
  browser.setItem(lastSpace, space)
}

/** Removes a token wherever it is stored, and the session id, so that the next sign-in is a new program. */
export function removeToken({ token }: HttpTarget): void {
  for (const kept of [tab, browser]) {
    for (const [key, value] of kept.entries())
      if (key.startsWith(tokenKey('')) && value === token) kept.removeItem(key)
  }
  tab.removeItem(sessionKey)
}

/** Whether this tab, or this browser for this space, has stored a different token. */
export function hasOtherToken({ space, token }: { readonly space: string; readonly token: string }): boolean {
  const isOther = (kept: string | null): boolean => kept !== null && kept !== token
  return (
    isOther(browser.getItem(tokenKey(space))) ||
    tab.entries().some(([key, value]) => key.startsWith(tokenKey('')) && isOther(value))
  )
}
export const loadLastSpace = (): string => browser.getItem(lastSpace) ?? ''

/** Session id of this tab, which counts as one program across reloads [MEUP-2.14]. */
export function loadSession(): string {
  const session = tab.getItem(sessionKey) ?? freshId()
  tab.setItem(sessionKey, session)
  return session
}

/** View settings of the reader, stored per tab like the token. */
export interface Choices {
  /** Participants whose thoughts are hidden. */
  readonly muted: readonly string[]
  readonly cut: Cut
  /** Contexts that were folded or unfolded most recently. */
  readonly folds: readonly (readonly [context: string, level: Level])[]
  /** Id of the envelope in the topmost visible row; `undefined` if the newest row was in view. */
  readonly top: string | undefined
}

const noChoices: Choices = { muted: [], cut: nothingCut, folds: [], top: undefined }
const choicesKey = (space: string): string => `meup-choices:${space}`

export function loadChoices(space: string): Choices {
  const kept = tab.getItem(choicesKey(space))
  return kept === null ? noChoices : { ...noChoices, ...(JSON.parse(kept) as Partial<Choices>) }
}

export function saveChoices(space: string, choices: Choices): void {
  const { muted, cut, folds, top } = choices
  const isNothing = muted.length + folds.length === 0 && !isCutting(cut) && top === undefined
  if (isNothing) tab.removeItem(choicesKey(space))
  else tab.setItem(choicesKey(space), JSON.stringify(choices))
}

/** The last envelope that a reader has read. */
export interface ReadMark {
  readonly seq: number
  /** Time of the last read envelope, RFC 3339. */
  readonly ts: string
}

const readKey = (space: string, participant: string): string => `meup-read:${space}:${participant}`

export function loadReadMark(space: string, participant: string): ReadMark | undefined {
  const kept = browser.getItem(readKey(space, participant))
  return kept === null ? undefined : (JSON.parse(kept) as ReadMark)
}

export const saveReadMark = (space: string, participant: string, mark: ReadMark): void =>
  browser.setItem(readKey(space, participant), JSON.stringify(mark))

const draftKey = (space: string): string => `meup-draft:${space}`

/** The unsent message, stored per tab. Survives the end of the session. */
export const loadDraft = (space: string): string => tab.getItem(draftKey(space)) ?? ''

export function saveDraft(space: string, text: string): void {
  if (text === '') tab.removeItem(draftKey(space))
  else tab.setItem(draftKey(space), text)
}

/** Content and addressees of a message. */
export type MessageDraft = Pick<
  NonNullable<Parameters<BaseClient['chat']>[1]>,
  'to' | 'mention' | 'thinkingLevel' | 'correlationId'
> & { readonly message: string }

/** A message of the reader that is not in the log yet. */
export interface Outgoing extends MessageDraft {
  readonly id: string
  /** Reason of the refusal; absent while pending. */
  readonly failure?: string
}

const outboxKey = (space: string): string => `meup-outbox:${space}`

/** Unacknowledged messages, stored per tab. */
export const loadOutbox = (space: string): readonly Outgoing[] =>
  JSON.parse(tab.getItem(outboxKey(space)) ?? '[]') as Outgoing[]

export function saveOutbox(space: string, list: readonly Outgoing[]): void {
  if (list.length === 0) tab.removeItem(outboxKey(space))
  else tab.setItem(outboxKey(space), JSON.stringify(list))
}

/** Removes unsent messages and view settings from this tab: its next reader may be another participant. */
export function removeTabState(space: string): void {
  for (const key of [draftKey(space), outboxKey(space), choicesKey(space)]) tab.removeItem(key)
}
