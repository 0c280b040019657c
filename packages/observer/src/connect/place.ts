/** A space at a gateway, and whoever enters it. */
export interface Place {
  /** Base address of the gateway. */
  readonly url: string
  readonly space: string
  /** Absent = a guest, where the space lets guests in. */
  readonly token?: string
}

const keyOf = (space: string): string => `meup-token:${space}`
const lastSpace = 'meup-space'

/** A token stays in this tab, and goes with it. */
export const keptToken = (space: string): string | undefined =>
  sessionStorage.getItem(keyOf(space)) ?? undefined
export function keepToken({ space, token }: Place): void {
  if (token !== undefined) sessionStorage.setItem(keyOf(space), token)
  localStorage.setItem(lastSpace, space)
}
export const forgetToken = (space: string): void => sessionStorage.removeItem(keyOf(space))
/** Whether whoever uses this tab has come in somewhere already, with another token. */
export const isElse = ({ token }: Place): boolean =>
  Object.entries(sessionStorage).some(([key, kept]) => key.startsWith(keyOf('')) && kept !== token)
export const latestSpace = (): string => localStorage.getItem(lastSpace) ?? ''
