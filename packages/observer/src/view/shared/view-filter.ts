import { useEffect, useMemo } from 'preact/hooks'
import type { Session } from '../../connect/session.js'
import { type Choices, keepChoices, keptChoices } from '../../connect/storage.js'
import { type Cut, everything, type Filter, isSort, readRoute } from '../../model/index.js'
import { amendAddress } from './hooks.js'

/** How a reader chooses what they see. */
export interface LensControl {
  /** Shows something else alone; what is not named stays as it is. */
  narrow(part: Partial<Filter>): void
  /** Shows everything again that this reader's filter hides. */
  widen(): void
  find(query: string): void
  mute(participant: string, isMuted: boolean): void
  cut(next: Cut): void
}

/** Keeps what a reader chooses in the address and in this tab, so that it outlives a reload. */
export function useLens(
  session: Session,
  act: (what: string, work: () => Promise<unknown>) => void,
  redraw: () => void,
): LensControl {
  const control = useMemo(() => controlOf(session, act, redraw), [session])
  useEffect(() => {
    const { context, query = '', from = [], sorts = [] } = readRoute(location.hash)
    const { muted, isHitsOnly, folds } = keptChoices(session.place.space)
    for (const [context, level] of folds) session.present.choose(context, level)
    for (const id of muted) session.present.mute(id, true)
    if (query !== '') control.find(query)
    control.narrow({ context, from, sorts: sorts.filter(isSort), isHitsOnly: isHitsOnly && query !== '' })
  }, [session])
  const isLive = session.desk !== undefined
  useEffect(() => {
    if (isLive) control.cut(keptChoices(session.place.space).cut)
  }, [session, isLive])
  return control
}

function controlOf(
  session: Session,
  act: (what: string, work: () => Promise<unknown>) => void,
  redraw: () => void,
): LensControl {
  const { space } = session.place
  const models = () => new Set([session.present, session.model])
  const keep = (part: Partial<Choices>): void => keepChoices(space, { ...keptChoices(space), ...part })
  const narrow = (part: Partial<Filter>): void => {
    const filter = { ...session.model.lens.filter, ...part }
    for (const model of models()) model.filter(filter)
    const { context, from, sorts, isHitsOnly } = filter
    amendAddress({
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
      amendAddress({ query: query === '' ? undefined : query })
      redraw()
    },
    mute(participant, isMuted) {
      for (const model of models()) model.mute(participant, isMuted)
      keep({ muted: [...session.model.lens.muted] })
      redraw()
    },
    cut(next) {
      act('What is sent here could not be changed', async () => {
        await session.cutting.to(next)
        keep({ cut: session.cutting.cut })
        for (const model of models()) model.redrawAll()
        redraw()
      })
    },
  }
}
