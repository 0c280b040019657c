let guards: typeof import('./guard.js') | undefined

export const getGuards = (): typeof guards => guards

/** Loads the masking module. Rejects if that fails; the next call retries. */
export async function loadGuards(): Promise<typeof import('./guard.js')> {
  guards ??= await import('./guard.js')
  return guards
}
