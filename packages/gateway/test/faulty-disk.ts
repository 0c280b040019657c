import type { EnvelopeLog, LogStore } from '@meup/gateway'

/** A promise with functions that settle it. */
function deferred() {
  let [resolve, reject] = [(): void => {}, (_: Error): void => {}]
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

/** A store whose disk can be stalled, and then continue or fail. */
export function faultyDisk(inner: LogStore) {
  let [before, after]: (Promise<void> | undefined)[] = []
  let reached = (): void => {}
  const fault = { unreadable: false }
  const store: LogStore = {
    async open(space) {
      const log = await inner.open(space)
      const faults: Pick<EnvelopeLog, 'append' | 'read'> = {
        async append(batch) {
          if (after === undefined) reached()
          await before
          await log.append(batch)
          if (after !== undefined) reached()
          await after
        },
        async read(query) {
          if (fault.unreadable) throw new Error('the disk is gone')
          return log.read(query)
        },
      }
      return Object.assign(Object.create(log) as EnvelopeLog, faults)
    },
    close: () => inner.close(),
  }

  /** Stalls further appends before they are written; `appending` resolves when one arrives. */
  function stall() {
    const [arrival, end] = [deferred(), deferred()]
    reached = arrival.resolve
    before = end.promise
    const ending = (how: () => void) => () => {
      before = undefined
      how()
    }
    const fail = ending(() => end.reject(new Error('the disk is full')))
    return { appending: arrival.promise, goOn: ending(end.resolve), fail }
  }

  /** Writes further appends, but acknowledges them only after `goOn`; `written` resolves when one is written. */
  function stallAcknowledgement() {
    const [arrival, end] = [deferred(), deferred()]
    reached = arrival.resolve
    after = end.promise
    const goOn = (): void => {
      after = undefined
      end.resolve()
    }
    return { written: arrival.promise, goOn }
  }

  return { store, fault, stall, stallAcknowledgement }
}
