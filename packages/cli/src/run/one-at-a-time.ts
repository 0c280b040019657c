/**
 * Runs a task never twice at once: whoever asks while it runs is answered by one more run. The task handles its own
 * errors.
 */
export function oneAtATime(task: () => Promise<void>): {
  ask(): void
  /** No run begins any more; resolves when the present one is over. */
  stop(): Promise<void>
} {
  let running: Promise<void> | undefined
  let asked = false
  let stopped = false

  async function run(): Promise<void> {
    while (asked && !stopped) {
      asked = false
      await task()
    }
    running = undefined
  }

  return {
    ask() {
      asked = true
      running ??= run()
    },
    async stop() {
      stopped = true
      await running
    },
  }
}
