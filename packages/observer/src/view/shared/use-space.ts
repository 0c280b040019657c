import type { Draft } from '@meup/agent-sdk/watch'
import { createContext } from 'preact'
import { useContext, useEffect, useMemo } from 'preact/hooks'
import type { Session } from '../../connect/session.js'
import { type Choices, loadChoices, saveChoices } from '../../connect/storage.js'
import { type Cut, everything, type Filter, isSort, readRoute } from '../../model/index.js'
import { updateAddress } from './hooks.js'

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

/** Changes what the reader sees. */
export interface ViewFilterActions {
  /** Shows something else alone; what is not named stays as it is. */
  narrow(part: Partial<Filter>): void
  /** Shows everything again that this reader's filter hides. */
  widen(): void
  find(query: string): void
  mute(participant: string, isMuted: boolean): void
  cut(next: Cut): void
}

/** Stores the reader's choices in the address and in this tab, so that they survive a reload. */
export function useViewFilter(
  session: Session,
  act: (what: string, work: () => Promise<unknown>) => void,
  redraw: () => void,
): ViewFilterActions {
  const control = useMemo(() => createViewFilterActions(session, act, redraw), [session])
  useEffect(() => {
    const { context, query = '', from = [], sorts = [] } = readRoute(location.hash)
    const { muted, isHitsOnly, folds } = loadChoices(session.place.space)
    for (const [context, level] of folds) session.present.choose(context, level)
    for (const id of muted) session.present.mute(id, true)
    if (query !== '') control.find(query)
    control.narrow({ context, from, sorts: sorts.filter(isSort), isHitsOnly: isHitsOnly && query !== '' })
  }, [session])
  const isLive = session.client !== undefined
  useEffect(() => {
    if (isLive) control.cut(loadChoices(session.place.space).cut)
  }, [session, isLive])
  return control
}

function createViewFilterActions(
  session: Session,
  act: (what: string, work: () => Promise<unknown>) => void,
  redraw: () => void,
): ViewFilterActions {
  const { space } = session.place
  const models = () => new Set([session.present, session.model])
  const keep = (part: Partial<Choices>): void => saveChoices(space, { ...loadChoices(space), ...part })
  const narrow = (part: Partial<Filter>): void => {
    const filter = { ...session.model.viewFilter.filter, ...part }
    for (const model of models()) model.filter(filter)
    const { context, from, sorts, isHitsOnly } = filter
    updateAddress({
      context,
      from: from.length === 0 ? undefined : from,
      sorts: sorts.length === 0 ? undefined : sorts,
    })
    keep({ isHitsOnly })
    redraw()
  }
  return {
    narrow,
    widen: () => narrow(everything),
    find(query) {
      for (const model of models()) model.find(query)
      if (query === '') narrow({ isHitsOnly: false })
      updateAddress({ query: query === '' ? undefined : query })
      redraw()
    },
    mute(participant, isMuted) {
      for (const model of models()) model.mute(participant, isMuted)
      keep({ muted: [...session.model.viewFilter.muted] })
      redraw()
    },
    cut(next) {
      act('What is sent here could not be changed', async () => {
        await session.subscription.change(next)
        keep({ cut: session.subscription.cut })
        for (const model of models()) model.redrawAll()
        redraw()
      })
    },
  }
}
