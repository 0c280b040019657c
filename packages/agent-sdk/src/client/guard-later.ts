let guards: typeof import('./guard.js') | undefined

export const getGuards = (): typeof guards => guards

/** Rejects where the file cannot be loaded; the next call tries again. */
export async function loadGuards(): Promise<typeof import('./guard.js')> {
  guards ??= await import('./guard.js')
  return guards
}
