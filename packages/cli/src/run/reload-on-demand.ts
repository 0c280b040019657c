import type { Config } from '../config/config.js'
import { print, tell } from '../output.js'
import { oneAtATime } from './one-at-a-time.js'
import { type ReloadReport, reload } from './reload.js'
import type { RunningGateway } from './start-gateway.js'
import type { Terminal } from './terminal.js'
import { watchFiles } from './watch-files.js'

/**
 * Reloads on SIGHUP, even one that comes before everything has started, and says what came of it: in lines on stderr, or
 * with `json` as an event on stdout.
 */
export function reloadOnDemand(
  starting: Promise<RunningGateway>,
  read: () => Config,
  { json, terminal }: { json: boolean; terminal: Terminal },
): {
  /** From now on also when a file changes. */
  watch(config: Config): Promise<void>
  stop(): Promise<void>
} {
  const started = starting.catch(() => undefined) // Whoever started it has been told.
  let isAwaited = false // A signal is answered even where nothing has changed; and so is the end of mistakes.
  const reloads = oneAtATime(async () => {
    const isAnswer = isAwaited
    isAwaited = false
    const running = await started
    if (running === undefined) return
    const report = await reload(running, read)
    if (isAnswer || Object.values(report).some((lines) => lines.length > 0)) tellAbout(report, json)
    isAwaited ||= report.problems.length > 0
  })
  process.on('SIGHUP', () => {
    if (terminal.isGone) {
      // Not before somebody waits for that signal, so that everything is closed in order.
      void started.then(() => process.kill(process.pid, 'SIGTERM'))
      return
    }
    isAwaited = true
    reloads.ask()
  })
  let watching: { close(): Promise<void> } | undefined
  return {
    async watch(config) {
      watching = await watchFiles(config, {
        changed: reloads.ask,
        failed: (error) => tell(`✗ the files cannot be watched: ${String(error)}; SIGHUP still reloads`),
      })
    },
    async stop() {
      await watching?.close()
      await reloads.stop()
    },
  }
}

function tellAbout(report: ReloadReport, json: boolean): void {
  const { changes, later, problems } = report
  if (json) {
    print(JSON.stringify({ event: 'reloaded', ok: problems.length === 0, ...report }))
    return
  }
  for (const problem of problems) tell(`✗ ${problem}`)
  if (problems.length > 0) tell('what has mistakes was left as it was')
  if (later.length > 0) tell(`takes effect at the next start: ${later.join(', ')}`)
  tell(changes.length > 0 ? `reloaded: ${changes.join(', ')}` : 'reloaded: nothing has changed')
}
