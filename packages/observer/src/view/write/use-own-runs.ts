import { Kind } from '@meup/protocol'
import { useState } from 'preact/hooks'
import { useSpace } from '../shared/use-space.js'

/** Open runs that answer this reader, and a function to stop them. */
export function useOwnRuns() {
  const { session, can, act } = useSpace()
  const { model, welcome } = session
  const [stopped, setStopped] = useState<ReadonlySet<string>>(new Set())
  const isOwn = (context: string): boolean => {
    const start = model.log.get(context)
    const origin = start && model.getOrigin(start)
    return origin !== undefined && origin !== context && model.log.get(origin)?.from === welcome?.you.id
  }
  const runs = session.time.isPast
    ? []
    : model
        .runs()
        .flatMap(({ context }) =>
          isOwn(context) && can({ kind: Kind.reasoningCancel, context }) ? [context] : [],
        )
  return {
    runs,
    isStopping: runs.length > 0 && runs.every((context) => stopped.has(context)),
    stop(): void {
      setStopped(new Set(runs))
      act('Not all runs could be stopped', () =>
        session.interrupt(runs).catch((error: unknown) => {
          setStopped(new Set())
          throw error
        }),
      )
    },
  }
}
