import { onTestFinished, vi } from 'vitest'

/** Records console output and process warnings until the test ends. Returns a function that lists them. */
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
