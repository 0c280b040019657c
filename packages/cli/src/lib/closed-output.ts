import { exitCodes } from '../failure/exit-codes.js'

let close: (() => void) | undefined

/**
 * Ends this process when the reader of its output has gone, such as `head`, with the code of a program that SIGPIPE ends; Node
 * ignores that signal.
 */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exitCode = error.code === 'EPIPE' ? exitCodes.brokenPipe : exitCodes.error
    if (close === undefined) process.exit()
    close()
  })
  // A gateway keeps running when its stderr is closed, and shuts down in order when its terminal is.
  process.stderr.on('error', () => {})
}

/** Registers how a running command closes in order, before this process ends with that code. */
export function onReaderGone(listener: () => void): void {
  close = listener
}
