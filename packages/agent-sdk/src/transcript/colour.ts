interface Host {
  readonly process?: { readonly env?: { readonly NO_COLOR?: string }; readonly stdout?: { isTTY?: boolean } }
}

/** Whether this is a terminal, and nobody asked for no colour (https://no-color.org). A page is no terminal. */
export function wantsColour(): boolean {
  const { process } = globalThis as Host
  return process?.stdout?.isTTY === true && (process.env?.NO_COLOR ?? '') === ''
}
