import type { EnvelopeLog, LogStore } from '@meup/gateway'

/** A promise that is settled from outside. */
function deferred() {
  let [resolve, reject] = [(): void => {}, (_: Error): void => {}]
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

/** A store whose disk can be made to stall, and then to continue or fail. */
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

  /** Further appends wait before they are written; `appending` resolves when one does. */
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

  /** Further appends are written, but the gateway only gets the result when it is released. */
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
