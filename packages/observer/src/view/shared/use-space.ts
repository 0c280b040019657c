import type { Draft } from '@meup/agent-sdk/watch'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Session } from '../../connect/session.js'
import type { LensControl } from './view-filter.js'

/** What a reader can do wherever something of a space is shown. */
export interface Desk {
  readonly session: Session
  /** Whether the space can be reached. */
  readonly isLive: boolean
  can(draft: Draft): boolean
  /** Makes the row of this key the one that the keys are for. */
  select(key: string): void
  /** Looks at an envelope. */
  look(id: string): void
  /** Looks at a participant; `undefined` = no longer. */
  meet(participant: string | undefined): void
  /** Chooses what is seen. */
  readonly lens: LensControl
  /** Opens the next level of a context. */
  cycle(context: string): void
  open(context: string): void
  /** Does something in the space; what goes wrong is told. */
  act(what: string, work: () => Promise<unknown>): void
}

const DeskContext = createContext<Desk | undefined>(undefined)
export const DeskProvider = DeskContext.Provider

export function useDesk(): Desk {
  const desk = useContext(DeskContext)
  if (desk === undefined) throw new Error('there is no desk around this')
  return desk
}
