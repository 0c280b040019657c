import { defaultLimits } from './limits.js'

const segment = /^[A-Za-z0-9_-]{1,64}$/

/** Splits a context into its segments; `undefined` = invalid path [MEUP-2.1]. */
export function parseContext(
  path: string,
  limits: { contextDepth: number; contextLength: number } = defaultLimits,
): string[] | undefined {
  if (path.length > limits.contextLength) return undefined
  const segments = path.split('/')
  if (segments.length > limits.contextDepth) return undefined
  return segments.every((part) => segment.test(part)) ? segments : undefined
}

/** Returns the root of a context: `a` of `a/b/c`. If a run opened the root, this is the id of the start of the run. */
export function contextRoot(path: string): string {
  const slash = path.indexOf('/')
  return slash === -1 ? path : path.slice(0, slash)
}

/** Returns the parent of a context: `a/b` of `a/b/c`; `undefined` for a root. */
export function contextParent(path: string): string | undefined {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? undefined : path.slice(0, slash)
}

/** Counts the segments of a context: 1 for a root. */
export function contextDepth(path: string): number {
  return path.split('/').length
}

/** Whether `path` is nested in `ancestor`; a path is not nested in itself. */
export function isContextAncestor(ancestor: string, path: string): boolean {
  return path.length > ancestor.length && path.startsWith(ancestor) && path[ancestor.length] === '/'
}

/** Joins segments and paths, omitting absent ones. */
export function joinContext(...parts: (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('/')
}

/** Returns the context that a `reasoning.start` opens if its own context is open or absent [MEUP-2.2]. */
export function openedContext(start: { readonly id: string; readonly context?: string }): string {
  return joinContext(start.context, start.id)
}
