import { closeSync, openSync } from 'node:fs'

/**
 * The terminal that this process was started in, if it was. SIGHUP means "read your files again" to a service and "the
 * window was closed" to a command; only the second takes the terminal away.
 */
export interface Terminal {
  readonly isGone: boolean
}

export function findTerminal(): Terminal {
  const isThere = process.stderr.isTTY === true
  return {
    get isGone() {
      return isThere && !canOpen('/dev/tty')
    },
  }
}

/** Ends this process at once, as a command without a terminal does: Node would fail to restore it, and abort. */
export function endHungUp(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}

function canOpen(file: string): boolean {
  try {
    closeSync(openSync(file, 'r'))
    return true
  } catch {
    return false
  }
}
