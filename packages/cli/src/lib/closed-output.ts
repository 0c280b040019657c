import { exitCodes } from '../failure/exit-codes.js'

let close: (() => void) | undefined

/** Exits when the reader of stdout closes the pipe, as `head` does, with the exit code of SIGPIPE. Node ignores that signal. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exitCode = error.code === 'EPIPE' ? exitCodes.brokenPipe : exitCodes.error
    if (close === undefined) process.exit()
    close()
  })
  // Ignored: a closed stderr must not end a gateway; a closed terminal sends SIGHUP as well.
  process.stderr.on('error', () => {})
}

/** Registers a function that shuts down the running command, instead of exiting immediately. */
export function onReaderGone(listener: () => void): void {
  close = listener
}
