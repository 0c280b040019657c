import type { Draft } from '@meup/agent-sdk/watch'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Session } from '../../connect/session.js'
import type { ViewFilterActions } from './view-filter.js'

/** What components can read and do in the current space. See `useSpace`. */
export interface SpaceActions {
  readonly session: Session
  /** Whether the space can be reached. */
  readonly isLive: boolean
  can(draft: Draft): boolean
  /** Makes the row of this key the one that the keys are for. */
  select(key: string): void
  /** Opens an envelope in the inspector. */
  inspect(id: string): void
  /** Opens the panel of a participant; `undefined` closes it. */
  showParticipant(participant: string | undefined): void
  /** Chooses what is seen. */
  readonly viewFilter: ViewFilterActions
  /** Opens the next level of a context. */
  cycle(context: string): void
  open(context: string): void
  /** Runs an action; an error is shown in the status line, after `what`. */
  act(what: string, work: () => Promise<unknown>): void
}

const SpaceContext = createContext<SpaceActions | undefined>(undefined)
export const SpaceProvider = SpaceContext.Provider

export function useSpace(): SpaceActions {
  const space = useContext(SpaceContext)
  if (space === undefined) throw new Error('useSpace() must be called inside <SpaceProvider>.')
  return space
}
