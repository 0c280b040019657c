import { onTestFinished, vi } from 'vitest'

/** Returns what is written to the console, or warned of, until the test is over. */
export function watchComplaints(): () => readonly unknown[] {
  const levels = ['debug', 'info', 'log', 'warn', 'error'] as const
  const spies = [
    ...levels.map((level) => vi.spyOn(console, level).mockImplementation(() => {})),
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {}),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return () => spies.flatMap(({ mock }) => mock.calls as unknown[])
}
