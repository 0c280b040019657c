import { constants } from 'node:os'
import { ConnectionError } from '@meup/agent-sdk'
import { CodedError } from '../failure/failure.js'
import { formatError } from './exit.js'
import { printNotice } from './output.js'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof signals)[number]

/** Maximum milliseconds from a signal until this process exits, even if `takeBack` is not finished. */
const takeBackMs = 2000

/**
 * Runs `act`. SIGINT, SIGTERM and SIGHUP abort its signal, then wait up to two seconds for `takeBack`, which cancels what was
 * sent, and reject with `CodedError`; a second signal exits immediately. A timeout of `act` also calls `takeBack`.
 */
export async function runInterruptible<Value>(
  act: (signal: AbortSignal) => Promise<Value>,
  takeBack: (reason: string) => Promise<unknown>,
): Promise<Value> {
  const interruption = new AbortController()
  let received: Signal | undefined
  const interrupt = (signal: Signal): void => {
    if (received !== undefined) process.exit(toExitCode(signal))
    received = signal
    // Exits even if an unresponsive gateway keeps the connection open.
    setTimeout(() => process.exit(toExitCode(signal)), takeBackMs).unref()
    interruption.abort('interrupted')
  }
  for (const signal of signals) process.on(signal, interrupt)
  try {
    return await act(interruption.signal)
  } catch (error) {
    const isLate = error instanceof ConnectionError && error.code === 'timeout'
    if (received === undefined && !isLate) throw error
    await waitFor(takeBack(received === undefined ? 'timeout' : 'interrupted'))
    throw received === undefined
      ? error
      : new CodedError('interrupted', {}, 'interrupted', toExitCode(received), { cause: error })
  } finally {
    for (const signal of signals) process.off(signal, interrupt)
  }
}

const toExitCode = (signal: Signal): number => 128 + constants.signals[signal]

async function waitFor(done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, takeBackMs)
  })
  const reported = done.catch((error: unknown) =>
    printNotice(`what was asked is not taken back, and may go on: ${formatError(error)}`),
  )
  await Promise.race([reported, late])
  clearTimeout(timer)
}
