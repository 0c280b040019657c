import type { SearchHit } from '@meup/agent-sdk/http'
import type { Draft } from '@meup/agent-sdk/watch'
import type { Envelope } from '@meup/protocol'
import { createContext } from 'preact'
import { useContext, useEffect, useMemo } from 'preact/hooks'
import type { PageSession } from '../../connect/session.js'
import { type Choices, loadChoices, saveChoices } from '../../connect/storage.js'
import {
  type Cut,
  everything,
  isSort,
  type Level,
  type LogRow,
  type ReaderFilter,
  readRoute,
} from '../../model/index.js'
import { updateAddress } from './hooks.js'
import type { Unread } from './unread.js'

/** Content of the side panel. */
export type Panel = {
  /** Whether only its header is shown on small screens, to make room for a row. */
  readonly isLow?: boolean
} & (
  | { readonly at: 'envelope' | 'why'; readonly id: string; readonly envelope?: Envelope }
  | { readonly at: 'person'; readonly id: string; readonly capability?: string }
  /** `id`: the proposal or elicitation to show first. */
  | { readonly at: 'inbox'; readonly id?: string | undefined }
  | { readonly at: 'find' }
)

/** The message box. */
export interface Composer {
  write(text: string): void
  /** Makes the next message a reply to this one. */
  reply(envelope: Envelope): void
}

/** State and actions of the current space, available to components with `useSpace`. */
export interface SpaceActions {
  readonly session: PageSession
  /** Whether the page is connected and shows the present, not a moment in the past. */
  readonly isLive: boolean
  can(draft: Draft): boolean
  /** Makes a row the current one. */
  select(row: LogRow): void
  /** Brings an envelope into view, and shows it in the side panel. */
  inspect(id: string): void
  /** Brings a search hit into view; loads it if necessary. */
  reveal(hit: Pick<SearchHit, 'id' | 'seq' | 'snippet' | 'ranges'>): void
  /** Messages that arrived while the reader was away. */
  readonly unread: Unread | undefined
  markRead(): void
  readonly panel: Panel | undefined
  showPanel(panel: Panel | undefined): void
  readonly viewFilter: ViewFilterActions
  /** Shows more of a context: first its heading, then its latest lines, then everything, then its heading again. */
  cycle(context: string): void
  /** Sets how much of a context is shown. */
  choose(context: string, level: Level): void
  /** The message box; `undefined` if there is none. */
  readonly composer: { current: Composer | undefined }
  /** Runs an action; an error is shown in the status line, prefixed with `what`. */
  act(what: string, work: () => Promise<unknown>): void
}

export const SpaceContext = createContext<SpaceActions | undefined>(undefined)
export const SpaceProvider = SpaceContext.Provider

export function useSpace(): SpaceActions {
  const space = useContext(SpaceContext)
  if (space === undefined) throw new Error('useSpace() must be called inside <SpaceProvider>.')
  return space
}

/** Changes what the reader sees. */
export interface ViewFilterActions {
  /** Changes parts of the filter; omitted parts keep their values. */
  narrow(part: Partial<ReaderFilter>): void
  /** Removes all filters. */
  widen(): void
  mute(participant: string, isMuted: boolean): void
  cut(next: Cut): void
}

/** Actions that change view settings. Settings are stored in the URL and in this tab, so that they survive a reload. */
export function useViewFilter(
  session: PageSession,
  act: (what: string, work: () => Promise<unknown>) => void,
  redraw: () => void,
): ViewFilterActions {
  const control = useMemo(() => createViewFilterActions(session, act, redraw), [session])
  useEffect(() => {
    const { context, query = '', from = [], sorts = [] } = readRoute(location.hash)
    const { muted, folds } = loadChoices(session.place.space)
    for (const [context, level] of folds) session.present.choose(context, level)
    for (const id of muted) session.present.mute(id, true)
    if (query !== '') session.finder.find({ text: query })
    control.narrow({ context, from, sorts: sorts.filter(isSort) })
  }, [session])
  const isLive = session.client !== undefined
  useEffect(() => {
    if (isLive) control.cut(loadChoices(session.place.space).cut)
  }, [session, isLive])
  return control
}

function createViewFilterActions(
  session: PageSession,
  act: (what: string, work: () => Promise<unknown>) => void,
  redraw: () => void,
): ViewFilterActions {
  const { space } = session.place
  const models = () => new Set([session.present, session.model])
  const keep = (part: Partial<Choices>): void => saveChoices(space, { ...loadChoices(space), ...part })
  const narrow = (part: Partial<ReaderFilter>): void => {
    const filter = { ...session.model.viewFilter.filter, ...part }
    for (const model of models()) model.filter(filter)
    const { context, from, sorts } = filter
    updateAddress({
      context,
      from: from.length === 0 ? undefined : from,
      sorts: sorts.length === 0 ? undefined : sorts,
    })
    redraw()
  }
  return {
    narrow,
    widen: () => narrow(everything),
    mute(participant, isMuted) {
      for (const model of models()) model.mute(participant, isMuted)
      keep({ muted: [...session.model.viewFilter.muted] })
      redraw()
    },
    cut(next) {
      act('The subscription could not be changed', async () => {
        await session.subscription.change(next)
        // After a sign-out, the stored settings must stay removed.
        if (!session.isOver) keep({ cut: session.subscription.cut })
        for (const model of models()) model.redrawAll()
        redraw()
      })
    },
  }
}
