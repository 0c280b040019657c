/** The listeners for the abort of a signal. */
interface Aborting {
  readonly listeners: Set<() => void>
  run(): void
}

/**
 * The listeners of each signal, behind its only `abort` event listener: Node warns of a leak at more than ten, and a turn may
 * make hundreds of calls.
 */
const aborting = new WeakMap<AbortSignal, Aborting>()

/** Calls a listener when the signal is aborted, but not if it already is. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined || signal.aborted) return () => {}
  const { listeners, run } = aborting.get(signal) ?? begin(signal)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    signal.removeEventListener('abort', run)
    aborting.delete(signal)
  }
}

function begin(signal: AbortSignal): Aborting {
  const listeners = new Set<() => void>()
  const run = (): void => {
    for (const each of [...listeners]) each()
  }
  const begun = { listeners, run }
  aborting.set(signal, begun)
  signal.addEventListener('abort', run)
  return begun
}
