const pattern = /^#\/open\/([\w-]{1,128})$/

/** Removes the code from the address and the browser history, and returns it. */
export function consumeCode(): string | undefined {
  if (!location.hash.startsWith('#/open/')) return undefined
  const [, code] = pattern.exec(location.hash) ?? []
  history.replaceState(null, '', location.pathname)
  return code
}

/** Before anything else of the page runs. */
export const firstCode = consumeCode()
